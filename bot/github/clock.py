"""The clock, as something that can be set: tokens run out, limits are waited for, and no test sleeps."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time and lets it pass."""

    def now(self) -> float:
        """Return the time, in seconds since 1970."""

    def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""


class SystemClock:
    """This machine's clock."""

    def now(self) -> float:
        """Return the time, in seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        time.sleep(seconds)
