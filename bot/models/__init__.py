"""Models behind one protocol: the built-in one, and any that LiteLLM reaches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
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

    @property
    def is_readable(self) -> bool:
        """Whether the arguments are a JSON object."""
        try:
            return isinstance(read_arguments(self.arguments), dict)
        except (ValueError, RecursionError):
            return False


class Kind(StrEnum):
    """What a reply is good for."""

    OK = "ok"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    MALFORMED = "malformed"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply.

    Attributes:
        finish_reason: Why it ended: `stop`, `tool_calls`, `length`, `refused` (by the model or the provider's filter)
            or `malformed` (the provider could not read the calls that the model wrote).
        usage: What it cost.
        cost_source: Where the cost comes from: `provider` (its usage and the list of prices), `configured` (its usage
            and the operator's price), `estimate` (it said nothing of its usage, and what was set aside is charged),
            `unknown` (nobody knows the price) or empty (it costs nothing).
        leaked: The calls stood in the text, as some servers leave them there.
        attempts: Requests that it took.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    cost_source: str = ""
    leaked: bool = False
    attempts: int = 1

    @property
    def kind(self) -> Kind:
        """What it is good for. A reply with a call that can be read is ok, whatever else is in it."""
        if self.finish_reason == "length":
            return Kind.TRUNCATED
        if self.finish_reason == "refused":
            return Kind.REFUSED
        if self.tool_calls:
            return Kind.OK if any(call.is_readable for call in self.tool_calls) else Kind.MALFORMED
        if self.finish_reason == "malformed":
            return Kind.MALFORMED
        return Kind.OK if self.text.strip() else Kind.EMPTY


def read_arguments(arguments: str) -> object:
    """Return what a call's arguments say; line breaks and tabs in strings need not be escaped, as some models forget.

    Raises:
        ValueError: They are no JSON.
        RecursionError: They are nested too deeply.
    """
    return json.loads(arguments or "{}", strict=False)


@dataclass(frozen=True, slots=True)
class Traits:
    """What of a model decides how it is talked to.

    Attributes:
        window: Tokens that prompt and reply together may hold; None is no limit.
        calls_tools: Whether it can call tools; otherwise it is given the plain-text protocol.
    """

    window: int | None = None
    calls_tools: bool = True


def traits_of(model: Model) -> Traits:
    """Return a model's traits; one that says nothing reads anything and calls tools."""
    traits = getattr(model, "traits", None)
    return traits if isinstance(traits, Traits) else Traits()


class Model(Protocol):
    """Anything that answers a conversation."""

    @property
    def name(self) -> str:
        """As LiteLLM spells it."""
        ...

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the reply to a conversation. Raises ModelError when none can be had."""
        ...
