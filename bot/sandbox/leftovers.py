"""What a killed run may leave behind: processes that lost their keeper, and directories that nobody deletes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bot.sandbox.copying import delete_tree

LOCK = "lock"
FRESH_S = 60.0
"""A directory younger than this may not have been locked yet by the run that makes it."""


def end_processes(mark: str) -> None:
    """Kill every process whose environment contains `mark`, until none is left; its own user's only."""
    wanted = mark.encode()
    for _ in range(100):
        marked = [pid for pid in _processes() if wanted in _environment(pid)]
        if not marked:
            return
        for pid in marked:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _processes() -> list[int]:
    return [
        int(path.name)
        for path in Path("/proc").iterdir()
        if path.name.isdigit() and int(path.name) != os.getpid()
    ]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@contextlib.contextmanager
def temporary(prefix: str) -> Iterator[Path]:
    """Make a temporary directory that the next one with this prefix deletes, should this process be killed.

    Args:
        prefix: Of its name; no other kind of directory may have one that begins with it.
    """
    delete_abandoned(Path(tempfile.gettempdir()), prefix)
    directory = Path(tempfile.mkdtemp(prefix=prefix))
    lock = hold(directory)
    try:
        yield directory
    finally:
        delete_tree(directory)
        os.close(lock)


def hold(directory: Path) -> int:
    """Mark a directory as in use for as long as the returned descriptor is open."""
    lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


def delete_abandoned(parent: Path, prefix: str) -> None:
    """Delete this user's directories below `parent` that no running testforge holds: a run before this was killed."""
    for directory in sorted(parent.glob(f"{prefix}*")):
        with contextlib.suppress(OSError):
            # Of a run that was killed before it had locked its directory there is no more than that.
            about = directory.lstat() if not (directory / LOCK).exists() else (directory / LOCK).lstat()
            if about.st_uid != os.getuid() or time.time() - about.st_mtime < FRESH_S:
                continue
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            lock = os.open(directory / LOCK, flags, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                delete_tree(directory)
            finally:
                os.close(lock)
