"""Watching over a command: what the keeper and a container's warden have in common.

They load it without the rest of testforge (`loading.py`), the warden under the container's Python, 3.9 or newer.
"""

# Neither typing nor collections: they would cost more to import than all the rest.

from __future__ import annotations

import os
import resource
import signal

CHUNK = 1 << 16
KILLED = 128 + signal.SIGKILL


class Stream:
    """The beginning and the end of what a command prints, each at most half of `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.half = max(limit // 2, 1)
        self.head, self.tail, self.seen = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.seen += len(data)
        room = max(self.half - len(self.head), 0)
        self.head += data[:room]
        self.tail += data[room:]
        if len(self.tail) > 2 * self.half:
            del self.tail[: -self.half]

    def parts(self) -> tuple[bytes, bytes, int]:
        """Return the beginning, the end, and how many bytes between them were left out."""
        tail = self.tail[-self.half :]
        return bytes(self.head), bytes(tail), self.seen - len(self.head) - len(tail)


def become(command: list[str], limits: dict[str, int], env: dict[str, str]) -> None:
    """In a new child that leads its own session: become a command, under limits.

    Args:
        limits: By the names of `resource`, such as `RLIMIT_AS`.
    """
    try:
        for name, value in limits.items():
            number = getattr(resource, name)
            hard = resource.getrlimit(number)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(command[0], command, env)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        os.write(2, f"{command[0]}: {reason}\n".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def reap(command: int, code: int | None) -> tuple[int | None, bool]:
    """Collect ended children; returns the command's exit code (once known) and whether any child is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code, False
        if pid == 0:
            return code, True
        if pid == command:
            code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
