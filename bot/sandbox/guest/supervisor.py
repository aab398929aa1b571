"""Runs a job's tests in child processes and blames a child's death or a hang on the test that was running.

The job, a JSON object:
    tree, scratch, results   absolute paths: the repository's copy, a writable directory, the journal to write
    selection                files and node ids; empty is the repository's default collection
    cover                    source files to trace
    order_seed               a number to shuffle by, or null
    timeout_s                for everything
    test_timeout_s           for one test, and for importing one test file
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Any

from . import worker
from .journal import Journal, Reader

RESTARTS = 30
"""How often the rest of a suite is started again after a test that ended the interpreter or hung."""
POLL_S = 0.05


def main(job: dict[str, Any]) -> int:
    """Run the tests of a job; what happened is in the journal.

    Args:
        job: See the module's text.

    Returns:
        0; the outcome of tests is no exit code.
    """
    # A child's end wakes the loop below at once.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    progress = _Progress(job)
    progress.leave_out_missing_files()
    while progress.unfinished:
        progress.start_attempt()
        progress.settle(_attempt(job, progress))
    return 0


def _attempt(job: dict[str, Any], progress: _Progress) -> str:
    """Run what is left in a child process until it ends or a limit is reached, and return how it ended."""
    child = os.fork()
    if not child:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        worker.work(job, progress.done, progress.ignored)
    busy, since = "", time.monotonic()
    while True:
        signal.sigtimedwait([signal.SIGCHLD], POLL_S)
        ended, status = os.waitpid(child, os.WNOHANG)
        now = time.monotonic()
        progress.read()
        if ended:
            reason = _how(status)
            break
        if progress.busy != busy:
            busy, since = progress.busy, now
        if now > progress.deadline or (busy and now - since > job["test_timeout_s"]):
            limit = min(job["test_timeout_s"], now - since)
            reason = f"timed out after {limit:.3g} s"
            break
    _end(child, reaped=bool(ended))
    return reason


def _end(child: int, reaped: bool) -> None:
    """Kill a child and what it left behind in its process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if not reaped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"the process was killed by signal {os.WTERMSIG(status)}"
    return f"the process exited with code {os.WEXITSTATUS(status)}"


class _Progress:
    """What is known of a run over all its child processes.

    Attributes:
        done: Node ids that have a result.
        ignored: Test files that cannot be imported.
        busy: What the child is doing now: a node id, or a file that is being imported; "" between the two.
        deadline: Of the whole run, on the monotonic clock.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job
        self._journal = Journal(job["results"])
        self._reader = Reader(job["results"])
        self.deadline = time.monotonic() + job["timeout_s"]
        self.done: set[str] = set()
        self.ignored: set[str] = set()
        self.unfinished = True
        self.busy = ""
        self._attempts = 0
        self.start_attempt()

    def start_attempt(self) -> None:
        """Forget what the last child was doing."""
        self.busy = ""
        self._waiting: set[str] | None = None
        self._problem = ""
        self._before = len(self.done) + len(self.ignored)

    def leave_out_missing_files(self) -> None:
        """Set files aside that were asked for and do not exist, over which pytest would run nothing at all."""
        for name in sorted({name.partition("::")[0] for name in self._job["selection"]}):
            if not os.path.exists(os.path.join(self._job["tree"], name)):
                self._set_aside(name, "there is no such file")
        self.unfinished = self._any_file_left()

    def read(self) -> None:
        """Take in what is new in the journal."""
        for event in self._reader.new():
            kind = event["event"]
            if kind == "begin":
                self.busy = event["id"]
            elif kind == "test":
                self.done.add(event["id"])
                self.busy = ""
            elif kind == "collecting":
                self.busy = event["path"] if event["path"].endswith(".py") else ""
            elif kind == "collected":
                self._waiting = set(event["ids"])
                self.busy = ""
            elif kind == "problem":
                self._problem = event["message"]

    def settle(self, reason: str) -> None:
        """Blame what a child was doing when it ended, and decide whether the rest needs another child.

        Args:
            reason: How it ended.
        """
        if self.busy and self._waiting is not None:
            self._blame(reason)
        elif self.busy:
            hung = reason.startswith("timed out")
            self._set_aside(
                self.busy, reason if hung else f"exited the interpreter: {self._problem or reason}"
            )
        elif self._waiting is None:
            self._crash(self._problem or f"{reason} before the tests were collected")
            return
        rest = self._waiting - self.done if self._waiting is not None else self.ignored
        self.unfinished = bool(rest) and self._any_file_left()
        if not self.unfinished:
            return
        self._attempts += 1
        if time.monotonic() > self.deadline:
            self._crash(f"timed out after {self._job['timeout_s']:g} s")
        elif len(self.done) + len(self.ignored) == self._before:
            self._crash(self._problem or "pytest stopped before all tests had run")
        elif self._attempts > RESTARTS:
            self._crash(f"gave up after {RESTARTS} tests that ended the interpreter or hung")

    def _blame(self, reason: str) -> None:
        hung = reason.startswith("timed out")
        self._journal.write(
            "test",
            id=self.busy,
            outcome="timed out" if hung else "error",
            duration=0.0,
            message=reason if hung else f"exited the interpreter: {self._problem or reason}",
            detail="",
            assertion=False,
        )
        self.done.add(self.busy)

    def _set_aside(self, path: str, message: str) -> None:
        self._journal.write("uncollectable", path=path, message=message)
        self.ignored.add(path)

    def _crash(self, message: str) -> None:
        self._journal.write("crash", message=message)
        self.unfinished = False

    def _any_file_left(self) -> bool:
        asked = {name.partition("::")[0] for name in self._job["selection"]}
        return not asked or bool(asked - self.ignored)
