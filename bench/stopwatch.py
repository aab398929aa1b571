"""What a block of work costs: wall time, CPU time, memory."""

from __future__ import annotations

import contextlib
import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds."""

    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)

    def each(self, number: int) -> Spent:
        """Return the share of one of so many."""
        return Spent(self.wall / max(1, number), self.cpu / max(1, number))


@contextmanager
def stopwatch() -> Iterator[Callable[[], Spent]]:
    """Measure a block: wall time, and CPU time of this process and those it waited for."""
    spent: list[Spent] = []
    wall, cpu = time.monotonic(), _cpu()
    yield lambda: spent[0]
    spent.append(Spent(time.monotonic() - wall, _cpu() - cpu))


def _cpu() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@contextmanager
def memory_watch(every_s: float = 0.05) -> Iterator[Callable[[], float]]:
    """Watch the memory of all processes below this one: the largest sum seen of their proportional shares, in MB."""
    peak = [0.0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(every_s):
            peak[0] = max(peak[0], sum(_share(process) for process in processes_below(os.getpid())))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: peak[0]
    finally:
        ended.set()
        watcher.join()


def processes_below(process: int) -> Iterator[int]:
    """Yield the ids of all processes that a process has started, directly or not."""
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (task / "children").read_text(encoding="ascii").split()):
                yield child
                yield from processes_below(child)


def _share(process: int) -> float:
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0
