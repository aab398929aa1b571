"""How fast one installation may write: at least a second apart, and no more than GitHub admits in an hour."""

from __future__ import annotations

import threading
from collections import deque

from bot.github.clock import Clock

_APART_S = 1.0
_WINDOW_S = 3600.0
_A_WINDOW = 450  # GitHub's limit is 500 content-creating requests an hour; people use the same account too


class Pace:
    """Shared by all who write for one installation; safe to use from several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._booked: deque[float] = deque(maxlen=_A_WINDOW)

    def wait(self) -> None:
        """Return when the next write may be sent."""
        with self._lock:
            now = self._clock.now()
            at = now
            if self._booked:
                at = max(at, self._booked[-1] + _APART_S)
            if len(self._booked) == _A_WINDOW:
                at = max(at, self._booked[0] + _WINDOW_S)
            self._booked.append(at)
        if at > now:
            self._clock.sleep(at - now)
