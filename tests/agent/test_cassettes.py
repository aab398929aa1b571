"""Conversations written by hand, slips and all, over real HTTP in three forms, through LiteLLM and the whole pipeline.

A cassette is in no provider's form: the server puts each turn into the form of whoever is asked. The shortest one, which
holds every kind of slip, is run from end to end in each form. The others are run in one, and what the agent said then is
said again in the other two, for which the sandbox need not do its work again.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from model_server import COMPLETION_TOKENS, MODELS, PROMPT_TOKENS, Turn, rendered, serving, signature
from provider_forms import check_reply, check_request

from bot.domain import Request, RunReport
from bot.models import Reply, ToolCall
from bot.models.client import load
from bot.models.replay import Cassette
from bot.pipeline import review
from bot.sandbox import Interpreter

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

CASSETTES = Path(__file__).with_name("cassettes")
RUN_AGAIN = ("a_basket", "gemini")
"""The one that is run once more, from its tape; signatures and all."""
PLAYED = [
    ("a_basket", "anthropic"),
    RUN_AGAIN,
    ("a_basket", "openai"),
    ("a_whole_module", "openai"),
    ("review_of_the_sample", "anthropic"),
]
SAMPLE = Path(__file__).parents[2] / "examples" / "make_history.sh"
FEW_MUTANTS = "mutation:\n  max_mutants: 15\n"


@dataclass(frozen=True)
class Replay:
    """A cassette, what the server was sent while it was replayed, how the run ended, and how it ended again from its tape."""

    cassette_name: str
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

    def outputs(self, tool: str) -> list[str]:
        """Return what a tool printed, each time."""
        said = [message for line in self.trace() for message in line["messages"]]
        return [message["content"] for message in said if message.get("name") == tool]

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
        if request.param == RUN_AGAIN:
            again = review(replace(asked, record=None, replay=place / "tape"), lambda _: None)
            assert len(server.requests) == len(requests)
    return Replay(name, cassette, form, requests, report, again, place / "tape")


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


def test_every_request_is_one_that_the_provider_takes(replay: Replay) -> None:
    assert replay.requests
    for request in replay.requests:
        check_request(replay.form, request)


def test_a_signature_of_the_provider_comes_back_with_its_call(replay: Replay) -> None:
    signed = [number for number, turn in enumerate(replay.turns, 2) if turn["calls"]][:-1]
    sent = json.dumps(replay.requests[-1])
    assert [signature(number) in sent for number in signed] == [replay.form == "gemini"] * len(signed)


def test_what_the_tools_told_is_what_was_repaired(replay: Replay) -> None:
    (seed, *_), runs = _users(replay), replay.outputs("run_tests")
    printed = "\n".join([seed, *runs])
    assert [told for told in replay.cassette.get("repaired", ()) if told not in printed] == []
    assert ", 0 errors," in runs[-1]


def test_a_mutant_that_survived_is_killed(replay: Replay) -> None:
    reports = replay.outputs("surviving_mutants")
    alive = [len(re.findall("^M", report, re.M)) for report in reports]
    assert alive[-1] <= alive[0]
    if (
        "killed" in replay.cassette
    ):  # of the others' mutants only a sample is run, and it may hold no survivor
        assert [replay.cassette["killed"] in report for report in reports] == [True, False]


def test_what_was_said_is_said_and_understood_in_every_form(replay: Replay) -> None:
    recorded = [call for call in Cassette(replay.tape).calls if "reply" in call]
    assert len(recorded) == 1 + len(replay.turns)
    tape = Cassette(replay.tape)
    for form in sorted(MODELS):
        if (replay.cassette_name, form) in PLAYED:
            continue
        with serving() as server:
            model = load(MODELS[form], seed=0, budget_usd=None)
            server.say(Turn("ready"), *map(_turn, replay.turns))
            for call in recorded:
                reply = model.complete(tape.messages(call), tape.parts[call["tools"]])
                assert _meaning(reply) == _meaning(_recorded(call)), form
            for request in server.requests:
                check_request(form, request)


def test_the_server_speaks_as_the_providers_do(replay: Replay) -> None:
    for number, turn in enumerate(map(_turn, replay.turns), 2):
        for form in sorted(MODELS):
            # Only OpenAI passes on the arguments as the model wrote them, JSON or not.
            if form == "openai" or all(_is_json(given) for _, given in turn.calls):
                check_reply(form, rendered(form, number, turn))


def test_what_was_sent_stays_in_front_of_what_is_added(replay: Replay) -> None:
    name = "contents" if replay.form == "gemini" else "messages"
    loop = [_unmarked(request[name]) for request in replay.requests[2:]]
    for before, after in pairwise(loop):
        assert after[: len(before)] == before


@pytest.mark.parametrize("replay", [RUN_AGAIN], indirect=True, ids="-".join)
def test_the_recorded_run_is_the_same_again_without_a_server(replay: Replay) -> None:
    assert replay.again is not None
    (first,), (second,) = replay.report.targets, replay.again.targets
    assert second.suite == first.suite
    assert [(row.id, row.reason) for row in second.ledger] == [(row.id, row.reason) for row in first.ledger]
    assert replay.again.usage == replay.report.usage


def _users(replay: Replay) -> list[str]:
    """Return what the loop said to the model as a user, the task first."""
    said = [message for line in replay.trace()[2:] for message in line["messages"]]
    return [message["content"] for message in said if message["role"] == "user"]


def _meaning(reply: Reply) -> tuple[Any, ...]:
    """Return what a reply asks for, whatever form it came in."""
    calls = [(call.name, _read(call.arguments)) for call in reply.tool_calls]
    return reply.text, reply.kind, calls


def _recorded(call: dict[str, Any]) -> Reply:
    reply = call["reply"]
    calls = tuple(ToolCall(*each) for each in reply["tool_calls"])
    return Reply(reply["text"], calls, reply["finish_reason"])


def _read(arguments: str) -> Any:
    """Return a call's arguments; None for what is no JSON object."""
    read = json.loads(arguments, strict=False) if _is_json(arguments) else None
    return read if isinstance(read, dict) else None


def _is_json(given: Any) -> bool:
    try:
        json.loads(given, strict=False) if isinstance(given, str) else None
    except ValueError:
        return False
    return True


def _unmarked(messages: Any) -> Any:
    """Return messages without the marks for a cache, which move on with the conversation."""
    text = re.sub(r', "cache_control": \{"type": "ephemeral"\}', "", json.dumps(messages))
    return json.loads(text)
