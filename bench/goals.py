"""What is asked of the mutation engine beside other mutation testers, and what of it was reached."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured on one module.

    Attributes:
        wall, cpu, whole: How many times as fast as cosmic-ray the engine is: wall, CPU, wall with the coverage run.
        rivals: The same (wall, CPU) for each other tool that has judged a mutant, by its name.
        same, compared: Mutants on which the engine and cosmic-ray agree, of so many.
        memory: MB.
    """

    wall: float
    cpu: float
    whole: float
    rivals: dict[str, tuple[float, float]]
    same: int
    compared: int
    memory: float


def summary(rows: Sequence[Row], more: float | None) -> list[str]:
    """Return what was reached of what is asked.

    Args:
        more: What twice the unrelated tests add to the CPU time, as a fraction; None if that was not measured.
    """
    walls = [row.wall for row in rows]
    same, compared = sum(row.same for row in rows), sum(row.compared for row in rows)
    lines = [
        f"Geometric means: wall {statistics.geometric_mean(walls):.1f}, "
        f"CPU {statistics.geometric_mean(row.cpu for row in rows):.1f}, wall with the coverage run "
        f"{statistics.geometric_mean(row.whole for row in rows):.1f} times as fast as cosmic-ray.",
        _goal("20 times as fast as cosmic-ray in the mean", statistics.geometric_mean(walls) >= 20),
        _goal(f"12 times on each: {min(walls):.1f} at least", min(walls) >= 12),
        _goal(f"99% of the verdicts the same: {same} of {compared}", same >= 0.99 * compared),
    ]
    for tool in sorted({tool for row in rows for tool in row.rivals}):
        ratios = [row.rivals[tool] for row in rows if tool in row.rivals]
        lines.append(
            _goal(
                f"faster than {tool} on each: {min(wall for wall, _ in ratios):.2f} times in wall time at least, "
                f"{min(cpu for _, cpu in ratios):.2f} in CPU time, on {len(ratios)} of {len(rows)} modules",
                min(wall for wall, _ in ratios) > 1,
            )
        )
    memory = max(row.memory for row in rows)
    lines.append(_goal(f"500 MB: {memory:.0f} MB at most", memory < 500))
    if more is not None:
        lines.append(_goal(f"twice the unrelated tests add under 10%: {more:+.1%}", more < 0.1))
    return lines


def _goal(what: str, reached: bool) -> str:
    return f"{'reached' if reached else 'MISSED '}  {what}"
