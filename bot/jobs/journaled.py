"""A model whose replies are kept: a run that begins anew after a crash does not ask, nor pay, for one of them twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from bot.domain import Usage
from bot.models import Message, Reply, ToolCall, ToolSchema
from bot.models.around import Around
from bot.models.budget import charge
from bot.store.journal import Journal


@dataclass(slots=True)
class Journaled(Around):
    """A model before which a run's journal stands.

    Attributes:
        asked: How many calls went to the model itself.
    """

    journal: Journal
    asked: int = 0

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the reply that the run had to this request before, or the model's. Raises ModelError."""
        call = self.journal.next_call([{"model": self.name}, *messages, {"tools": list(tools)}])
        kept = call.read()
        if kept is not None:
            reply = _reply(kept)
            charge(self.model, reply.usage.cost_usd)
            return reply
        self.asked += 1
        reply = self.model.complete(messages, tools)
        call.write(asdict(reply))
        return reply


def _reply(kept: Mapping[str, Any]) -> Reply:
    """Return the reply that was kept, also by a testforge that knew fewer or more facts about one."""
    known = {field.name for field in fields(Reply)}
    values = {name: value for name, value in kept.items() if name in known}
    values["tool_calls"] = tuple(ToolCall(**call) for call in kept.get("tool_calls", ()))
    values["usage"] = Usage(**kept.get("usage", {}))
    return Reply(**values)
