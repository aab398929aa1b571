"""What many untrusted programs give on many inputs, and which tests they pass: the table that TiCoder and CodeRM read.

The work is the guest's (`guest/matrix.py`); here are the questions, the answers, and the checks of what comes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.errors import MeasureError
from bot.measure.guest_jobs import Answer, run_job
from bot.sandbox import Sandbox

LIMIT_S = 0.25
MEMORY = 1024**3
_Place = tuple[int, int]

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
    seed: int = 0,
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
        seed: Of random numbers and of the order of sets.
        timeout_s: Wall limit for all of it, in seconds; for what is left once more after a program has ended the runner.

    Returns:
        By grid, by program, a cell for each input.

    Raises:
        MeasureError: The guest gave no complete answer.
    """
    asked = {
        "grids": [
            {"programs": g.programs, "inputs": g.inputs, "tests": g.tests, "module": g.module} for g in grids
        ],
        "limit_s": limit_s,
        "memory": memory,
        "alone": alone,
        "draw": seed,
    }
    found: dict[_Place, tuple[Cell, ...]] = {}
    left = [(g, p) for g, grid in enumerate(grids) for p in range(len(grid.programs))]
    while left:
        job = {**asked, "order": left, "workers": workers}
        answer = run_job(box, "grid", job, timeout_s=timeout_s, hash_seed=seed)
        begun = _take(answer, grids, found)
        left = [place for place in left if place not in found]
        if left and (answer.forged or answer.completed.timed_out or (workers == 1 and begun != left[0])):
            raise _unfinished(answer, len(found), len(left), timeout_s)
        if left and workers == 1:  # it has ended more than itself, so that no cell of it was told
            found[left[0]] = _died(grids[left[0][0]])
            del left[0]
        workers = 1
    return tuple(tuple(found[g, p] for p in range(len(grid.programs))) for g, grid in enumerate(grids))


def _take(answer: Answer, grids: Sequence[Grid], found: dict[_Place, tuple[Cell, ...]]) -> _Place | None:
    """Add what an answer says of programs to what was found, and return the program that was begun last."""
    begun: _Place | None = None
    for row in answer.rows:
        if row.get("event") == "program":
            begun = row["grid"], row["program"]
        elif "kinds" in row:
            found[row["grid"], row["program"]] = _cells(row, grids[row["grid"]])
    return begun


def _cells(row: Mapping[str, Any], grid: Grid) -> tuple[Cell, ...]:
    """Return the cells of a row."""
    rows = zip(row["kinds"], row["texts"], row["tests"], grid.inputs, strict=True)
    return tuple(Cell(kind, text, outcomes) for kind, text, outcomes, _ in rows)


def _died(grid: Grid) -> tuple[Cell, ...]:
    return tuple(Cell("died", None, "X" * len(tests)) for tests in grid.tests)


def _unfinished(answer: Answer, done: int, left: int, timeout_s: float) -> MeasureError:
    completed = answer.completed
    why = f"timed out after {timeout_s:g} s" if completed.timed_out else f"exited with {completed.exit_code}"
    return MeasureError(
        f"The programs could not all be run: the runner {why} with {done} of {done + left} done. "
        "Give it more time, or fewer programs at once.",
        detail=answer.forged or answer.output[-4000:],
    )
