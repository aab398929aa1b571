"""How long the refine loop may go on."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from bot.agent.interruptions import Ended
from bot.domain import Usage


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """What one target's refine loop may use; None is no limit. What a run may cost is the model's to know (`Budget`).

    Attributes:
        iterations: Model replies (METHODS 1.2: 25).
        wall_s: Seconds. Generous, so that it stops a run that hangs and never decides what a working one makes.
        tokens: Tokens of prompts and replies together.
        plateau: A run that shows nothing new ends the loop this many iterations after the first such run.
        stuck: The same call with the same output this many times, without a change of the suite, ends it.
        silent: Replies in a row that did nothing (without a call, cut off, refused, unreadable), after which it ends.
    """

    iterations: int = 25
    wall_s: float | None = 1800.0
    tokens: int | None = 4_000_000
    plateau: int = 6
    stuck: int = 3
    silent: int = 4


@dataclass(slots=True)
class Meter:
    """What a loop has used of its limits so far."""

    limits: AgentLimits
    iterations: int = 0
    usage: Usage = field(default_factory=Usage)
    _started: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raise Ended if another reply would go past a limit."""
        limits = self.limits
        if self.iterations >= limits.iterations:
            raise Ended("iterations", f"the limit of {limits.iterations} iterations is reached")
        if limits.wall_s is not None and time.monotonic() - self._started >= limits.wall_s:
            raise Ended("time", f"the limit of {limits.wall_s:g} s is reached")
        if limits.tokens is not None and self.usage.prompt + self.usage.completion >= limits.tokens:
            raise Ended("tokens", f"the limit of {limits.tokens} tokens is reached")

    def count(self, usage: Usage) -> None:
        """Count one reply."""
        self.iterations += 1
        self.usage += usage
