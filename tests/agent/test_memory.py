"""A conversation that fills the window is condensed from its old end; its opening and its form stay."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.agent.memory import LATER_BYTES, LEAST_RECENT, OPENING, condensed, fitted, size
from bot.models import Message, Reply, ToolCall
from bot.models.wire import assistant_message, tool_message, valid_history

SOURCE = "x = 1\n" * 2_000
OPEN: list[Message] = [{"role": "system", "content": "s"}, {"role": "user", "content": SOURCE}]


def turn(number: int, printed: str, content: str = "y = 2\n" * 200) -> list[Message]:
    arguments = json.dumps({"reflection": "r", "path": "t.py", "content": content})
    call = ToolCall(f"c{number}", "write_file", arguments)
    run = ToolCall(f"r{number}", "run_tests", '{"reflection": "r"}')
    said = assistant_message(Reply("", (call, run), "tool_calls"))
    return [said, tool_message(call, "wrote t.py (200 lines)"), tool_message(run, printed)]


def talk(
    turns: int, printed: str = "3 passed, 1 failed\nFAILED t.py::test_a\n" + "    E   no\n" * 300
) -> list[Message]:
    return [*OPEN, *(message for number in range(turns) for message in turn(number, printed))]


def test_with_room_nothing_is_touched() -> None:
    messages = talk(10)
    assert fitted(messages, None) == messages
    assert fitted(messages, 10**6) == messages


def test_a_full_window_condenses_what_is_old_and_keeps_opening_and_latest_as_they_are() -> None:
    messages = talk(20)
    window = size(messages) // 3
    kept = fitted(messages, window)
    assert size(kept) < 0.75 * 3 * window
    assert kept[:OPENING] == messages[:OPENING]
    assert kept[-8:] == messages[-8:]
    assert len(kept) == len(messages)


def test_what_is_condensed_says_what_it_came_to_and_how_to_see_it_again() -> None:
    old = condensed(talk(3))[4]
    assert old["content"] == (
        "3 passed, 1 failed\nFAILED t.py::test_a\n"
        "[301 more lines condensed; run_tests shows how it stands now]"
    )


def test_arguments_that_are_condensed_are_still_json() -> None:
    first = condensed(talk(3))[2]["tool_calls"][0]["function"]
    assert json.loads(first["arguments"]) == {
        "reflection": "r",
        "path": "t.py",
        "content": "[1200 characters condensed]",
    }


def test_a_prefix_that_was_condensed_stays_the_same_from_call_to_call() -> None:
    messages = talk(20)
    window = size(messages) // 3
    kept = fitted(messages, window)
    longer = [*kept, *turn(99, "4 passed")]
    assert fitted(longer, window)[: len(kept)] == kept


_printed = st.text(max_size=1500)
_turns = st.lists(st.tuples(_printed, _printed), max_size=5)


@given(_turns, st.integers(1, 5_000))
def test_any_conversation_keeps_its_form(turns: list[tuple[str, str]], window: int) -> None:
    messages = [*OPEN, *(m for n, (printed, text) in enumerate(turns) for m in turn(n, printed, text))]
    kept = fitted(messages, window)
    assert [message["role"] for message in kept] == [message["role"] for message in messages]
    assert valid_history(kept) == kept
    for message in kept:
        for each in message.get("tool_calls") or ():
            arguments: dict[str, Any] = json.loads(each["function"]["arguments"])
            assert set(arguments) >= {"reflection"}
    assert (
        kept[max(OPENING, len(kept) - LEAST_RECENT) :] == messages[max(OPENING, len(kept) - LEAST_RECENT) :]
    )


def test_in_a_window_of_any_size_old_results_are_not_paid_for_for_ever() -> None:
    messages = talk(40)
    kept = fitted(messages, 10**7)
    assert size(messages) - size(messages[:OPENING]) > LATER_BYTES
    assert size(kept) - size(kept[:OPENING]) < LATER_BYTES / 2
