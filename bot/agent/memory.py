"""What of a long conversation is kept: everything while there is room, then the older observations in short.

The opening, with the file under test, is never touched. What is condensed stays so, and it is done rarely and much at
a time, because a provider's cache ends at the first message that has changed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bot.models import Message, read_arguments

BYTES_PER_TOKEN = 3.0
"""Fewer than there mostly are, so that a window is not overrun."""
FULL = 0.75
"""The share of a window at which older observations are condensed; the rest is for the reply."""
LATER_BYTES = 96_000
"""What may stand behind the opening, whatever the window: all of it is paid for in every call, old results included."""
OPENING = 2
RECENT = 8
LEAST_RECENT = 2
LONG_CHARACTERS = 400
KEPT_LINES = 2
_AGAIN = {
    "run_tests": "run_tests shows how it stands now",
    "coverage_report": "coverage_report shows how it stands now",
    "surviving_mutants": "surviving_mutants shows how it stands now",
    "view_file": "view_file shows it again",
}


def fitted(messages: Sequence[Message], window: int | None, beside: int = 0) -> list[Message]:
    """Return a conversation that leaves room in a window.

    Args:
        window: Tokens that a model can read; None is no limit.
        beside: Bytes that are sent with it, such as the tools.
    """
    kept = list(messages)
    if window is None:
        return kept
    room = min(FULL * window * BYTES_PER_TOKEN, size(kept[:OPENING]) + beside + LATER_BYTES)
    for recent in (RECENT, LEAST_RECENT):
        if size(kept) + beside <= room:
            break
        kept = condensed(kept, recent)
    return kept


def condensed(messages: Sequence[Message], recent: int = LEAST_RECENT) -> list[Message]:
    """Return a conversation in which all but the opening and the latest messages are in short.

    No message is left out, so that every call keeps its answer, and arguments stay valid JSON.
    """
    end = len(messages) - recent
    return [_short(message) if OPENING <= place < end else message for place, message in enumerate(messages)]


def size(messages: Sequence[Message]) -> int:
    """Return the bytes of a conversation as it is sent."""
    texts = (json.dumps(message, ensure_ascii=False) for message in messages)
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def _short(message: Message) -> Message:
    content = message.get("content")
    if message["role"] == "tool":
        return {**message, "content": _first_lines(str(content or ""), str(message.get("name", "")))}
    short: dict[str, Any] = dict(message)
    if isinstance(content, str) and len(content) > LONG_CHARACTERS:
        short["content"] = f"{content[:LONG_CHARACTERS]} {_cut(len(content) - LONG_CHARACTERS)}"
    if message.get("tool_calls"):
        short["tool_calls"] = [_short_call(call) for call in message["tool_calls"]]
    return short


def _first_lines(text: str, tool: str) -> str:
    """Return an observation's first lines, in which every tool says what it comes to."""
    if len(text) <= LONG_CHARACTERS:
        return text
    lines = text.split("\n")
    head = "\n".join(line[:LONG_CHARACTERS] for line in lines[:KEPT_LINES])
    left = len(lines) - KEPT_LINES
    rest = f"{left} more lines" if left > 0 else "the rest of a long line"
    again = f"; {_AGAIN[tool]}" if tool in _AGAIN else ""
    return f"{head}\n[{rest} condensed{again}]"


def _short_call(call: Message) -> Message:
    function = call["function"]
    try:
        given = read_arguments(function["arguments"])
    except (ValueError, RecursionError):
        return call
    if not isinstance(given, dict):
        return call
    arguments = {
        name: _cut(len(value)) if isinstance(value, str) and len(value) > LONG_CHARACTERS else value
        for name, value in given.items()
    }
    return {**call, "function": {**function, "arguments": json.dumps(arguments, ensure_ascii=False)}}


def _cut(characters: int) -> str:
    return f"[{characters} characters condensed]"
