"""Conversations written by hand, slips and all, over real HTTP in three forms, through LiteLLM and the whole pipeline."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from model_server import COMPLETION_TOKENS, MODELS, PROMPT_TOKENS, Turn, serving

from bot.domain import Request, RunReport
from bot.pipeline import review
from bot.sandbox import Interpreter

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

CASSETTES = Path(__file__).with_name("cassettes")
PLAYED = [
    ("review_of_the_sample", "anthropic"),
    ("a_whole_module", "openai"),
    ("a_basket", "gemini"),
]
RECORDED = "a_basket"
"""The one that is short enough to be run twice."""
SAMPLE = Path(__file__).parents[2] / "examples" / "make_history.sh"
FEW_MUTANTS = "mutation:\n  max_mutants: 15\n"


@dataclass(frozen=True)
class Replay:
    """A cassette, what the server was sent while it was replayed, how the run ended, and how it ended again from its tape."""

    cassette: dict[str, Any]
    form: str
    requests: list[dict[str, Any]]
    report: RunReport
    again: RunReport | None
    tape: Path

    @property
    def turns(self) -> list[dict[str, Any]]:
        return list(self.cassette["turns"])

    def trace(self) -> list[dict[str, Any]]:
        lines = (self.tape / "trace.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def answers(self) -> list[list[str]]:
        """Return for each turn of the loop what its calls were answered with, without durations; the last is `finish`."""
        conversation: list[dict[str, Any]] = []
        for line in self.trace()[2:]:
            conversation = [*conversation[: line["known_messages"]], *line["messages"]]
        answers: list[list[str]] = []
        for message in conversation:
            if message["role"] == "assistant":
                answers.append([])
            elif message["role"] == "tool":
                first = message["content"].partition("\n")[0]
                answers[-1].append(re.sub(r" in \d+\.\d+ s$", "", first))
        return [[], *answers, []]


@pytest.fixture(scope="module", params=PLAYED, ids="-".join)
def replay(
    request: pytest.FixtureRequest, interpreter: Interpreter, tmp_path_factory: pytest.TempPathFactory
) -> Replay:
    name, form = request.param
    cassette = json.loads((CASSETTES / f"{name}.json").read_text("utf-8"))
    place = tmp_path_factory.mktemp("replay")
    asked = replace(_project(place / "project", cassette), model=MODELS[form], record=place / "tape")
    with serving() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRTUAL_ENV", str(Path(interpreter.command).parents[1]))
        server.say(Turn("ready"), *map(_turn, cassette["turns"]))
        report = review(asked, lambda _: None)
        requests = list(server.requests)
        again = None
        if name == RECORDED:
            again = review(replace(asked, record=None, replay=place / "tape"), lambda _: None)
            assert len(server.requests) == len(requests)
    return Replay(cassette, form, requests, report, again, place / "tape")


def _turn(turn: dict[str, Any]) -> Turn:
    calls = [(call["name"], call["arguments"]) for call in turn["calls"]]
    return Turn(turn["text"], calls, turn.get("ended", ""))


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
        return Request(root, base="main", sandbox="process")
    for path, text in cassette["files"].items():
        _write(root, path, text)
    return Request(root, whole_file=cassette["whole_file"], sandbox="process")


def _write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, "utf-8")


def test_the_run_ends_with_tests_proposed(replay: Replay) -> None:
    (target,) = replay.report.targets
    assert (replay.report.status, target.status) == ("proposed", "proposed")
    assert target.suite is not None
    kept = [row.id.partition("::")[2] for row in target.kept]
    assert kept == replay.cassette.get("kept", kept)


def test_no_slip_ends_the_run_before_the_model_does(replay: Replay) -> None:
    assert len(replay.requests) == 1 + len(replay.turns)
    assert [call["name"] for call in replay.turns[-1]["calls"]] == ["finish"]
    assert replay.report.targets[0].iterations == len(replay.turns) - 1


def test_every_call_is_answered_and_every_slip_by_its_exact_error(replay: Replay) -> None:
    expected = [turn["answers"] for turn in replay.turns]
    compared = [
        [None if wanted is None else answer for wanted, answer in zip(row, answers, strict=True)]
        for row, answers in zip(expected, replay.answers(), strict=True)
    ]
    assert compared == expected


def test_every_reply_is_counted_the_greeting_and_the_seed_included(replay: Replay) -> None:
    usage = replay.report.usage
    count = 1 + len(replay.turns)
    assert (usage.prompt, usage.completion) == (count * PROMPT_TOKENS, count * COMPLETION_TOKENS)
    usd = {"openai": 0.003, "anthropic": 0.00342, "gemini": 0.0018}[replay.form]
    assert usage.cost_usd == pytest.approx(count * usd)
    assert sum(line["cost_usd"] for line in replay.trace()) == pytest.approx(usage.cost_usd)


def test_tools_are_offered_in_the_loop_only(replay: Replay) -> None:
    offered = ["tools" in request for request in replay.requests]
    assert offered == [False, False] + [True] * (len(replay.turns) - 1)


def test_what_was_sent_stays_in_front_of_what_is_added(replay: Replay) -> None:
    name = "contents" if replay.form == "gemini" else "messages"
    loop = [_unmarked(request[name]) for request in replay.requests[2:]]
    for before, after in pairwise(loop):
        assert after[: len(before)] == before


def test_the_recorded_run_is_the_same_again_without_a_server(replay: Replay) -> None:
    if replay.again is None:
        return
    (first,), (second,) = replay.report.targets, replay.again.targets
    assert second.suite == first.suite
    assert [(row.id, row.reason) for row in second.ledger] == [(row.id, row.reason) for row in first.ledger]
    assert replay.again.usage == replay.report.usage


def _unmarked(messages: Any) -> Any:
    """Return messages without the marks for a cache, which move on with the conversation."""
    text = re.sub(r', "cache_control": \{"type": "ephemeral"\}', "", json.dumps(messages))
    return json.loads(text)
