"""The trace: what each call said, used and cost, without secrets and without saying anything twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.domain import Usage
from bot.errors import InconclusiveError, UsageError
from bot.models import Message, Reply, ToolCall, ToolSchema
from bot.models.client import Tapes, load
from bot.models.failures import CallError
from bot.models.redaction import Redactor
from bot.models.trace import Trace, Traced

SYSTEM = {"role": "system", "content": "You write tests with hunter2-hunter2."}
TASK = {"role": "user", "content": "Go."}
MORE = {"role": "user", "content": "More."}
TOOL = {"type": "function", "function": {"name": "run_tests", "parameters": {}}}


class Fixed:
    name = "openai/fixed"

    def __init__(self, *answers: Reply | BaseException) -> None:
        self.answers = list(answers)

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def traced(path: Path, *answers: Reply | BaseException) -> Traced:
    return Traced(Fixed(*answers), Trace(path, Redactor(["hunter2-hunter2"])), 7)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_says_all_of_a_call(tmp_path: Path) -> None:
    reply = Reply(
        "so",
        (ToolCall("1", "run_tests", "{}"),),
        "tool_calls",
        Usage(10, 5, 2, 0.25),
        cost_source="provider",
        attempts=2,
    )
    model = traced(tmp_path / "sub" / "t.jsonl", reply)
    assert model.complete((SYSTEM, TASK), (TOOL,)) == reply
    (line,) = lines(tmp_path / "sub" / "t.jsonl")
    assert line.pop("latency_s") >= 0
    assert line.pop("at").endswith("+00:00")
    assert len(line.pop("conversation")) == 12
    assert line == {
        "call": 1,
        "known_messages": 0,
        "messages": [{"role": "system", "content": "You write tests with ***."}, TASK],
        "model": "openai/fixed",
        "parameters": {"seed": 7, "tools": ["run_tests"]},
        "reply": {
            "role": "assistant",
            "content": "so",
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "run_tests", "arguments": "{}"}}
            ],
        },
        "finish_reason": "tool_calls",
        "kind": "ok",
        "leaked": False,
        "attempts": 2,
        "usage": {"prompt": 10, "completion": 5, "cached": 2},
        "cost_usd": 0.25,
        "cost_source": "provider",
    }


def test_what_a_conversation_said_before_is_counted_and_not_said_again(tmp_path: Path) -> None:
    model = traced(tmp_path / "t", *[Reply("a")] * 4)
    for messages in ((SYSTEM, TASK), (SYSTEM, MORE), (SYSTEM, TASK, MORE), (SYSTEM, TASK, TASK)):
        model.complete(messages)
    assert [(line["known_messages"], len(line["messages"])) for line in lines(tmp_path / "t")] == [
        (0, 2),
        (0, 2),
        (2, 1),
        (2, 1),
    ]


def test_a_call_that_fails_is_a_line_with_its_cause(tmp_path: Path) -> None:
    model = traced(tmp_path / "t", CallError("No: hunter2-hunter2.", "RateLimitError"), KeyboardInterrupt())
    with pytest.raises(CallError):
        model.complete((TASK,))
    with pytest.raises(KeyboardInterrupt):
        model.complete((TASK,))
    assert [line["error"] for line in lines(tmp_path / "t")] == [
        {"class": "RateLimitError", "message": "No: ***."},
        {"class": "KeyboardInterrupt", "message": ""},
    ]


def test_a_trace_goes_on_after_an_earlier_one(tmp_path: Path) -> None:
    for _ in range(2):
        traced(tmp_path / "t", Reply("a")).complete((TASK,))
    assert [line["call"] for line in lines(tmp_path / "t")] == [1, 1]


def test_a_trace_that_cannot_be_written_is_said_before_any_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(UsageError, match=r"The trace '.*' cannot be written"):
        Trace(tmp_path / "file" / "t", Redactor())


def test_the_environment_can_ask_for_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTFORGE_TRACE", str(tmp_path / "from-the-environment"))
    model = load("openai/gpt-4o", seed=0, budget_usd=None, tapes=Tapes(record=tmp_path / "tape"))
    assert isinstance(model, Traced)
    assert model.trace.path == tmp_path / "from-the-environment"


def test_a_disk_that_takes_no_more_is_told():
    model = traced(Path("/dev/full"), Reply("ready"))
    with pytest.raises(
        InconclusiveError, match=r"The trace '/dev/full' could not be continued: No space left"
    ):
        model.complete([TASK])
