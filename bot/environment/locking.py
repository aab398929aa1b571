"""One run at a time: a file whose holder makes what others wait for."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path


@contextlib.contextmanager
def locked_file(path: Path, note: Callable[[str], None]) -> Iterator[None]:
    """Hold a file's lock while the context is open; whoever dies lets go of it.

    Args:
        note: Told when another run holds it and is waited for.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note("Waiting for another run that makes the same environment.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
