"""The table of a function's candidates against assertions about it, and alternative assertions from what was observed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from bot.programs.assertions import Assertion
from bot.programs.grid import LIMIT_S, Cell, Grid, run_grids
from bot.sandbox import Sandbox

_MISSING = object()


@dataclass(frozen=True, slots=True)
class Problem:
    """A function with candidates for it and assertions about it.

    Attributes:
        programs: Whole programs, each of which defines the function.
        assertions: Without repetitions.
        module: As for `grid.Grid`.
    """

    programs: tuple[str, ...]
    assertions: tuple[Assertion, ...]
    module: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """What each program gave for each assertion.

    Attributes:
        outcomes: By program a letter for each assertion, as in `Cell.outcomes`.
        cells: By program what each call gave, in the order of `calls`.
    """

    assertions: tuple[Assertion, ...]
    outcomes: tuple[str, ...]
    calls: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...] = field(repr=False)

    def passes(self, program: int, assertion: int) -> bool:
        """Return whether a program passes an assertion."""
        return self.outcomes[program][assertion] == "P"

    def only(self, assertions: Sequence[int], *, all_calls: bool = False) -> Table:
        """Return the table of some of the assertions, and of the calls that these make, or still of all calls."""
        chosen = tuple(self.assertions[number] for number in assertions)
        calls = self.calls if all_calls else tuple(dict.fromkeys(one.call for one in chosen))
        places = [self.calls.index(call) for call in calls]
        return Table(
            chosen,
            tuple("".join(row[number] for number in assertions) for row in self.outcomes),
            calls,
            tuple(tuple(row[place] for place in places) for row in self.cells),
        )

    def with_observed(self, programs: int | None = None) -> Table:
        """Return this table with one more assertion for each value that a call gave, where there is none yet.

        This is TiCoder's dynamic mutation (METHODS 2.2). A value without a literal makes no assertion.

        Args:
            programs: Look at the values of the first so many programs; None is all of them.
        """
        known = {(one.call, one.expected) for one in self.assertions}
        added: dict[Assertion, int] = {}
        for position, call in enumerate(self.calls):
            values = dict.fromkeys(
                row[position].text for row in self.cells[:programs] if row[position].kind == "value"
            )
            for text in values:
                if text is not None and (call, text) not in known:
                    added[Assertion.of_value(call, text)] = position
        outcomes = tuple(
            mine + "".join(_outcome(row[position], one) for one, position in added.items())
            for mine, row in zip(self.outcomes, self.cells, strict=True)
        )
        return Table((*self.assertions, *added), outcomes, self.calls, self.cells)


def tabulate(
    box: Sandbox,
    problems: Sequence[Problem],
    *,
    limit_s: float = LIMIT_S,
    workers: int = 2,
    alone: bool = False,
    seed: int = 0,
    timeout_s: float = 3600.0,
) -> tuple[Table, ...]:
    """Run every program of every problem on every call that its assertions make, in a sandbox.

    Args:
        box: An open sandbox.
        problems: What to run.
        limit_s: CPU seconds for a call with one assertion.
        workers: Processes that share the work.
        alone: Give each pair of program and call a process of its own.
        seed: Of random numbers and of the order of sets.
        timeout_s: Wall limit for all of it, in seconds.

    Raises:
        MeasureError: They could not all be run.
    """
    grids, places = [], []
    for problem in problems:
        tests: dict[str, list[str]] = {}
        where = []
        for one in problem.assertions:
            of_call = tests.setdefault(one.call, [])
            where.append((list(tests).index(one.call), len(of_call)))
            of_call.append(one.predicate)
        grids.append(Grid(problem.programs, tuple(tests), tuple(map(tuple, tests.values())), problem.module))
        places.append(where)
    found = run_grids(
        box, grids, limit_s=limit_s, workers=workers, alone=alone, seed=seed, timeout_s=timeout_s
    )
    return tuple(
        Table(
            problem.assertions,
            tuple("".join(row[call].outcomes[test] for call, test in where) for row in rows),
            grid.inputs,
            rows,
        )
        for problem, grid, where, rows in zip(problems, grids, places, found, strict=True)
    )


def _outcome(cell: Cell, assertion: Assertion) -> str:
    """Return what an assertion made of an observed value says of what another program gave."""
    if cell.kind == "timeout":
        return "T"
    if cell.kind == "died":
        return "X"
    if cell.kind != "value":
        return "E"
    expected = assertion.predicate.removeprefix("_ == ").removeprefix("_ is ")
    if cell.text == expected:
        return "P"
    mine, other = _value(cell.text), _value(expected)
    return "P" if mine is not _MISSING and mine == other else "F"


@lru_cache(maxsize=100_000)
def _value(text: str | None) -> Any:
    """Return the value of a literal, never running it; `_MISSING` for anything else."""
    if text is None:
        return _MISSING
    if text == "frozenset()":
        return frozenset()
    inner = text[len("frozenset(") : -1] if text.startswith("frozenset(") else text
    try:
        return frozenset(ast.literal_eval(inner)) if inner != text else ast.literal_eval(inner)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return _MISSING
