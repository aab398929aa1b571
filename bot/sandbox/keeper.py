"""Runs one command and stays until every process it started is gone; started by itself (`loading.py`), never imported.

Its arguments: CONTROL STATUS SECONDS MEMORY FILE_SIZE PROCESSES CPU SINCE DISK FREE PLACES COMMAND...

CONTROL and STATUS are file descriptors. The keeper adopts whatever its command leaves behind (it is a "child
subreaper"), so that a daemon that has left the process group is still found. It ends the command when time is up,
when it holds too much memory or too many processes, when PLACES (one a line) hold too much (`diskroom.py`), or when the other end of CONTROL is closed: that also happens when testforge
itself is killed. At the end it writes `EXIT_CODE REASON` to STATUS. It is short and imports little, because it
starts once for each command.
"""

# pathlib and contextlib would cost more to import than all the rest (pyproject lets ruff allow it).

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import time

from bot.sandbox.diskroom import DiskRoom
from bot.sandbox.watching import KILLED, become, reap

PR_SET_CHILD_SUBREAPER = 36
FIRST_TICK_S, LAST_TICK_S = 0.01, 0.2
GIVE_UP_S = 10.0


def descendants() -> set[int]:
    """Return the processes below this one, in any process group and session."""
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        pid = waiting.pop()
        try:
            tasks = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    below = {int(text) for text in file.read().split()} - found
            except OSError:
                continue
            found |= below
            waiting.extend(below)
    return found


def memory_of(pids: set[int]) -> int:
    """Return the bytes of memory that processes hold."""
    pages = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm") as file:
                pages += int(file.read().split()[1])
        except (OSError, IndexError):
            continue
    return pages * resource.getpagesize()


def signal_all(pids: set[int], number: int) -> None:
    """Send a signal to each process that is still there."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass  # it has ended by itself, or is not ours to end


def sweep(command: int, code: int | None) -> int | None:
    """End every descendant. They are stopped first: what is stopped cannot fork while its siblings are killed."""
    give_up = time.monotonic() + GIVE_UP_S
    while time.monotonic() < give_up:
        stopped: set[int] = set()
        while fresh := descendants() - stopped:
            signal_all(fresh, signal.SIGSTOP)
            stopped |= fresh
            if time.monotonic() > give_up:
                break
        signal_all(stopped, signal.SIGKILL)
        code, left = reap(command, code)
        if not left:
            break
        time.sleep(0.001)
    return code


def start(command: list[str], limits: dict[str, int]) -> int:
    """Start the command in a session of its own, under limits; returns its process id."""
    pid = os.fork()
    if not pid:
        os.setsid()
        become(command, limits, dict(os.environ))
    return pid


def watch(
    command: int, control: int, seconds: float, most: int, memory: int, room: DiskRoom | None
) -> tuple[int | None, str]:
    """Wait until the command ends or must end; returns its exit code, if it has one, and why it must."""
    poll = select.poll()
    poll.register(control, select.POLLIN | select.POLLHUP)
    slowest = LAST_TICK_S
    try:
        poll.register(os.pidfd_open(command), select.POLLIN)
    except OSError:
        slowest = FIRST_TICK_S  # an old kernel: look often instead of being told
    deadline = time.monotonic() + seconds
    tick = FIRST_TICK_S
    code: int | None = None
    while True:
        code, _ = reap(command, code)
        if code is not None:
            return code, "ended"
        left = deadline - time.monotonic()
        if left <= 0:
            return None, "time"
        running = descendants()
        if len(running) > most:
            return None, "processes"
        if memory_of(running) > memory:
            return None, "memory"
        if room is not None and room.is_over(running):
            return None, "disk"
        if any(fd == control for fd, _ in poll.poll(min(left, tick) * 1000)):
            return None, "closed"
        tick = min(tick * 2, slowest)


def main() -> None:
    """Run the command that the arguments describe."""
    control, status = int(sys.argv[1]), int(sys.argv[2])
    seconds = float(sys.argv[3])
    memory, file_size, processes, cpu = (int(text) for text in sys.argv[4:8])
    since, disk, free = float(sys.argv[8]), int(sys.argv[9]), int(sys.argv[10])
    places = sys.argv[11].splitlines()
    os.set_inheritable(control, False)
    os.set_inheritable(status, False)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    limits = {
        "RLIMIT_AS": memory,
        "RLIMIT_FSIZE": file_size,
        "RLIMIT_CPU": cpu,
        "RLIMIT_CORE": 0,
    }
    command = start(sys.argv[12:], limits)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    room = DiskRoom(since, disk, free, places) if places else None
    code, reason = watch(command, control, seconds, processes, memory, room)
    code = sweep(command, code)
    os.write(status, f"{KILLED if code is None else code} {reason}".encode())
