"""Many programs on many inputs, each pair as if it ran alone: one fork a program, and a new one after any accident.

The job holds `grids`, each with `programs` (texts), `inputs` (expressions), `tests` (for each input its predicates over
`_`), and besides `order` (which programs to run, as pairs of grid and program), `limit_s` (CPU seconds a pair),
`memory` (bytes a process), `workers`, `alone` (a process for every pair, to check the rest against) and `draw` (the seed
of random numbers). Two lines are posted for each program, as it begins and as it ends:

    {"event": "program", "grid": 0, "program": 3}
    {"grid": 0, "program": 3, "kinds": ["value", ...], "texts": ["[1, 2]", ...], "tests": ["PF", ...]}

with one entry an input: what it gave, the text of its value or exception (null: none that could be told), and the
outcomes of its tests (`cells.py` names the letters). The first is posted by a single worker only: should the program end
that, it is known who did.

Programs run in sessions of their own, and the clerk takes no letter from there: a program can write to the one pipe that
its own cells come by, and to nothing else that is believed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .cells import (
    DIED,
    KINDS,
    LATE,
    LATE_EXIT,
    LOST,
    OUTCOMES,
    TIMEOUT,
    Cells,
    confine,
)
from .children import adopt_orphans, cpu_seconds, end, hide
from .letterbox import Sender
from .literals import LONGEST
from .reach import reaches_further

_NUMBER = struct.Struct("II")
_TICK_S = 0.03
"""CPU time is told in hundredths of a second."""
_WALL_FACTOR = 40
"""Wall seconds that a pair may take for each CPU second of its limit: it may sleep, and the machine may be busy."""


def main(job: dict[str, Any]) -> int:
    """Run the programs of a job; the exit code is 0."""
    hide()
    post = Sender(job["results"]).post
    queue, feed = os.pipe()
    order = job["order"]
    for module in dict.fromkeys(grid["module"] for grid in job["grids"] if grid["module"]):
        _import(module)
    gc.collect()
    gc.freeze()
    workers = []
    for _ in range(max(1, min(int(job["workers"]), len(order) or 1))):
        pid = os.fork()
        if pid == 0:
            try:
                os.close(feed)
                _work(job, queue, post)
            finally:
                os._exit(0)
        workers.append(pid)
    os.close(queue)
    with contextlib.suppress(BrokenPipeError), os.fdopen(feed, "wb") as numbers:
        for grid, program in order:
            numbers.write(_NUMBER.pack(grid, program))
    for pid in workers:
        os.waitpid(pid, 0)
    return 0


def _import(module: str) -> None:
    """Import a module, whatever it does: what it imports need not be imported again for each pair."""
    here = os.getpid()
    try:
        importlib.import_module(module)
    except BaseException:  # each program will show it
        if os.getpid() != here:
            os._exit(0)


def _work(job: Mapping[str, Any], queue: int, post: Callable[[bytes], None]) -> None:
    """Take programs from the queue until it is empty."""
    adopt_orphans()
    while True:
        taken = os.read(queue, _NUMBER.size)  # so few bytes are read at once or not at all
        if len(taken) < _NUMBER.size:
            return
        grid, program = _NUMBER.unpack(taken)
        if job["workers"] == 1:
            post(_line(event="program", grid=grid, program=program))
        post(_run(job, grid, program, queue))


def _run(job: Mapping[str, Any], grid: int, program: int, queue: int) -> bytes:
    """Run one program on all inputs of its grid, and return the line that says what it gave."""
    mine = job["grids"][grid]
    text, inputs, tests = mine["programs"][program], mine["inputs"], mine["tests"]
    single = bool(job.get("alone")) or reaches_further(text)
    rows: dict[int, tuple[str, Any, str]] = {}
    left = list(range(len(inputs)))
    while left:
        # A program that ran out of time in one process is known for it in the next.
        late = 0 if job.get("alone") else sum(row[0] == TIMEOUT for row in rows.values())
        cells = Cells(text, inputs, tests, float(job["limit_s"]), late, mine["module"], job["draw"])
        batch = left[:1] if job.get("alone") else left
        for number, kind, value, outcomes in _in_child(job, cells, batch, single, queue):
            rows[number] = (kind, value, outcomes)
        left = [number for number in left if number not in rows]
    done = [rows[number] for number in range(len(inputs))]
    return _line(
        grid=grid,
        program=program,
        kinds=[row[0] for row in done],
        texts=[row[1] for row in done],
        tests=[row[2] for row in done],
    )


def _line(**fields: Any) -> bytes:
    return json.dumps(fields).encode("ascii") + b"\n"


def _in_child(
    job: Mapping[str, Any], cells: Cells, batch: list[int], single: bool, queue: int
) -> Iterator[tuple[int, str, Any, str]]:
    """Yield what the inputs of a batch give, run in one forked process; up to the one that ends it, if any does."""
    tests = cells.tests
    out, back = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(out)
        os.close(queue)
        try:
            confine(int(job["memory"]))
            for row in cells.run(batch, single):
                os.write(back, json.dumps(row).encode("ascii") + b"\n")
        finally:
            os._exit(0)
    os.close(back)
    done = 0
    hung = False
    try:
        for line in _lines(pid, out, float(job["limit_s"])):
            found = _row(line, batch[done], tests)
            if found is None:  # only a program that writes where it must not says anything else
                break
            yield found
            done += 1
            if done == len(batch):
                return
        if single and done:
            return
    except TimeoutError:
        hung = True
    finally:
        os.close(out)
        status = end(pid)
    late = hung or (os.WIFEXITED(status) and os.WEXITSTATUS(status) == LATE_EXIT)
    yield batch[done], TIMEOUT if late else DIED, None, (LATE if late else LOST) * len(tests[batch[done]])


def _lines(pid: int, out: int, limit_s: float) -> Iterator[bytes]:
    """Yield the lines that a process writes.

    Raises:
        TimeoutError: It has computed or slept for too long since the last one.
    """
    pending = b""
    used, since = cpu_seconds(pid), time.monotonic()
    while True:
        ready, _, _ = select.select([out], [], [], limit_s)
        if not ready:
            # The process's own timer comes first, unless it computes where no signal is handled.
            if (
                cpu_seconds(pid) - used > 2 * limit_s + _TICK_S
                or time.monotonic() - since > _WALL_FACTOR * limit_s
            ):
                raise TimeoutError
            continue
        chunk = os.read(out, 1 << 16)
        if not chunk:
            return
        *lines, pending = (pending + chunk).split(b"\n")
        yield from lines
        if len(pending) > LONGEST * 8:
            return
        used, since = cpu_seconds(pid), time.monotonic()


def _row(line: bytes, number: int, tests: Any) -> tuple[int, str, Any, str] | None:
    """Return what a line says of an input; None if it is not what was asked for."""
    try:
        found, kind, text, outcomes = json.loads(line)
    except ValueError:
        return None
    whole = (
        found == number
        and kind in KINDS
        and (text is None or isinstance(text, str))
        and isinstance(outcomes, str)
        and len(outcomes) == len(tests[number])
        and not set(outcomes) - OUTCOMES
    )
    return (number, kind, text, outcomes) if whole else None
