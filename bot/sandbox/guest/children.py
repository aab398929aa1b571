"""Processes that run one mutant each: started by fork, watched, and ended with all they have started."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass

START_SECONDS = 60.0
_EXTRA_MEMORY = 1024**3
_PATIENCE = 5  # how often a wall limit is granted again while the process still computes (a busy machine)
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_DUMPABLE = 4  # PR_SET_DUMPABLE


@dataclass(frozen=True)
class Fate:
    """How a child ended.

    Attributes:
        word: `passed` (all its tests), `failed`, `timeout`, or another last word of the child's own.
        position: Which of its tests was running, counted from 0; -1 before the first.
        computed: Whether its CPU limit ended it: it did not just wait.
    """

    word: str
    position: int
    computed: bool = False


def adopt_orphans() -> None:
    """Make this process the parent of what its children leave behind, so that it can be ended."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def hide() -> None:
    """Keep processes of this user, unless it is root, out of the memory of this one and of those that it starts."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)


def become_a_trial() -> None:
    """In a new child: lead an own session, bound the memory, and let the CPU timer end the process."""
    os.setsid()
    contain()


def contain() -> None:
    """Bound the memory of this process and its children, and let a CPU timer end them."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = used + _EXTRA_MEMORY
        resource.setrlimit(
            resource.RLIMIT_AS, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard)
        )
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def watch(pid: int, pipe: int, seconds: Sequence[float], start_seconds: float = START_SECONDS) -> Fate:
    """Follow a child until it says its last word, dies, or exceeds a wall limit; then end it and all it started.

    Args:
        pid: The child, leader of its own session.
        pipe: The end to read its words from; closed afterwards.
        seconds: Wall limit of each test, in the order run.
        start_seconds: Wall limit before the first test.
    """
    position, word, text = -1, "", b""
    limit, began, patience, used = start_seconds, time.monotonic(), _PATIENCE, 0.0
    while not word:
        ready, _, _ = select.select([pipe], [], [], max(0.0, began + limit - time.monotonic()))
        if ready:
            piece = os.read(pipe, 4096)
            text += piece
            *lines, text = text.split(b"\n")
            for line in lines:
                if line.isdigit():
                    position = int(line)
                    limit, began, patience = seconds[position], time.monotonic(), _PATIENCE
                else:
                    word = line.decode("ascii")
            if not piece:
                break
        else:
            now_used = cpu_seconds(pid)
            if patience == 0 or now_used - used < 0.05:
                word = "timeout"
            patience, used, began = patience - 1, now_used, time.monotonic()
    os.close(pipe)
    status = end(pid)
    computed = not word and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF
    if not word:
        word = "timeout" if computed else "failed"
    return Fate(word, position, computed)


def end(pid: int) -> int:
    """Kill a child's process group and whatever it has left behind; return its wait status."""
    _kill_group(pid)
    _, status = os.waitpid(pid, 0)
    for _ in range(1000):  # a process in uninterruptible sleep cannot be ended, only left
        try:
            orphan, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if orphan == 0:
            for other in _children():
                _kill_group(other)
                with contextlib.suppress(OSError):
                    os.kill(other, signal.SIGKILL)
            time.sleep(0.001)
    return status


def _kill_group(pid: int) -> None:
    with contextlib.suppress(OSError):
        # A child that has not come as far as its own session yet is killed below by its id.
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def _children() -> list[int]:
    with (
        contextlib.suppress(OSError, ValueError),
        open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file,
    ):
        return [int(word) for word in file.read().split()]
    return []


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process has used; 0 if it cannot be told."""
    with (
        contextlib.suppress(OSError, ValueError, IndexError),
        open(f"/proc/{pid}/stat", encoding="ascii") as file,
    ):
        fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0
