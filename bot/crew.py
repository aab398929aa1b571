"""Several pieces of work at once, in threads that are stopped together."""

from __future__ import annotations

import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

_GLANCE_S = 0.2
_PATIENCE_S = 10.0
"""Cleaning up takes a sandbox so long at most; then the wish to stop is repeated."""
_LONGEST_S = 60.0

Work = Callable[[], None]


def share(works: Sequence[Work], hands: int) -> None:
    """Do all works, at most `hands` of them at once, begun in their order; return when all are done.

    With one hand they are done here, one after another. Otherwise the first one that raises stops all others, as does
    Ctrl-C: whatever they wait for, they leave, and clean up as after Ctrl-C in a run of one.

    Raises:
        BaseException: What a work raised, or KeyboardInterrupt.
    """
    if hands <= 1 or len(works) <= 1:
        for work in works:
            work()
        return
    waiting = deque(works)
    failures: list[BaseException] = []

    def hand() -> None:
        while waiting and not failures:
            try:
                waiting.popleft()()
            except IndexError:  # another hand took the last one
                return
            except BaseException as failure:
                failures.append(failure)

    threads = [threading.Thread(target=hand, daemon=True) for _ in range(min(hands, len(works)))]
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads) and not failures:
            threads[0].join(_GLANCE_S) if threads[0].is_alive() else time.sleep(_GLANCE_S)
    finally:
        waiting.clear()
        _stop(threads)
    if failures:
        raise failures[0]


def _stop(threads: Sequence[threading.Thread]) -> None:
    """End threads by raising KeyboardInterrupt in them, and wait until they have cleaned up."""
    give_up = time.monotonic() + _LONGEST_S
    ask_again = 0.0
    while alive := [thread for thread in threads if thread.is_alive()]:
        now = time.monotonic()
        if now >= give_up:
            return
        if now >= ask_again:
            ask_again = now + _PATIENCE_S
            for thread in alive:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt)
                )
        alive[0].join(_GLANCE_S)
