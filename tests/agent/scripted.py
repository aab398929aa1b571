"""A model that answers from a list, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bot.errors import ModelError
from bot.models import Message, Reply, ToolCall, ToolSchema, Traits


class Scripted:
    """Gives its replies in order; an error among them is raised, and past the end there is a ModelError."""

    def __init__(self, *replies: Reply | Exception, forever: bool = False) -> None:
        self.name = "scripted"
        self.traits = Traits()
        self.replies = list(replies)
        self.forever = forever
        self.asked: list[tuple[tuple[Message, ...], tuple[ToolSchema, ...]]] = []

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        self.asked.append((tuple(messages), tuple(tools)))
        number = len(self.asked) - 1
        if self.forever:
            number %= len(self.replies)
        if number >= len(self.replies):
            raise ModelError("The script is over.")
        reply = self.replies[number]
        if isinstance(reply, Exception):
            raise reply
        return reply


def call(name: str, **arguments: Any) -> ToolCall:
    """Return a call of a tool with a reflection."""
    return ToolCall(f"call_{name}", name, json.dumps({"reflection": "because", **arguments}))


def calls(*each: ToolCall) -> Reply:
    """Return a reply that calls tools."""
    return Reply("", each, "tool_calls")
