"""Before and after: coverage and mutation score without and with the proposed suite (METHODS 1.6)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain import CoverageDeltas, Delta, FileCoverage, MutationDelta, MutationResult, Target
from bot.measure.coverage import branch_fraction, line_fraction


def coverage_deltas(
    target: Target,
    before: FileCoverage | None,
    green: Sequence[str],
    after: FileCoverage | None,
    passing: Sequence[str],
    *,
    measured: bool,
) -> CoverageDeltas:
    """Return how much of the file, of its changed lines and of its branches tests cover, before and after.

    Args:
        target: The file.
        before: Its coverage by the existing tests.
        green: The existing tests that pass.
        after: Its coverage by existing and proposed tests.
        passing: All tests that pass, the proposed ones among them.
        measured: Whether the existing tests could be run: without a passing test, coverage is then 0, not unknown.

    Returns:
        Fractions; None where one could not be measured or where there is nothing to cover.
    """
    whole = Delta(
        _before(line_fraction(before, None, green), line_fraction(after, None), green, measured),
        line_fraction(after, None, passing),
    )
    lines = target.changed_lines
    changed = Delta(
        _before(line_fraction(before, lines, green), line_fraction(after, lines), green, measured),
        line_fraction(after, lines, passing),
    )
    branch = Delta(
        _before(branch_fraction(before, green), branch_fraction(after), green, measured),
        branch_fraction(after, passing),
    )
    return CoverageDeltas(file=whole, changed=changed, branch=branch)


def _before(
    found: float | None, measurable: float | None, green: Sequence[str], measured: bool
) -> float | None:
    """Return the fraction before: 0 where no test passes and there is something to cover, None where unknown."""
    if not measured or (measurable is None and found is None):
        return None
    return found if green else 0.0


def mutation_delta(before: MutationResult, after: MutationResult) -> MutationDelta:
    """Return the results on the same mutants, before and after.

    Raises:
        ValueError: They are not about the same mutants.
    """
    ours = [verdict.mutant.id for verdict in before.verdicts]
    theirs = [verdict.mutant.id for verdict in after.verdicts]
    if ours and theirs and ours != theirs:
        raise ValueError("The mutants before and after differ; judge one set twice.")
    return MutationDelta(before, after)
