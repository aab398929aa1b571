"""Noticing that a loop no longer gets anywhere: the same call over and over, or runs that show nothing new."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field

from bot.agent.interruptions import Ended
from bot.agent.limits import AgentLimits
from bot.agent.snapshots import Snapshot
from bot.models import ToolCall


@dataclass(slots=True)
class Repetition:
    """Counts calls with their outputs since the suite last changed; reflections and durations do not tell two apart."""

    limits: AgentLimits
    _suite: str = ""
    _seen: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def check(self, call: ToolCall, output: str, suite: str) -> None:
        """Count a call. Raises Ended when it came with the same output `limits.stuck` times."""
        if suite != self._suite:
            self._suite = suite
            self._seen.clear()
        key = (call.name, _without_reflection(call.arguments), re.sub(r"\bin \d+\.\d+ s\b", "", output))
        self._seen[key] += 1
        if self._seen[key] >= self.limits.stuck:
            raise Ended("stuck", f"{call.name} was called {self.limits.stuck} times with the same result")


@dataclass(slots=True)
class Progress:
    """Watches whether runs still show a new passing test, a new covered line or a new caught mutant.

    Looking around between two runs is not held against a model: the count begins with a run that shows nothing
    new, and only a later run of that kind ends the loop.
    """

    limits: AgentLimits
    _passed: set[str] = field(default_factory=set)
    _lines: set[int] = field(default_factory=set)
    _caught: set[str] = field(default_factory=set)
    _barren_since: int | None = None

    def check(self, snapshot: Snapshot, iteration: int, ran: bool) -> None:
        """Take in the suite as it stands. Raises Ended on a plateau.

        Args:
            ran: Whether this iteration ran a text of the suite for the first time.
        """
        if self._is_new(snapshot):
            self._barren_since = None
        elif ran and self._barren_since is None:
            self._barren_since = iteration
        elif ran and self._barren_since is not None and iteration - self._barren_since >= self.limits.plateau:
            raise Ended("plateau", f"nothing new in {self.limits.plateau} iterations")

    def _is_new(self, snapshot: Snapshot) -> bool:
        before = len(self._passed) + len(self._lines) + len(self._caught)
        self._passed.update(snapshot.passed)
        self._lines.update(snapshot.lines)
        self._caught.update(snapshot.caught or ())
        return len(self._passed) + len(self._lines) + len(self._caught) > before


def _without_reflection(arguments: str) -> str:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if isinstance(given, dict):
        given.pop("reflection", None)
    return json.dumps(given, sort_keys=True)
