"""Models behind one protocol: the built-in one, and any that LiteLLM reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.domain import Usage

Message = Mapping[str, Any]
"""One chat message in OpenAI's form: role, content, tool_calls, tool_call_id."""

ToolSchema = Mapping[str, Any]
"""One tool in OpenAI's form: {"type": "function", "function": {"name", "description", "parameters"}}."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asks for; `arguments` is the JSON text as the model wrote it, valid or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply: text, tool calls, why it ended (`stop`, `tool_calls`, `length`) and what it cost."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """Anything that answers a conversation."""

    name: str

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the reply to a conversation. Raises ModelError when none can be had."""
        ...
