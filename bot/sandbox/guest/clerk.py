"""The clerk keeps the results of a job: it starts the process in which the repository's code runs, and runs none itself.

Results reach it as letters (`letterbox.py`); it seals them with the host's key (`seal.py`) and writes them to a file.
What holds by this, for all that the code under test may do: once a line is in the file it can neither be changed nor be
taken away unnoticed, and nobody but the process that is to report can add one: no child of a test, no process that
outlives it, no handler that runs at exit.

What does not hold: within the process that reports, the code under test and the reporting code are equals. Tests for
that (`canary.py`, `order.py`) find what makes everything pass or covers everything, and whatever breaks the order of
events; an attack that was written against these very files is not found. It deceives the evidence of its own pull
request, and nothing else: another run has its own container, its own copy, its own key.

The host calls `keep.py PROGRAM JOB.json`, with the key on standard input.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .letterbox import Letterbox
from .seal import LENGTH, Seal

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
END = b'{"event": "end"}\n'
"""The last line of results that are complete."""
PROBLEM = b'{"problem": '
"""How a line begins that anybody may write: it makes the whole job fail."""


class Clerk:
    """Keeps the results of one job; it also ends whatever it has started, should it be ended itself.

    Args:
        job: The job; `results` is the file to write, which does not exist yet.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        _close_to_others()
        self._seal = Seal(_taken_key())
        self._job = job
        self._file = os.open(job["results"], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self._letterbox = Letterbox()
        self._started = 0
        # A child's end wakes `wait` at once.
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._woken = woken

    def start(self, program: str, **more: Any) -> int:
        """Start a program of the guest in a session of its own, and return its process id.

        Args:
            program: The script's name without `.py`.
            **more: Added to the job.
        """
        self._started += 1
        file = os.path.join(self._job["scratch"], f"{program}-{self._started}.json")
        with open(file, "w", encoding="utf-8") as stream:
            json.dump({**self._job, **more, "results": self._letterbox.address}, stream)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{program}.py")
        child = os.fork()
        if not child:
            try:
                os.setsid()
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                os.execv(sys.executable, [sys.executable, script, file])
            finally:
                os._exit(127)
        return child

    def wait(self, seconds: float) -> None:
        """Wait until a letter has come, a child has ended, or the time is over."""
        ready, _, _ = select.select([self._letterbox.fileno(), self._woken], [], [], seconds)
        if self._woken in ready:
            os.read(self._woken, 1 << 12)

    def lines(self, trusted: Callable[[int], bool]) -> Iterator[tuple[bytes, bool]]:
        """Yield the lines posted by now, and whether a trusted process has posted each."""
        for letter, known in self._letterbox.letters(trusted):
            for line in letter.splitlines(keepends=True):
                yield line, known

    def write(self, line: bytes) -> None:
        """Add a line to the results."""
        sealed = self._seal.closed(line)
        while sealed:
            sealed = sealed[os.write(self._file, sealed) :]

    def note(self, event: str, **fields: Any) -> None:
        """Add a line of the clerk's own."""
        self.write(json.dumps({"event": event, **fields}).encode("ascii") + b"\n")


def main(job: dict[str, Any]) -> int:
    """Keep the results of a program that needs no more than that.

    Args:
        job: See the program, whose name is `program`.

    Returns:
        The program's exit code; 128 and the signal's number if one has ended it.
    """
    clerk = Clerk(job)
    child = clerk.start(job["program"])

    def trusted(sender: int) -> bool:
        # Tests and mutants run in sessions of their own; whoever posts waits for an answer, so it is still there.
        try:
            return os.getsid(sender) == child
        except OSError:
            return False

    ended = 0
    while not ended:
        clerk.wait(1.0)
        ended, status = os.waitpid(child, os.WNOHANG)
        for line, known in clerk.lines(trusted):
            if known or line.startswith(PROBLEM):
                clerk.write(line)
    clerk.write(END)
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _close_to_others() -> None:
    """Keep other processes of this user out of this one's memory and files, and let it not outlive its parent."""
    library = ctypes.CDLL(None)
    library.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _taken_key() -> bytes:
    """Read the key from standard input and leave nothing of it there for anyone else."""
    key = os.read(0, LENGTH)
    if len(key) != LENGTH:
        raise SystemExit("the guest needs a key on its standard input")
    # Whoever can open the descriptors of a process (gVisor lets its user) finds an empty file.
    with contextlib.suppress(OSError):  # a pipe, which is empty now
        os.ftruncate(0, 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return key
