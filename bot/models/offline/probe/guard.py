"""What code under test may not do while the probe tries inputs on it: refused by an audit hook, bounded by limits."""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
from typing import Any

_REFUSED = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.kill",
    "os.remove", "os.rename", "os.rmdir", "os.unlink", "os.mkdir", "os.chmod", "os.chown", "os.link", "os.symlink",
    "os.truncate", "os.putenv", "os.unsetenv", "os.startfile", "os.chdir", "os.utime", "shutil.", "ctypes.", "ftplib.",
    "smtplib.", "urllib.", "http.client.", "webbrowser.", "pty.", "signal.", "resource.", "sqlite3.connect", "winreg.",
    "imaplib.", "poplib.", "telnetlib.", "nntplib.", "syslog.", "glob.glob", "os.listdir", "os.scandir", "os.walk",
    "time.sleep", "builtins.input", "builtins.breakpoint", "threading.", "_thread.start", "cpython.run_",
)  # fmt: skip
MEMORY_BYTES = 3 << 30
WALL_SECONDS = 2.0


class Refused(BaseException):
    """The code tried to leave the probe: the case is dropped."""


class Overdue(BaseException):
    """The safety net of wall time was hit: something ran on where no step is counted."""


class Guard:
    """Refuses dangerous events while armed, and remembers that it did."""

    def __init__(self) -> None:
        self.armed = False
        self.touched = ""
        self.home = os.path.realpath(tempfile.gettempdir()) + os.sep

    def install(self) -> None:
        """Install the audit hook and the limits; they stay for the process's life."""
        sys.addaudithook(self._hook)
        signal.signal(signal.SIGALRM, _overdue)
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
        if soft == resource.RLIM_INFINITY or soft > limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        if event == "open":
            self._open(args)
        elif event.startswith(_REFUSED):
            self.touched = event
            raise Refused(event)

    def _open(self, args: tuple[Any, ...]) -> None:
        path, mode, flags = (*args, None, None, None)[:3]
        writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        writes = writes or (isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)))
        if writes:
            self.touched = "open"
            raise Refused("open")
        if isinstance(path, int) or not str(path).endswith(
            (".py", ".pyc", ".json", ".mo", ".txt", ".toml", ".so")
        ):
            self.touched = "read"


def _overdue(*_: Any) -> None:
    raise Overdue


def alarm(seconds: float) -> None:
    """Set the safety net of wall time; 0 takes it away."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
