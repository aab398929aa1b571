"""The built-in model behind the same form of requests and replies as any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.models import Message, Reply, ToolSchema
from bot.models.wire import reply_from, response_from, valid_history

PROVIDER = "testforge"
NAME = f"{PROVIDER}/offline"


@dataclass(slots=True)
class BuiltIn:
    """`testforge/offline`: no weights, no network, the same replies for the same seed, and no cost."""

    seed: int
    name: str = NAME

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the reply to a conversation, passed through the form that LiteLLM gives replies in."""
        from bot.models import offline

        reply = offline.complete(valid_history(messages), tools, seed=self.seed)
        return reply_from(response_from(reply, self.name))
