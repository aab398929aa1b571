"""Runs a job's tests in child processes and blames a child's death or a hang on the test that was running.

The job, a JSON object:
    tree, scratch, results   absolute paths: the repository's copy, a writable directory, the journal to write
    selection                files and node ids; empty is the repository's default collection
    cover                    source files to trace
    order_seed               a number to shuffle by, or null
    elsewhere                whether tests see another machine (`elsewhere.py`)
    timeout_s                for everything
    test_timeout_s           for one test, and for importing one test file

None of the repository's code runs in this process (`clerk.py`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Any

from .clerk import END, Clerk
from .order import Order

RESTARTS = 30
"""How often the rest of a suite is started again after a test that ended the interpreter or hung."""
POLL_S = 0.05
PHANTOM = os.path.join(os.path.dirname(os.path.realpath(__file__)), "phantom.py")


def main(job: dict[str, Any]) -> int:
    """Run the tests of a job; what happened is in the journal.

    Args:
        job: See the module's text.

    Returns:
        0; the outcome of tests is no exit code.
    """
    clerk = Clerk(job)
    before = _contents(job)
    progress = _Progress(job, clerk)
    progress.leave_out_missing_files()
    while progress.unfinished:
        progress.start_attempt()
        progress.settle(_attempt(job, clerk, progress))
    for path, content in _contents(job).items():
        if before.get(path, content) != content:
            clerk.note("forged", message=f"the tests changed {path} while they ran")
    clerk.write(END)
    return 0


def _contents(job: dict[str, Any]) -> dict[str, bytes]:
    """Return the source files to trace, those that are there."""
    found = {}
    for path in job["cover"]:
        with contextlib.suppress(OSError), open(os.path.join(job["tree"], path), "rb") as file:
            found[path] = file.read()
    return found


def _attempt(job: dict[str, Any], clerk: Clerk, progress: _Progress) -> str:
    """Run what is left in a child process until it ends or a limit is reached, and return how it ended."""
    child = clerk.start("run", done=sorted(progress.done), ignored=sorted(progress.ignored), phantom=PHANTOM)
    busy, since = "", time.monotonic()
    while True:
        clerk.wait(POLL_S)
        ended, status = os.waitpid(child, os.WNOHANG)
        now = time.monotonic()
        for line, known in clerk.lines(lambda sender: sender == child):
            if known:
                progress.read(line)
        if ended:
            reason = _how(status)
            break
        if progress.forged:
            reason = "it was ended"
            break
        if progress.order.doing != busy:
            busy, since = progress.order.doing, now
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
        order: What the present child has said.
        deadline: Of the whole run, on the monotonic clock.
        forged: Whether something else than the guest has written results; nothing more is run then.
    """

    def __init__(self, job: dict[str, Any], clerk: Clerk) -> None:
        self._job = job
        self._clerk = clerk
        self.deadline = time.monotonic() + job["timeout_s"]
        self.done: set[str] = set()
        self.ignored: set[str] = set()
        self.unfinished = True
        self.forged = False
        self._attempts = 0
        self.start_attempt()

    def start_attempt(self) -> None:
        """Forget what the last child was doing."""
        self.order = Order(os.path.relpath(PHANTOM, os.path.realpath(self._job["tree"])))
        self._before = len(self.done) + len(self.ignored)

    def leave_out_missing_files(self) -> None:
        """Set files aside that were asked for and do not exist, over which pytest would run nothing at all."""
        for name in sorted({name.partition("::")[0] for name in self._job["selection"]}):
            if not os.path.exists(os.path.join(self._job["tree"], name)):
                self._set_aside(name, "there is no such file")
        self.unfinished = self._any_file_left()

    def read(self, line: bytes) -> None:
        """Take in what the child has said."""
        if self.forged:
            return
        try:
            event, kept = self.order.take(line)
        except ValueError as problem:
            self._clerk.note("forged", message=str(problem))
            self.forged = True
            return
        if event["event"] == "test":
            self.done.add(event["id"])
        if kept:
            self._clerk.write(line)

    def settle(self, reason: str) -> None:
        """Blame what a child was doing when it ended, and decide whether the rest needs another child.

        Args:
            reason: How it ended.
        """
        order = self.order
        if self.forged:
            self.unfinished = False
            return
        if order.ids is None and order.busy:
            hung = reason.startswith("timed out")
            self._set_aside(
                order.busy, reason if hung else f"exited the interpreter: {order.problem or reason}"
            )
        elif order.ids is None:
            self._crash(order.problem or f"{reason} before the tests were collected")
            return
        elif order.busy:
            self._blame(order.busy, reason)
        elif order.last and not order.twin and order.phase != "over" and not order.problem:
            # As if by something that the test has left behind; nothing that it has said before counts.
            self._blame(order.last, f"{reason} just after the test")
        rest = order.ids - self.done if order.ids is not None else self.ignored
        self.unfinished = bool(rest) and self._any_file_left()
        if not self.unfinished:
            return
        self._attempts += 1
        if time.monotonic() > self.deadline:
            self._crash(f"timed out after {self._job['timeout_s']:g} s")
        elif len(self.done) + len(self.ignored) == self._before:
            self._crash(order.problem or "pytest stopped before all tests had run")
        elif self._attempts > RESTARTS:
            self._crash(f"gave up after {RESTARTS} tests that ended the interpreter or hung")

    def _blame(self, test: str, reason: str) -> None:
        hung = reason.startswith("timed out")
        self._clerk.note(
            "test",
            id=test,
            outcome="timed out" if hung else "error",
            duration=0.0,
            message=reason if hung else f"exited the interpreter: {self.order.problem or reason}",
            detail="",
            assertion=False,
        )
        self.done.add(test)

    def _set_aside(self, path: str, message: str) -> None:
        self._clerk.note("uncollectable", path=path, message=message)
        self.ignored.add(path)

    def _crash(self, message: str) -> None:
        self._clerk.note("crash", message=message)
        self.unfinished = False

    def _any_file_left(self) -> bool:
        asked = {name.partition("::")[0] for name in self._job["selection"]}
        return not asked or bool(asked - self.ignored)
