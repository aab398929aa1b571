"""Waiting for asynchronous calls from ordinary code, each within a limit of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

Result = TypeVar("Result")


def wait_for(call: Coroutine[Any, Any, Result], seconds: float) -> Result:
    """Return what a call gives, from any thread. Raises TimeoutError after so many seconds.

    All calls share one event loop in a thread of its own, so that connections are used again from call to call.
    """
    future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(call, seconds), _loop())
    try:
        return future.result()
    finally:
        future.cancel()  # after Ctrl-C; a call that is done is not touched


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="models", daemon=True).start()
    return loop
