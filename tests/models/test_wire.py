"""Replies as they travel: read from what servers really send, written back so that every server accepts it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain import Usage
from bot.models import Kind, Reply, ToolCall
from bot.models.wire import (
    assistant_message,
    reply_from,
    response_from,
    tool_message,
    valid_history,
)

_texts = st.text(min_size=1, max_size=10)
_replies = st.builds(
    Reply,
    text=st.text(max_size=20),
    tool_calls=st.lists(
        st.builds(ToolCall, _texts, _texts, st.text(max_size=20)), max_size=3, unique_by=lambda call: call.id
    ).map(tuple),
    finish_reason=st.sampled_from(["stop", "tool_calls", "length"]),
    usage=st.builds(Usage, st.integers(10, 10**6), st.integers(0, 10**6), st.integers(0, 10)),
)


@given(_replies)
def test_a_reply_written_as_a_response_is_read_back_the_same(reply: Reply) -> None:
    assert reply_from(json.loads(json.dumps(response_from(reply, "m")))) == reply


@pytest.mark.parametrize(
    "response",
    [
        {},
        {"choices": []},
        {"choices": [{"message": None, "finish_reason": None}], "usage": None},
        {"choices": [{"message": {"content": None, "tool_calls": None}, "finish_reason": "stop"}]},
    ],
)
def test_a_response_without_content_is_an_empty_reply(response: dict[str, object]) -> None:
    assert reply_from(response) == Reply("")


def test_a_call_without_an_id_gets_one_and_others_keep_theirs() -> None:
    rows = [{"function": {"name": "f", "arguments": "{}"}}, {"id": "own/=+", "function": {"name": "g"}}]
    reply = reply_from({"choices": [{"message": {"tool_calls": rows}}]})
    assert reply.tool_calls == (ToolCall("call_1", "f", "{}"), ToolCall("own/=+", "g", ""))


def test_arguments_sent_as_an_object_are_read_as_its_text() -> None:
    row = {"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}
    reply = reply_from({"choices": [{"message": {"tool_calls": [row]}}]})
    assert reply.tool_calls[0].arguments == '{"a": 1}'


@pytest.mark.parametrize("broken", ["", "{", "[1]", "null", '{"a": 1'])
def test_arguments_that_are_no_object_go_back_as_an_empty_one(broken: str) -> None:
    message = assistant_message(Reply("", (ToolCall("1", "f", broken),), "tool_calls"))
    assert message["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}


def test_unescaped_line_breaks_go_back_escaped() -> None:
    message = assistant_message(Reply("", (ToolCall("1", "f", '{"a": "b\nc"}'),), "tool_calls"))
    assert message["tool_calls"][0]["function"]["arguments"] == '{"a": "b\\nc"}'


def test_numbers_that_json_does_not_have_go_back_as_an_empty_object() -> None:
    message = assistant_message(Reply("", (ToolCall("1", "f", '{"a": NaN}'),), "tool_calls"))
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"


def test_valid_arguments_and_ids_go_back_as_they_were() -> None:
    message = assistant_message(Reply("so", (ToolCall("a/b=", "f", '{"x":  1}'),), "tool_calls"))
    assert message == {
        "role": "assistant",
        "content": "so",
        "tool_calls": [
            {"id": "a/b=", "type": "function", "function": {"name": "f", "arguments": '{"x":  1}'}}
        ],
    }


def test_an_empty_reply_is_never_sent_back_empty() -> None:
    assert assistant_message(Reply(" \n")) == {"role": "assistant", "content": "(no text)"}


def test_half_surrogate_pairs_are_never_sent() -> None:
    call = ToolCall("1", "f\ud83d", '{"a": "\ud83d"}')
    messages = [assistant_message(Reply("cut \ud83d", (call,))), tool_message(call, "in \udc80.py")]
    assert json.dumps(messages, ensure_ascii=False).encode()
    assert (messages[0]["content"], messages[1]["content"]) == ("cut ?", "in ?.py")


def test_a_call_left_unanswered_is_answered_in_the_history() -> None:
    first, second = ToolCall("1", "f", "{}"), ToolCall("2", "g", "{}")
    asked = assistant_message(Reply("", (first, second), "tool_calls"))
    history = valid_history([asked, tool_message(second, "done")])
    assert history == [
        asked,
        tool_message(second, "done"),
        tool_message(first, "error: this call was not run"),
    ]


def test_ids_used_again_in_a_later_turn_get_a_number_and_their_answers_follow() -> None:
    call = ToolCall("call_1", "f", "{}")
    turn = [assistant_message(Reply("", (call,), "tool_calls")), tool_message(call, "done")]
    history = valid_history([*turn, *turn, *turn])
    asked = [message["tool_calls"][0]["id"] for message in history[::2]]
    assert asked == ["call_1", "call_1_2", "call_1_3"]
    assert [message["tool_call_id"] for message in history[1::2]] == asked


def test_calls_of_one_reply_never_share_an_id() -> None:
    rows = [{"id": "a", "function": {"name": name, "arguments": "{}"}} for name in ("f", "g", "h")]
    reply = reply_from({"choices": [{"message": {"tool_calls": rows}}]})
    assert [call.id for call in reply.tool_calls] == ["a", "a_2", "a_3"]


@pytest.mark.parametrize(
    ("choice", "kind"),
    [
        ({"finish_reason": "length", "message": {"content": "half"}}, Kind.TRUNCATED),
        ({"finish_reason": "content_filter", "message": {"content": ""}}, Kind.REFUSED),
        ({"finish_reason": "stop", "message": {"refusal": "I can't."}}, Kind.REFUSED),
        (
            {
                "finish_reason": "stop",
                "message": {},
                "provider_specific_fields": {"native_finish_reason": "MALFORMED_FUNCTION_CALL"},
            },
            Kind.MALFORMED,
        ),
        (
            {
                "finish_reason": "tool_calls",
                "message": {"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
                "provider_specific_fields": {"native_finish_reason": "MAX_TOKENS"},
            },
            Kind.TRUNCATED,
        ),
        ({"finish_reason": "stop", "message": {"content": " \n"}}, Kind.EMPTY),
        ({"finish_reason": "stop", "message": {"content": "prose"}}, Kind.OK),
    ],
)
def test_what_a_reply_is_good_for_is_read_from_all_that_says_it(choice: dict[str, Any], kind: Kind) -> None:
    assert reply_from({"choices": [choice]}).kind is kind


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [(["{}"], Kind.OK), (["{"], Kind.MALFORMED), (["[]", "7"], Kind.MALFORMED), (["{", "{}"], Kind.OK)],
)
def test_a_reply_with_a_call_that_can_be_read_is_good(arguments: list[str], kind: Kind) -> None:
    calls = tuple(ToolCall(str(n), "f", text) for n, text in enumerate(arguments))
    assert Reply("", calls, "tool_calls").kind is kind


def test_of_a_reply_longer_than_any_suite_the_beginning_is_kept_as_one_cut_off() -> None:
    rows = [{"id": "1", "function": {"name": "f", "arguments": "x" * 2_000_000}}]
    reply = reply_from({"choices": [{"message": {"content": "y" * 500_000, "tool_calls": rows}}]})
    assert (reply.kind, len(reply.text)) == (Kind.TRUNCATED, 100_000)
    assert reply.tool_calls == (ToolCall("1", "f", "{}"),)


def test_usage_that_cannot_be_is_nothing() -> None:
    usage = {"prompt_tokens": -5, "completion_tokens": "many", "prompt_tokens_details": 3}
    assert reply_from({"usage": usage}).usage == Usage()
    assert reply_from(
        {"usage": {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}}
    ).usage == Usage(5, 0, 5)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("run_tests", "run_tests"),
        ("../bin/sh", "___bin_sh"),
        ("tests ünd", "tests__nd"),
        ("", "unnamed"),
        ("x" * 99, "x" * 64),
    ],
)
def test_a_tools_name_goes_back_in_the_characters_that_providers_take(name: str, sent: str) -> None:
    call = ToolCall("call_1", name, "{}")
    message = assistant_message(Reply("", (call,), "tool_calls"))
    assert message["tool_calls"][0]["function"]["name"] == sent
    assert tool_message(call, "no")["name"] == sent
