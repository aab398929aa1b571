"""Giving a recorded run's replies back to the same calls, strictly: any other call is an error that shows the difference."""

from __future__ import annotations

import difflib
import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.domain import Usage
from bot.errors import ModelError, UsageError
from bot.models import Message, Reply, ToolCall, ToolSchema, Traits
from bot.models.budget import BudgetError
from bot.models.cassette import FILE, VERSION, Request, hash_of, request_of
from bot.models.failures import CallError, ContextError, SetupError, ToolsError, UnreadableError
from bot.models.redaction import Redactor

SHOWN_LINES = 40
_ERRORS: Mapping[str, type[ModelError]] = {
    each.__name__: each
    for each in (CallError, SetupError, ToolsError, UnreadableError, ContextError, BudgetError)
}


class ReplayError(UsageError):
    """The run asks what the recorded one did not."""


class Cassette:
    """A recording that was read.

    Raises:
        UsageError: There is none in the directory, or it cannot be read.
    """

    def __init__(self, directory: Path) -> None:
        self.parts: dict[str, Any] = {}
        self.calls: list[dict[str, Any]] = []
        try:
            # Not splitlines, which also ends lines at signs that may stand in a text.
            first, *lines = (directory / FILE).read_text("utf-8").removesuffix("\n").split("\n")
            self._check_version(json.loads(first), directory)
            for line in map(json.loads, lines):
                if "part" in line:
                    self.parts[line["part"]] = line["content"]
                elif "call" in line:
                    self.calls.append(line)
            if not self.calls:
                raise UsageError(f"{str(directory)!r} holds no recorded call.")
            for call in self.calls:
                self._check(call)
        except (KeyError, TypeError, AttributeError) as problem:
            raise UsageError(
                f"{str(directory)!r} holds a recording that was changed or cut: {type(problem).__name__} {problem}. "
                "Record it again."
            ) from None
        except (OSError, ValueError) as problem:
            raise UsageError(f"{str(directory)!r} holds no recording that can be read: {problem}.") from None

    @staticmethod
    def _check_version(header: Mapping[str, Any], directory: Path) -> None:
        if header["cassette"] != VERSION:
            raise UsageError(
                f"{str(directory)!r} was recorded by another version of testforge; record it again."
            )

    def _check(self, call: Mapping[str, Any]) -> None:
        """Read all that a call needs when it is given back. Raises KeyError, TypeError or AttributeError."""
        _ = self.messages(call), self.parts[call["tools"]], Traits(call["window"], call["calls_tools"])
        _ = (
            call["model"] + call["error"]["class"] + call["error"]["message"]
            if "error" in call
            else _read(call["reply"])
        )
        for message in self.messages(call):
            _lines(message)

    def messages(self, call: Mapping[str, Any]) -> list[Any]:
        """Return a call's messages."""
        return [self.parts[key] for key in call["messages"]]


@dataclass(slots=True)
class Replaying:
    """Gives the replies of a recording to the same calls; nothing is sent to anybody."""

    name: str
    seed: int
    cassette: Cassette
    redactor: Redactor
    _asked: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def traits(self) -> Traits:
        """As they were when it was recorded."""
        first = self.cassette.calls[0]
        return Traits(first["window"], first["calls_tools"])

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the recorded reply, of equal calls the next one's.

        Raises:
            ReplayError: There is no such call; its detail shows where it differs from the nearest one.
            ModelError: As it was recorded.
        """
        request = request_of(self.name, self.seed, messages, tools, self.redactor)
        same = [call for call in self.cassette.calls if call["call"] == request.key]
        with self._lock:
            number = self._asked[request.key]
            self._asked[request.key] += 1
        if number >= len(same):
            raise self._miss(request, asked_before=number > 0)
        call = same[number]
        if "error" in call:
            raise _ERRORS.get(call["error"]["class"], ModelError)(call["error"]["message"])
        return _read(call["reply"])

    def _miss(self, request: Request, *, asked_before: bool) -> ReplayError:
        if asked_before:
            return ReplayError("The run asks more often than the recorded one did; record it again.")
        nearest = max(self.cassette.calls, key=lambda call: self._nearness(call, request))
        return ReplayError(
            "The run asks what the recorded one did not; record it again, or run it as it was recorded.",
            "\n".join(_difference(nearest, self.cassette, request)),
        )

    def _nearness(self, call: Mapping[str, Any], request: Request) -> tuple[int, int]:
        recorded = self.cassette.messages(call)
        return _alike(recorded, request.messages), -abs(len(recorded) - len(request.messages))


def _difference(call: Mapping[str, Any], cassette: Cassette, request: Request) -> Iterator[str]:
    """Yield where a request differs from a recorded call."""
    recorded = cassette.messages(call)
    for name, then, now in (("model", call["model"], request.model), ("seed", call["seed"], request.seed)):
        if then != now:
            yield f"{name}: recorded with {then}, now {now}"
    if call["tools"] != hash_of(request.tools):
        yield "the tools or their descriptions differ"
    place = _alike(recorded, request.messages)
    if place == len(recorded) == len(request.messages):
        return
    old, new = (_lines(each[place]) if place < len(each) else [] for each in (recorded, request.messages))
    shown = list(difflib.unified_diff(old, new, "recorded", "now", f"message {place + 1}", n=1, lineterm=""))
    yield from shown[:SHOWN_LINES]
    if len(shown) > SHOWN_LINES:
        yield f"... {len(shown) - SHOWN_LINES} more lines"


def _lines(message: Mapping[str, Any]) -> list[str]:
    """Return a message as lines of text."""
    lines = [f"role: {message['role']}", *str(message.get("content") or "").split("\n")]
    for call in message.get("tool_calls") or ():
        lines += [f"call: {call['function']['name']}", *str(call["function"]["arguments"]).split("\\n")]
    return lines


def _alike(recorded: Sequence[Any], asked: Sequence[Any]) -> int:
    """Return how many messages two conversations have in common at their beginning."""
    count = 0
    for old, new in zip(recorded, asked, strict=False):
        if old != new:
            break
        count += 1
    return count


def _read(reply: Mapping[str, Any]) -> Reply:
    return Reply(
        reply["text"],
        tuple(ToolCall(*call) for call in reply["tool_calls"]),
        reply["finish_reason"],
        Usage(*reply["usage"]),
        reply["cost_source"],
        reply["leaked"],
        reply["attempts"],
    )
