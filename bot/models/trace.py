"""The trace: a JSON line for every model call, written around the call, without secrets."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.errors import InconclusiveError, ModelError, TestforgeError, UsageError
from bot.models import Message, Reply, ToolSchema
from bot.models.around import Around
from bot.models.redaction import Redactor
from bot.models.wire import message_from


class Trace:
    """A file of JSON lines, appended to by any thread.

    Args:
        path: Where it goes; the lines of an earlier run stay before this one's.

    Raises:
        UsageError: It cannot be written.
    """

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self.path = path
        self._redactor = redactor
        self._lock = threading.Lock()
        self._calls = 0
        self._said: dict[str, Sequence[Message]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as problem:
            raise UsageError(f"The trace {str(path)!r} cannot be written: {problem.strerror}.") from None

    def write(self, messages: Sequence[Message], entry: dict[str, Any]) -> None:
        """Append one call: of its messages those that the call before it in the same conversation did not hold yet.

        Raises:
            InconclusiveError: The disk does not take it.
        """
        conversation = _conversation(messages)
        with self._lock:
            self._calls += 1
            before = self._said.get(conversation, ())
            self._said[conversation] = tuple(messages)
            known = _common(before, messages)
            line = self._redactor.data(
                {
                    "call": self._calls,
                    "conversation": conversation,
                    "known_messages": known,
                    "messages": list(messages[known:]),
                    **entry,
                }
            )
            try:
                with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
            except OSError as problem:
                raise InconclusiveError(
                    f"The trace {str(self.path)!r} could not be continued: {problem.strerror}. "
                    "Make room there, or trace elsewhere."
                ) from None


@dataclass(slots=True)
class Traced(Around):
    """A model whose calls are traced."""

    trace: Trace
    seed: int

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the model's reply. Raises what the model raises."""
        started, at = time.monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds")
        result: dict[str, Any] = {}
        try:
            reply = self.model.complete(messages, tools)
            result = _told(reply)
            return reply
        except BaseException as error:
            result = {"error": {"class": _cause(error), "message": str(error)}}
            raise
        finally:
            entry = {
                "at": at,
                "model": self.name,
                "parameters": {"seed": self.seed, "tools": [tool["function"]["name"] for tool in tools]},
                "latency_s": round(time.monotonic() - started, 3),
                **result,
            }
            self.trace.write(messages, entry)


def _told(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    return {
        "reply": message_from(reply),
        "finish_reason": reply.finish_reason,
        "kind": reply.kind.value,
        "leaked": reply.leaked,
        "attempts": reply.attempts,
        "usage": {"prompt": usage.prompt, "completion": usage.completion, "cached": usage.cached},
        "cost_usd": usage.cost_usd,
        "cost_source": reply.cost_source,
    }


def _cause(error: BaseException) -> str:
    """Return the name of the exception behind an error."""
    if isinstance(error, ModelError | TestforgeError):
        return str(getattr(error, "cause", "") or type(error).__name__)
    return type(error).__name__


def _conversation(messages: Sequence[Message]) -> str:
    """Return a mark of a conversation: what it begins with stays as it is to its end."""
    opening = json.dumps(list(messages[:2]), sort_keys=True, default=str)
    return hashlib.sha256(opening.encode("utf-8", "replace")).hexdigest()[:12]


def _common(before: Sequence[Message], now: Sequence[Message]) -> int:
    count = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        count += 1
    return count
