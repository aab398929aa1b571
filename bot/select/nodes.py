"""Tests of a file by where they are written: a function and, for a parametrised test, a row of each of its tables.

A node id changes when cases around it are cut or a function is renamed; a spot can be followed through both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.domain import TestResult
from bot.select.tables import Outline, Table


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """Where one test is written.

    Attributes:
        function: `TestA::test_b`.
        rows: The row of each table, in the order of `Outline.tables_of`; empty if that cannot be told.
        rest: What else tells cases apart (a fixture's parameters), as (name, index) pairs.
    """

    function: str
    rows: tuple[int, ...] = ()
    rest: tuple[tuple[str, int], ...] = ()


def spots(outline: Outline, results: Iterable[TestResult]) -> dict[str, Spot]:
    """Return where each test of a file is written, by node id.

    Args:
        outline: The file as it was when the tests ran.
        results: All results of its tests in one run, rejected ones included.
    """
    by_function: dict[str, list[TestResult]] = {}
    for result in results:
        by_function.setdefault(result.function, []).append(result)
    found: dict[str, Spot] = {}
    for function, group in by_function.items():
        tables = outline.tables_of(function) if outline.definition(function) == function else ()
        decode = _decoder(tables, [result.case for result in group])
        for result in group:
            found[result.id] = Spot(function, *decode(result.case))
    return found


Decoded = tuple[tuple[int, ...], tuple[tuple[str, int], ...]]


def _decoder(
    tables: Sequence[Table], cases: Sequence[Mapping[str, int]]
) -> Callable[[Mapping[str, int]], Decoded]:
    """Return a function from a case, as pytest numbers it, to its rows and the rest.

    Some versions of pytest number a case within each mark, others over the product of all marks; the largest
    number seen tells which.
    """
    ours = {name for table in tables for name in table.argnames}
    firsts = [table.argnames[0] for table in tables if table.argnames]
    sizes = [len(table.rows) if table.rows is not None else 0 for table in tables]

    def rest(case: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
        return tuple(sorted((name, index) for name, index in case.items() if name not in ours))

    def opaque(case: Mapping[str, int]) -> Decoded:
        return (), tuple(sorted(case.items()))

    if not tables or len(firsts) < len(tables) or not all(sizes):
        return opaque
    if any(first not in case for first in firsts for case in cases):
        return opaque
    if all(case[first] < size for case in cases for first, size in zip(firsts, sizes, strict=True)):
        return lambda case: (tuple(case[first] for first in firsts), rest(case))

    total, product = 1 + max(case[firsts[0]] for case in cases), 1
    for size in sizes:
        product *= size
    if total % product or any(len({case[first] for first in firsts}) > 1 for case in cases):
        return opaque

    def divide(case: Mapping[str, int]) -> Decoded:
        number = case[firsts[0]] // (total // product)
        rows: list[int] = []
        for size in reversed(sizes):
            rows.append(number % size)
            number //= size
        return tuple(reversed(rows)), rest(case)

    return divide
