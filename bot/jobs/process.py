"""A run's own process, seen from the worker: started, listened to, stopped, and started again if it was killed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.jobs.assignment import AGAIN, Assignment, Result
from bot.jobs.office import Interrupted
from bot.models.redaction import redact

LOOK_S = 1.0
"""How often it is looked whether the run is still wanted."""
PATIENCE_S = 20.0
"""How long a process that is asked to stop may clean up."""
LIVES = 3
"""How often a process is started whose sandbox broke, or that somebody killed, such as the system for want of memory."""
LOG_BYTES = 4000

Progress = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Watch:
    """What to do while a process runs.

    Attributes:
        progress: Is told of every line of progress, as `bot.domain.Progress` has it.
        unwanted: Says why the run is not wanted any more; empty while it is.
        stopping: Set when this worker is to end.
        limit_s: How long the run may take.
    """

    progress: Callable[[Progress], None]
    unwanted: Callable[[], str]
    stopping: threading.Event
    limit_s: float


@dataclass(frozen=True, slots=True)
class End:
    """How a run's process ended: with a result, or unwanted for a reason; `log` is the end of what it wrote."""

    result: Result
    unwanted: str = ""
    log: str = ""


@contextmanager
def room(work: Path, run: str) -> Iterator[str]:
    """Give an empty directory for a run, and remove it with all that is in it.

    Its name is the run's, so that whoever continues a run after a crash removes what is left of it.
    """
    place = work / hashlib.sha256(run.encode()).hexdigest()[:12]
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700, parents=True)
    try:
        yield str(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def carry_out(assignment: Assignment, watch: Watch) -> End:
    """Let a process carry out an assignment.

    Raises:
        Interrupted: This worker is to end.
    """
    ends = time.monotonic() + watch.limit_s
    said = ""
    for life in range(1, LIVES + 1):
        path = replace(assignment, is_last=life == LIVES).save()
        code, said, unwanted = _one_life(assignment, path, watch, ends)
        result = Result.load(assignment.result)
        if result is not None or unwanted:
            return End(result or Result(), unwanted, said)
        if time.monotonic() > ends:
            minutes = round(watch.limit_s / 60)
            return End(Result(failure=f"The run took longer than {minutes} minutes and was ended."), log=said)
        if code not in (AGAIN, -signal.SIGKILL):  # it would end in the same way again
            break
    return End(
        Result(failure="The run's process ended without a result; the server's log says more."), log=said
    )


def _one_life(assignment: Assignment, path: Path, watch: Watch, ends: float) -> tuple[int, str, str]:
    """Start the process and stay with it; return its exit code, the end of its log, and why it was not wanted."""
    with Child(assignment, path) as child:
        looked = 0.0
        while True:
            for progress in child.heard(LOOK_S):
                watch.progress(progress)
            if child.has_ended():
                return child.code, child.log(), ""
            if watch.stopping.is_set():
                raise Interrupted
            if time.monotonic() > ends:
                child.stop()
                return child.code, child.log(), ""
            if time.monotonic() - looked >= LOOK_S:
                looked = time.monotonic()
                reason = watch.unwanted()
                if reason:
                    child.stop()
                    return child.code, child.log(), reason


class Child:
    """The process itself; when the context ends, so has it."""

    def __init__(self, assignment: Assignment, path: Path) -> None:
        self._log_path = Path(assignment.directory, "log")
        with self._log_path.open("wb") as log:
            self._process = subprocess.Popen(
                # -P: what lies in the directory that the server was started in is not found by its children.
                [sys.executable, "-P", "-m", "bot.jobs.child", str(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "TMPDIR": assignment.directory},
            )
        self._lines: queue.SimpleQueue[Progress | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._ended = False

    @property
    def code(self) -> int:
        """Its exit code; negative is the signal that killed it."""
        return self._process.wait()

    def heard(self, timeout_s: float) -> Iterator[Progress]:
        """Yield what it said since, waiting for something to be said at most so long."""
        with contextlib.suppress(queue.Empty):
            line = self._lines.get(timeout=timeout_s)
            while line is not None:
                yield line
                line = self._lines.get_nowait()
            self._ended = True

    def has_ended(self) -> bool:
        """Return whether it has ended, and all that it said was heard."""
        return self._ended

    def log(self) -> str:
        """Return the end of what it wrote to its standard error, without secrets."""
        with contextlib.suppress(OSError):
            return redact(self._log_path.read_bytes()[-LOG_BYTES:].decode("utf-8", "replace"))
        return ""

    def stop(self) -> None:
        """End it: it is asked first, so that it can remove its containers."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=PATIENCE_S)
        self._kill()

    def _kill(self) -> None:
        """End whatever is left of its group. Its containers end with the connection that it held to them."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                data = json.loads(line)
                if isinstance(data, dict):
                    self._lines.put(data)
        self._lines.put(None)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exception: object) -> None:
        if exception[0] is Interrupted and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=PATIENCE_S / 2)
        self._kill()
        self._reader.join(timeout=5)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()
