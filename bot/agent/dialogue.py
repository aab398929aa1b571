"""How one loop talks to its model: by tool calls, or in the plain-text protocol where these do not work."""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent import plaintext
from bot.agent.prompts import prompt
from bot.models import Kind, Message, Model, Reply, ToolSchema, traits_of
from bot.models.failures import ToolsError

PATIENCE = 2
"""Replies in a row without a call that can be read, after which a model is given the plain-text protocol."""


class Dialogue:
    """One conversation with a model; it belongs to one loop, so that no other loop's slips decide how it goes on.

    Args:
        suite_path: Where a Python file goes that a model writes in plain text without saying where.
    """

    def __init__(self, model: Model, suite_path: str) -> None:
        self._model = model
        self._suite_path = suite_path
        self._slips = 0
        self.plain = not traits_of(model).calls_tools

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        """Return the model's next reply, its action as a tool call in either manner. Raises ModelError."""
        if not self.plain:
            try:
                return self._called(messages, tools)
            except ToolsError:
                self.plain = True
        turn = sum(message["role"] == "assistant" for message in messages) + 1
        reply = self._model.complete(plaintext.as_text(messages, tools))
        return plaintext.read(reply, tools, self._suite_path, turn)

    def _called(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        """Return the reply to a conversation with tools, and take in what it shows of the model."""
        reply = self._model.complete(messages, tools)
        if reply.kind in (Kind.OK, Kind.MALFORMED, Kind.EMPTY):
            usable = reply.kind is Kind.OK and reply.tool_calls
            self._slips = 0 if usable else self._slips + 1
            self.plain = self._slips >= PATIENCE
        return reply

    def nudge(self, reply: Reply) -> Message:
        """Return what is said to a reply that did nothing."""
        name = {Kind.REFUSED: "refused", Kind.TRUNCATED: "cut_off"}.get(reply.kind, "no_call")
        if self.plain:
            name = "no_block"
        return {"role": "user", "content": prompt(name)}
