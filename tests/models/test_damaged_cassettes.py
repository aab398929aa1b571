"""A recording that was edited, cut or made by another version is told in a sentence; what was said in it is kept whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.errors import UsageError
from bot.models import Message, Reply, ToolSchema
from bot.models.cassette import FILE, Recorder, Recording
from bot.models.redaction import Redactor
from bot.models.replay import Cassette, Replaying

ASKED = ({"role": "user", "content": "one\u2028two\x85three"},)
SAID = "a\u2028b\u2029c\x85d\x0ce\0f\ud83d"


class Speaker:
    name = "a/model"

    def complete(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...] = ()) -> Reply:
        return Reply(SAID)


@pytest.fixture(name="tape")
def _tape(tmp_path: Path) -> Path:
    Recording(Speaker(), 0, Recorder(tmp_path, Redactor()), Redactor()).complete(ASKED)
    return tmp_path


def test_signs_that_end_lines_elsewhere_come_back(tape: Path) -> None:
    reply = Replaying("a/model", 0, Cassette(tape), Redactor()).complete(ASKED)
    assert reply.text.startswith(SAID[:-1])


def changed(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda line: {**line, key: value}


DAMAGES = {
    "another version": (0, changed("cassette", 99), "another version"),
    "no version": (0, lambda _: {}, "changed or cut"),
    "a number for a line": (1, lambda _: 7, "changed or cut"),
    "a message that is gone": (1, lambda _: {"part": "0", "content": None}, "changed or cut"),
    "a reply without usage": (-1, changed("reply", {"text": "x"}), "changed or cut"),
    "a reply that is a text": (-1, changed("reply", "x"), "changed or cut"),
    "an error without a class": (-1, changed("error", {}), "changed or cut"),
    "messages that are a number": (-1, changed("messages", 3), "changed or cut"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_changed_recording_is_told(tape: Path, damage: str) -> None:
    place, change, words = DAMAGES[damage]
    file = tape / FILE
    lines = file.read_text("utf-8").removesuffix("\n").split("\n")
    lines[place] = json.dumps(change(json.loads(lines[place])))
    file.write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(UsageError, match=words):
        Cassette(tape)


@pytest.mark.parametrize("left", [0, 10, 60])
def test_a_recording_that_was_cut_is_told(tape: Path, left: int) -> None:
    file = tape / FILE
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(UsageError, match=r"no recording that can be read|changed or cut"):
        Cassette(tape)
