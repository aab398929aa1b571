"""Waiting for asynchronous calls from ordinary code, each within a limit of its own."""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

_NAP_S = 0.5
_GRACE_S = 5.0

_starting = threading.Lock()
_running: list[asyncio.AbstractEventLoop] = []

Result = TypeVar("Result")


def wait_for(call: Coroutine[Any, Any, Result], seconds: float) -> Result:
    """Return what a call gives, from any thread. Raises TimeoutError after so many seconds.

    All calls share one event loop in a thread of its own, so that connections are used again from call to call. The
    limit holds also where something keeps that loop from looking at its clock, as reading a long answer does.
    """
    latest = time.monotonic() + seconds + _GRACE_S
    future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(call, seconds), _loop())
    try:
        while True:
            try:
                return future.result(_NAP_S)  # in naps, so that a thread that is to stop hears of it
            except TimeoutError:
                if future.done():  # its own time limit, or it ended this moment
                    return future.result()
                if time.monotonic() > latest:
                    raise
    finally:
        future.cancel()  # after Ctrl-C; a call that is done is not touched


def _loop() -> asyncio.AbstractEventLoop:
    """Return the one loop: LiteLLM's connections belong to the loop in which they were made."""
    with _starting:
        if not _running:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="models", daemon=True)
            thread.start()
            atexit.register(_end, loop, thread)
            _running.append(loop)
        return _running[0]


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Cancel what still runs at the end of the process: LiteLLM leaves a task behind, which would complain of it."""

    async def cancel() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_NAP_S)
        loop.stop()

    asyncio.run_coroutine_threadsafe(cancel(), loop)
    thread.join(2 * _NAP_S)
