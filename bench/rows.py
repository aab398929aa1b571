"""What is measured of one suite, kept in a file so that a long benchmark can go on where it was stopped; the table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.subjects import Subject


@dataclass(frozen=True, slots=True)
class Row:
    """A suite's measures: fractions 0..1, seconds; None is what could not be, or has not been, measured.

    Attributes:
        seconds: What making the suite took.
        suite: Its path below the repository's root; empty if there is none.
        runs, flaky: Runs in random order, and the tests that did not pass in each of them.
        again: Whether a second run with the same seed gave the same file, byte for byte.
    """

    module: str
    tool: str
    tests: int = 0
    lines: float | None = None
    branches: float | None = None
    mutation: float | None = None
    pass_at_1: bool = False
    hollow: int = 0
    seconds: float = 0.0
    suite: str = ""
    runs: int = 0
    flaky: tuple[str, ...] = ()
    again: bool | None = None


def load(path: Path) -> Row | None:
    """Return a row as it was kept; None if there is none that can be read."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return Row(**{**values, "flaky": tuple(values["flaky"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def keep(row: Row, path: Path) -> Row:
    """Write a row to its file, and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(row), indent=2) + "\n", encoding="utf-8")
    return row


def told(row: Row) -> str:
    """Return a row in one line for whoever waits."""
    parts = [
        f"{row.tool} {row.module}: {percent(row.lines)} lines, {percent(row.mutation)} mutants, {row.seconds:.0f} s"
    ]
    if row.runs:
        parts.append(f"{len(row.flaky)} flaky in {row.runs} runs")
    if row.again is not None:
        parts.append("the same again" if row.again else "NOT the same again")
    return ", ".join(parts)


def table(rows: Sequence[Row], subjects: Sequence[Subject]) -> str:
    """Return the results as a Markdown table, with means and the reference numbers."""
    lines = [
        "| module | tool | tests | lines | branches | mutation | pass@1 | hollow | seconds | flaky | again | own suite |",
        "|---|---|--:|--:|--:|--:|---|--:|--:|--:|---|--:|",
    ]
    reference = {subject.path: subject for subject in subjects}
    for row in rows:
        known = reference[row.module]
        flaky = f"{len(row.flaky)} in {row.runs}" if row.runs else ""
        again = {None: "", True: "same", False: "differs"}[row.again]
        lines.append(
            f"| {row.module} | {row.tool} | {row.tests} | {percent(row.lines)} | {percent(row.branches)} "
            f"| {percent(row.mutation)} | {'yes' if row.pass_at_1 else 'no'} | {row.hollow} | {row.seconds:.0f} "
            f"| {flaky} | {again} | {known.own[0]}/{known.own[1]} |"
        )
    for tool in sorted({row.tool for row in rows}):
        mine = [row for row in rows if row.tool == tool]
        means = [
            percent(_mean([getattr(row, name) for row in mine])) for name in ("lines", "branches", "mutation")
        ]
        passed = f"{sum(row.pass_at_1 for row in mine)} of {len(mine)}"
        seconds = sum(row.seconds for row in mine) / len(mine)
        lines.append(f"| **mean** | {tool} | | {' | '.join(means)} | {passed} | | {seconds:.0f} | | | |")
    earlier = ", ".join(f"{s.module} {s.pynguin[0]}/{s.pynguin[1]}" for s in subjects)
    return "\n".join(
        [*lines, "", f"Pynguin 0.48, measured earlier on a loaded machine, lines/mutants: {earlier}."]
    )


def percent(value: float | None) -> str:
    """Return a fraction as people read it."""
    return "-" if value is None else f"{100 * value:.0f}"


def _mean(values: Sequence[float | None]) -> float:
    """Return the mean; a suite that is missing counts as 0."""
    return sum(value or 0.0 for value in values) / len(values)
