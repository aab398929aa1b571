"""DBOS is there once a process, and tests of several rooms use it in whatever order they come: who wants it, takes it."""

from __future__ import annotations

from collections.abc import Callable


class _Place:
    """Who has it now."""

    def __init__(self) -> None:
        self.leave: Callable[[], None] | None = None


_PLACE = _Place()


def take(leave: Callable[[], None] | None = None) -> None:
    """Let whoever has it leave, and have it; `leave` ends one's own use of it when somebody else wants it.

    Who gives no `leave` has to have ended before another test begins.
    """
    before, _PLACE.leave = _PLACE.leave, leave
    if before is not None:
        before()
