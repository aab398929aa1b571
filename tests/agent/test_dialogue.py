"""A model is talked to by tool calls until it shows that it cannot; then in plain text, in this conversation only."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scripted import Scripted, call, calls

from bot.agent.dialogue import Dialogue
from bot.agent.tools import schemas
from bot.models import Kind, Message, Reply, ToolCall, Traits

MESSAGES: Sequence[Message] = ({"role": "system", "content": "s"}, {"role": "user", "content": "u"})
BAD = calls(ToolCall("1", "run_tests", "{cut"))
GOOD = calls(call("run_tests"))
BLOCK = Reply("So.\n```run_tests\n```")


def asked_with_tools(model: Scripted) -> list[bool]:
    return [bool(tools) for _, tools in model.asked]


def said(dialogue: Dialogue, times: int) -> list[Reply]:
    return [dialogue.complete(MESSAGES, schemas()) for _ in range(times)]


@pytest.mark.parametrize("slip", [BAD, Reply(""), Reply("prose"), Reply("", finish_reason="malformed")])
def test_two_slips_in_a_row_bring_the_plain_text_protocol(slip: Reply) -> None:
    model = Scripted(slip, slip, BLOCK)
    dialogue = Dialogue(model, "t.py")
    *_, last = said(dialogue, 3)
    assert asked_with_tools(model) == [True, True, False]
    assert last.tool_calls == (ToolCall("text_1", "run_tests", '{"reflection": "So."}'),)
    assert "How to act here" in model.asked[-1][0][0]["content"]


def test_a_good_call_in_between_makes_the_count_begin_anew() -> None:
    model = Scripted(BAD, GOOD, BAD, GOOD)
    said(Dialogue(model, "t.py"), 4)
    assert asked_with_tools(model) == [True] * 4


@pytest.mark.parametrize("other", [Reply("half", finish_reason="length"), Reply("", finish_reason="refused")])
def test_a_reply_cut_off_or_refused_says_nothing_about_calls(other: Reply) -> None:
    model = Scripted(BAD, other, other, BAD, BLOCK)
    said(Dialogue(model, "t.py"), 5)
    assert asked_with_tools(model) == [True, True, True, True, False]


def test_a_model_that_is_known_not_to_call_tools_is_never_offered_any() -> None:
    model = Scripted(BLOCK)
    model.traits = Traits(calls_tools=False)
    (reply,) = said(Dialogue(model, "t.py"), 1)
    assert asked_with_tools(model) == [False]
    assert reply.kind is Kind.OK


def test_one_conversations_slips_do_not_decide_another_ones() -> None:
    model = Scripted(BAD, BAD, GOOD)
    said(Dialogue(model, "t.py"), 2)
    said(Dialogue(model, "t.py"), 1)
    assert asked_with_tools(model) == [True] * 3


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply("prose"), "called no tool"),
        (Reply("half", finish_reason="length"), "cut off"),
        (Reply("no", finish_reason="refused"), "withheld or refused"),
    ],
)
def test_a_reply_that_did_nothing_is_told_why(reply: Reply, told: str) -> None:
    assert told in Dialogue(Scripted(), "t.py").nudge(reply)["content"]


def test_in_plain_text_it_is_told_to_write_a_block() -> None:
    model = Scripted()
    model.traits = Traits(calls_tools=False)
    assert "one fenced block" in Dialogue(model, "t.py").nudge(Reply("prose"))["content"]
