"""Conversations written by hand, slips and all, replayed over real HTTP through LiteLLM and the whole pipeline."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from completions import COMPLETION_TOKENS, PROMPT_TOKENS, Completions

from bot.domain import Request, RunReport
from bot.pipeline import review
from bot.sandbox import Interpreter

pytestmark = pytest.mark.slow

CASSETTES = sorted(Path(__file__).with_name("cassettes").glob("*.json"))
SAMPLE = Path(__file__).parents[2] / "examples" / "make_history.sh"
FEW_MUTANTS = "mutation:\n  max_mutants: 15\n"


@dataclass(frozen=True)
class Replay:
    """A cassette, what the server was sent while it was replayed, and how the run ended."""

    turns: list[dict[str, Any]]
    requests: list[dict[str, Any]]
    report: RunReport

    def answers(self) -> list[list[str]]:
        """Return for each turn what its calls were answered with, without durations."""
        told = {
            message["tool_call_id"]: re.sub(r" in \d+\.\d+ s$", "", message["content"].partition("\n")[0])
            for message in self.requests[-1]["messages"]
            if message["role"] == "tool"
        }
        return [
            [
                told[key]
                for place in range(1, len(turn["calls"]) + 1)
                if (key := f"call_{number}_{place}") in told
            ]
            for number, turn in enumerate(self.turns, 1)
        ]


@pytest.fixture(scope="module", params=CASSETTES, ids=lambda path: path.stem)
def replay(
    request: pytest.FixtureRequest, interpreter: Interpreter, tmp_path_factory: pytest.TempPathFactory
) -> Replay:
    cassette = json.loads(request.param.read_text("utf-8"))
    root = tmp_path_factory.mktemp("replay") / "project"
    asked = _project(root, cassette)
    server = Completions(cassette["turns"])
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        patch.setenv("OPENAI_API_KEY", "sk-for-a-test")
        patch.setenv("OPENAI_API_BASE", server.base)
        patch.setenv("OPENAI_BASE_URL", server.base)
        patch.setenv("VIRTUAL_ENV", str(Path(interpreter.command).parents[1]))
        report = review(asked, lambda _: None)
    server.close()
    return Replay(cassette["turns"], server.requests, report)


def _project(root: Path, cassette: dict[str, Any]) -> Request:
    """Make the project that a cassette is about, and return what was asked for."""
    if "files" not in cassette:
        subprocess.run(["sh", str(SAMPLE), str(root)], check=True)
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        _write(root, ".github/testforge.yml", FEW_MUTANTS)
        for command in (
            ["checkout", "-q", "main"],
            ["add", "."],
            [*who, "commit", "-qm", "Settings"],
            ["checkout", "-q", "bulky-parcels"],
        ):
            subprocess.run(["git", *command], cwd=root, check=True)
        return Request(root, base="main", model="openai/by-hand", sandbox="process")
    for path, text in cassette["files"].items():
        _write(root, path, text)
    return Request(root, whole_file=cassette["whole_file"], model="openai/by-hand", sandbox="process")


def _write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, "utf-8")


def test_the_run_ends_with_tests_proposed(replay: Replay) -> None:
    (target,) = replay.report.targets
    assert (replay.report.status, target.status) == ("proposed", "proposed")
    assert target.suite is not None


def test_no_slip_ends_the_run_before_the_model_does(replay: Replay) -> None:
    assert len(replay.requests) == len(replay.turns)
    assert [call["name"] for call in replay.turns[-1]["calls"]] == ["finish"]
    assert replay.report.targets[0].iterations == len(replay.turns) - 1


def test_every_call_is_answered_and_every_slip_by_its_exact_error(replay: Replay) -> None:
    expected = [turn["answers"] for turn in replay.turns]
    compared = [
        [None if wanted is None else answer for wanted, answer in zip(row, answers, strict=True)]
        for row, answers in zip(expected, replay.answers(), strict=True)
    ]
    assert compared == expected


def test_the_tokens_of_every_reply_are_counted(replay: Replay) -> None:
    usage = replay.report.usage
    count = len(replay.turns)
    assert (usage.prompt, usage.completion) == (count * PROMPT_TOKENS, count * COMPLETION_TOKENS)


def test_tools_are_offered_in_every_request_but_the_first(replay: Replay) -> None:
    assert ["tools" in request for request in replay.requests] == [False] + [True] * (len(replay.turns) - 1)
