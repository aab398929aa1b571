"""Running one command to its end: its output bounded, its time limited, none of its processes left behind."""

from __future__ import annotations

import math
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.errors import SandboxError
from bot.sandbox import Completed, Limits, diskroom, loading
from bot.sandbox.answers import text
from bot.sandbox.leftovers import end_processes
from bot.sandbox.watching import CHUNK, KILLED, Stream

GRACE_S = 20.0
"""How long past its limit a command's keeper may take to end everything before it is ended itself."""
NAP_S = 0.5


@dataclass(frozen=True, slots=True)
class Opened:
    """What the disk was like when a sandbox was opened: see `diskroom.DiskRoom`."""

    since: float
    free: int
    places: tuple[str, ...]

    @classmethod
    def now(cls, *places: Path) -> Opened:
        """Look at the directories that the sandbox may write to, the first of which tells the file system."""
        return cls(time.time() - 1, diskroom.free(str(places[0])), tuple(map(str, places)))


def execute(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
    timeout_s: float,
    stdin: bytes = b"",
    mark: str = "",
    opened: Opened | None = None,
) -> Completed:
    """Run a command and return when it and everything it started are gone.

    Args:
        command: An executable and its arguments.
        env: The whole environment.
        timeout_s: Seconds of wall time; past them everything is killed and `timed_out` set.
        stdin: What the command reads; after it, the end of the file.
        mark: A text that is in the environment of this sandbox's processes only: by it they are found and killed, should
            the command manage to kill what watches over it.
        opened: Where the disk is to be watched; None watches nothing.

    Returns:
        What it printed and how it ended; a command that a signal killed has exit code 128 + signal.

    Raises:
        SandboxError: The command could not be started.
    """
    started = time.monotonic()
    control = os.pipe()
    status = os.pipe()
    source = _source(stdin)
    keeper: subprocess.Popen[bytes] | None = None
    try:
        try:
            keeper = subprocess.Popen(
                _kept(command, limits, timeout_s, opened, reads=control[0], reports=status[1]),
                cwd=cwd,
                env=dict(env),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(control[0], status[1]),
                start_new_session=True,
            )
        except (OSError, ValueError) as problem:
            raise SandboxError(f"The sandbox could not start `{command[0]}`: {problem}.") from problem
        os.close(status[1])
        status = (status[0], -1)
        out, err = Stream(limits.output), Stream(limits.output)
        verdict = _follow(keeper, status[0], out, err, started + timeout_s + GRACE_S)
    finally:
        # Closing `control` makes the keeper end everything, whatever interrupted us, even between fork and here.
        for fd in (*control, *status, source):
            if fd >= 0:
                os.close(fd)
        if keeper is not None:
            _dismiss(keeper)
            if keeper.returncode and mark:
                end_processes(mark)
    return _completed(verdict, text(*out.parts()), text(*err.parts()), time.monotonic() - started, limits)


def _kept(
    command: Sequence[str],
    limits: Limits,
    timeout_s: float,
    opened: Opened | None,
    *,
    reads: int,
    reports: int,
) -> list[str]:
    """Return the command line that runs a command below a keeper.

    Args:
        reads: The descriptor whose end tells the keeper to end everything.
        reports: The descriptor that it writes to how the command ended.
    """
    program = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        loading.FROM_FILES,
        loading.files("watching", "diskroom", "keeper"),
    ]
    cpu_seconds = math.ceil(timeout_s + 1) * (os.cpu_count() or 1)
    bounds = [timeout_s, limits.memory, limits.file_size, limits.processes, cpu_seconds]
    seen = opened or Opened(0.0, 0, ())
    disk = [str(seen.since), str(limits.disk), str(seen.free), "\n".join(seen.places)]
    return [*program, str(reads), str(reports), *map(str, bounds), *disk, *command]


def _source(stdin: bytes) -> int:
    """Return a descriptor that gives these bytes and then ends."""
    if not stdin:
        return os.open(os.devnull, os.O_RDONLY)
    source = os.memfd_create("stdin")
    view = memoryview(stdin)
    while view:
        view = view[os.write(source, view) :]
    os.lseek(source, 0, os.SEEK_SET)
    return source


def _follow(keeper: subprocess.Popen[bytes], status: int, out: Stream, err: Stream, give_up: float) -> bytes:
    """Read both streams until the keeper reports; returns its report, empty if it gave none."""
    assert keeper.stdout is not None
    assert keeper.stderr is not None
    sinks = {keeper.stdout.fileno(): out, keeper.stderr.fileno(): err}
    report = b""
    reported = False
    with selectors.DefaultSelector() as selector:
        for fd in (*sinks, status):
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            left = give_up - time.monotonic()
            # After the report nothing can write any more (but for what could not be killed): take what is there.
            # In naps: a thread that is to stop hears of it between two of them.
            ready = selector.select(0 if reported else max(min(left, NAP_S), 0))
            if not ready and (reported or left <= NAP_S):
                break
            for key, _ in ready:
                data = os.read(key.fd, CHUNK)
                if not data:
                    selector.unregister(key.fd)
                    reported = reported or key.fd == status
                elif key.fd == status:
                    report += data
                else:
                    sinks[key.fd].add(data)
    return report


def _dismiss(keeper: subprocess.Popen[bytes]) -> None:
    """Wait for the keeper, which ends by itself once its control is closed; end it if it does not."""
    for stream in (keeper.stdout, keeper.stderr):
        if stream is not None:
            stream.close()
    try:
        keeper.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait()


def _completed(report: bytes, stdout: str, stderr: str, duration_s: float, limits: Limits) -> Completed:
    """Turn the keeper's report into what the caller sees."""
    code, _, reason = report.decode().partition(" ")
    if reason == "time":
        return Completed(None, stdout, stderr, duration_s, timed_out=True)
    why = {
        "processes": f"more than {limits.processes} processes at once",
        "memory": f"more than {limits.memory // 1024**2} MB of memory",
        "disk": f"more than {limits.disk // 1024**2} MB of disk",
        "": "the command killed what watched over it",
    }.get(reason)
    if why is None:
        return Completed(int(code), stdout, stderr, duration_s)
    return Completed(KILLED, stdout, f"{stderr}\ntestforge: stopped, {why}\n", duration_s)
