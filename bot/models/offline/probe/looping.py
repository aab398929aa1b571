"""An event loop for the module's coroutine functions: made before anything is guarded, and its clock waits for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, cast


class StuckError(BaseException):
    """A coroutine waits for what never comes."""


class Asyncio:
    """Stands in for `asyncio` in cases: `run` uses one loop for all, whose time passes at once."""

    def __init__(self) -> None:
        self._loop = cast("Any", asyncio.new_event_loop())
        self._now = 0.0
        self._select = self._loop._selector.select
        self._loop._selector.select = self._pass_time
        self._loop.time = lambda: self._now

    def __getattr__(self, name: str) -> Any:
        """Give anything else of the real module."""
        return getattr(asyncio, name)

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end. Raises what it raises, and StuckError if it has none."""
        try:
            return self._loop.run_until_complete(coroutine)
        finally:
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))

    def _pass_time(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise StuckError
        self._now += max(timeout, 0.0)
        return self._select(0)
