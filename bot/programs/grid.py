"""What many untrusted programs give on many inputs, and which tests they pass: the table that TiCoder and CodeRM read.

The work is the guest's (`guest/matrix.py`); here are the questions, the answers, and the checks of what comes back.
"""

from __future__ import annotations

import json
import posixpath
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.errors import MeasureError
from bot.sandbox import Sandbox

LIMIT_S = 0.25
MEMORY = 1024**3
_ANSWER_BYTES = 1024**3

Kind = Literal["value", "raised", "timeout", "died", "unparsable"]


@dataclass(frozen=True, slots=True)
class Grid:
    """Programs to be run on inputs.

    Attributes:
        programs: Whole programs.
        inputs: Expressions, evaluated in a program's namespace, such as `f([1, 2])`.
        tests: For each input its tests: expressions over `_`, the value of the input, such as `_ == 3`.
        module: The dotted name of the module that the programs stand for, so that their imports work as its own do;
            it is imported once before them. Empty: they stand alone.
    """

    programs: tuple[str, ...]
    inputs: tuple[str, ...]
    tests: tuple[tuple[str, ...], ...]
    module: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one program gave on one input.

    Attributes:
        kind: A value, an exception, no end within the limit, the end of the interpreter; or the program does not parse.
        text: An expression for the value, or the exception's name; None where there is none.
        outcomes: A letter for each test of the input: P passed, F failed, E raised, T too late, X the interpreter ended.
    """

    kind: Kind
    text: str | None
    outcomes: str

    @property
    def passed(self) -> tuple[bool, ...]:
        """Whether each test of the input passed."""
        return tuple(letter == "P" for letter in self.outcomes)


def run_grids(
    box: Sandbox,
    grids: Sequence[Grid],
    *,
    limit_s: float = LIMIT_S,
    memory: int = MEMORY,
    workers: int = 2,
    alone: bool = False,
    timeout_s: float = 3600.0,
) -> tuple[tuple[tuple[Cell, ...], ...], ...]:
    """Run every program of every grid on every input of its grid.

    Args:
        box: An open sandbox; its tree does not matter.
        grids: What to run.
        limit_s: CPU seconds that an input with one of its tests may take.
        memory: Bytes of address space that a program may use.
        workers: Processes that share the work.
        alone: Give each pair of program and input a process of its own: slow, the same answer.
        timeout_s: Wall limit for all of it, in seconds.

    Returns:
        By grid, by program, a cell for each input.

    Raises:
        MeasureError: The guest gave no complete answer.
    """
    place = posixpath.join(box.scratch, f"grid-{uuid.uuid4().hex}")
    job, results = posixpath.join(place, "job.json"), posixpath.join(place, "results.jsonl")
    asked = {
        "grids": [
            {"programs": g.programs, "inputs": g.inputs, "tests": g.tests, "module": g.module} for g in grids
        ],
        "limit_s": limit_s,
        "memory": memory,
        "workers": workers,
        "alone": alone,
        "results": results,
    }
    box.write(job, json.dumps(asked).encode())
    try:
        command = [box.interpreter.command, posixpath.join(box.guest, "grid.py"), job]
        done = box.run(command, timeout_s=timeout_s, env={"PYTHONHASHSEED": "0"})
        try:
            lines = box.read(results, limit=_ANSWER_BYTES).splitlines()
        except FileNotFoundError:
            lines = []
    finally:
        box.remove(place)
    found: dict[tuple[int, int], tuple[Cell, ...]] = {}
    for line in lines:
        row: dict[str, Any] = json.loads(line)
        cells = zip(row["kinds"], row["texts"], row["tests"], strict=True)
        found[row["grid"], row["program"]] = tuple(Cell(*cell) for cell in cells)
    expected = [(g, p) for g, grid in enumerate(grids) for p in range(len(grid.programs))]
    if set(found) != set(expected):
        why = f"timed out after {timeout_s:g} s" if done.timed_out else f"exited with {done.exit_code}"
        raise MeasureError(
            f"The programs could not all be run: the runner {why} with {len(found)} of {len(expected)} done. "
            "Give it more time, or fewer programs at once.",
            detail=(done.stdout + done.stderr)[-4000:],
        )
    return tuple(tuple(found[g, p] for p in range(len(grid.programs))) for g, grid in enumerate(grids))
