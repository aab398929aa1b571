"""What code under test may not do while the probe tries inputs on it: refused by an audit hook, bounded by limits."""

from __future__ import annotations

import os
import resource
import signal
import sys
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
_BEAT_SECONDS = 0.1
_BEATS = 2


class RefusedError(BaseException):
    """The code tried to leave the probe: the case is dropped."""


class OverdueError(BaseException):
    """The safety net of processor time was hit: something ran on where no step is counted."""


class Guard:
    """Refuses dangerous events while armed, and remembers that it did."""

    def __init__(self) -> None:
        self.armed = False
        self.touched = ""
        self.beats = 0

    def install(self) -> None:
        """Install the audit hook and the limits; they stay for the process's life."""
        sys.addaudithook(self._hook)
        self.watch_time()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
        if soft == resource.RLIM_INFINITY or soft > limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))

    def watch_time(self) -> None:
        """Start the net of processor time, which a forked process does not inherit."""
        signal.signal(signal.SIGPROF, self._beat)
        signal.setitimer(signal.ITIMER_PROF, _BEAT_SECONDS, _BEAT_SECONDS)

    @staticmethod
    def leave_time() -> None:
        """Stop the net: at its very end the interpreter could not take a signal any more."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    @staticmethod
    def limit_processor(seconds: int) -> None:
        """Let the system end this process after so much more processor time: no code can hold that up."""
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        soft = int(used) + 1 + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard < 0 else min(soft, hard), hard))

    def arm(self) -> None:
        """Guard what runs from here on."""
        self.touched = ""
        self.beats = 0
        self.armed = True

    def _beat(self, *_: Any) -> None:
        self.beats += 1
        if self.armed and self.beats > _BEATS:
            self.beats = -4 * _BEATS  # time to clean up; if the code swallowed it, it comes again
            raise OverdueError

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        if event == "open":
            self._open(args)
        elif event.startswith(_REFUSED):
            self.touched = event
            raise RefusedError(event)

    def _open(self, args: tuple[Any, ...]) -> None:
        path, mode, flags = (*args, None, None, None)[:3]
        writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        writes = writes or (isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)))
        if writes:
            self.touched = "open"
            raise RefusedError("open")
        if isinstance(path, int) or not str(path).endswith(
            (".py", ".pyc", ".json", ".mo", ".txt", ".toml", ".so")
        ):
            self.touched = "read"
