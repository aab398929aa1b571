"""A run's calls and replies, kept in a file from which `replay` gives them back to the same calls.

A cassette is a file of JSON lines: each message and each set of tools stands in it once, and each call names them by
their hashes. Calls are found by what they ask, not by when they ask it, so that threads do not matter.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.errors import InconclusiveError, ModelError, UsageError
from bot.models import Message, Reply, ToolSchema, Traits
from bot.models.around import Around
from bot.models.redaction import Redactor

FILE = "cassette.jsonl"
TRACE = "trace.jsonl"
VERSION = 1
_DIFFERS = (
    (re.compile(r"\bin \d+\.\d+ ?s\b"), "in * s"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x*"),
    (re.compile(r"(?:/[\w.+-]+)*/testforge-[\w.-]+"), "*"),
)
"""What tools print differs in these from run to run, of the same code on the same machine."""


class Recorder:
    """Writes a cassette.

    Args:
        directory: Where it goes; made if it is missing.

    Raises:
        UsageError: It cannot be written, or holds a recording already.
    """

    def __init__(self, directory: Path, redactor: Redactor) -> None:
        self._path = directory / FILE
        self._redactor = redactor
        self._lock = threading.Lock()
        self._written: set[str] = set()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with self._path.open("x", encoding="utf-8") as file:
                file.write(json.dumps({"cassette": VERSION}) + "\n")
        except FileExistsError:
            raise UsageError(
                f"{str(directory)!r} holds a recording already; name another directory."
            ) from None
        except OSError as problem:
            raise UsageError(f"{str(directory)!r} cannot be written: {problem.strerror}.") from None

    def write(self, request: Request, traits: Traits, result: Mapping[str, Any]) -> None:
        """Add a call with its reply or error. Raises InconclusiveError if the disk does not take it."""
        lines: list[dict[str, Any]] = []
        with self._lock:
            for key, part in request.parts():
                if key not in self._written:
                    self._written.add(key)
                    lines.append({"part": key, "content": part})
            lines.append(
                {
                    "call": request.key,
                    "model": request.model,
                    "seed": request.seed,
                    "window": traits.window,
                    "calls_tools": traits.calls_tools,
                    "messages": [hash_of(message) for message in request.messages],
                    "tools": hash_of(request.tools),
                    **self._redactor.data(result),
                }
            )
            try:
                with self._path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            except OSError as problem:
                raise InconclusiveError(
                    f"The recording in {str(self._path.parent)!r} could not be continued: {problem.strerror}. "
                    "Make room there, or record elsewhere."
                ) from None


@dataclass(frozen=True, slots=True)
class Request:
    """What a call asks, without secrets and without what differs from run to run."""

    model: str
    seed: int
    messages: list[Any]
    tools: list[Any]

    @property
    def key(self) -> str:
        """What it is found by."""
        return hash_of([self.model, self.seed, self.messages, self.tools])

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Yield its messages and its tools, each with its hash."""
        for part in (*self.messages, self.tools):
            yield hash_of(part), part


def request_of(
    model: str, seed: int, messages: Sequence[Message], tools: Sequence[ToolSchema], redactor: Redactor
) -> Request:
    """Return a call in the form in which calls are compared."""
    said, offered = (_same(redactor.data(list(each))) for each in (messages, tools))
    return Request(model, seed, said, offered)


@dataclass(slots=True)
class Recording(Around):
    """A model whose calls and replies are recorded."""

    seed: int
    recorder: Recorder
    redactor: Redactor

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the model's reply. Raises ModelError, which is recorded too."""
        request = request_of(self.name, self.seed, messages, tools, self.redactor)
        try:
            reply = self.model.complete(messages, tools)
        except ModelError as error:
            result = {"error": {"class": type(error).__name__, "message": error.message}}
            self.recorder.write(request, self.traits, result)
            raise
        self.recorder.write(request, self.traits, {"reply": _written(reply)})
        return reply


def _same(value: Any) -> Any:
    """Return plain data without what differs from run to run."""
    if isinstance(value, str):
        for pattern, mark in _DIFFERS:
            value = pattern.sub(mark, value)
        return value
    if isinstance(value, Mapping):
        return {key: _same(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_same(each) for each in value]
    return value


def hash_of(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _written(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    return {
        "text": reply.text,
        "tool_calls": [[call.id, call.name, call.arguments] for call in reply.tool_calls],
        "finish_reason": reply.finish_reason,
        "usage": [usage.prompt, usage.completion, usage.cached, usage.cost_usd],
        "cost_source": reply.cost_source,
        "leaked": reply.leaked,
        "attempts": reply.attempts,
    }
