"""Before and after are fractions, 0 where no test passes, None where nothing could be measured; never mixed."""

from __future__ import annotations

import pytest

from bot.domain import (
    CoverageDeltas,
    Delta,
    FileCoverage,
    Mutant,
    MutantOutcome,
    MutantVerdict,
    MutationResult,
    Target,
)
from bot.measure.deltas import coverage_deltas, mutation_delta

TARGET = Target("m.py", "m", "", frozenset({3, 4}))


def coverage(**lines: set[int]) -> FileCoverage:
    return FileCoverage(
        "m.py",
        frozenset({1, 2, 3, 4}),
        frozenset({1}),
        {test: frozenset(found) for test, found in lines.items()},
        branches=frozenset({(2, 3), (2, 4)}),
        branches_by_test={test: frozenset({(2, 3)} if 3 in found else ()) for test, found in lines.items()},
    )


def deltas(
    before: FileCoverage | None,
    green: list[str],
    after: FileCoverage | None,
    new: list[str],
    measured: bool = True,
) -> CoverageDeltas:
    return coverage_deltas(TARGET, before, green, after, [*green, *new], measured=measured)


def test_lines_changed_lines_and_branches_before_and_after() -> None:
    found = deltas(coverage(old={2}), ["old"], coverage(old={2}, new={2, 3}), ["new"])
    assert found == CoverageDeltas(Delta(0.5, 0.75), Delta(0.0, 0.5), Delta(0.0, 0.5))


def test_no_passing_test_is_zero_and_not_what_the_import_covers() -> None:
    found = deltas(coverage(red={2}), [], coverage(new={2}), ["new"])
    assert found.file == Delta(0.0, 0.5)


def test_a_repository_without_any_test_starts_at_zero() -> None:
    assert deltas(None, [], coverage(new={2}), ["new"]).file == Delta(0.0, 0.5)


def test_a_baseline_that_could_not_be_run_is_unknown() -> None:
    found = deltas(None, [], coverage(new={2}), ["new"], measured=False)
    assert found.file == Delta(None, 0.5)


def test_changed_lines_without_a_statement_have_no_fraction() -> None:
    target = Target("m.py", "m", "", frozenset({9}))
    assert coverage_deltas(target, None, [], coverage(new={2}), ["new"], measured=True).changed == Delta(
        None, None
    )


def verdicts(*ids: str) -> MutationResult:
    return MutationResult(
        tuple(
            MutantVerdict(Mutant(i, "m.py", "op", "f", 1, 1, 0, 1, "", ""), MutantOutcome.SURVIVED)
            for i in ids
        )
    )


def test_before_and_after_are_about_the_same_mutants() -> None:
    with pytest.raises(ValueError, match="differ"):
        mutation_delta(verdicts("a"), verdicts("b"))
    assert mutation_delta(verdicts("a"), verdicts("a")).after.score == 0.0


def test_an_unknown_side_is_no_contradiction() -> None:
    assert mutation_delta(verdicts(), verdicts("a")).before.score is None
