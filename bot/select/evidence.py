"""What each test proves: lines that nothing before it covers, and mutants that it kills."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from bot.domain import FileCoverage, MutationResult, SuiteRun


def joined(*runs: SuiteRun, path: str) -> SuiteRun:
    """Return several runs of the same tree as one, with the coverage of one file put together.

    A test that ran more than once has the lines of all its runs: a cached result hides them in one order, not in
    every order.
    """
    results = {result.id: result for run in reversed(runs) for result in run.results}
    found = [run.coverage[path] for run in runs if path in run.coverage]
    coverage = {path: _union(found)} if found else {}
    duration = sum(run.duration_s for run in runs)
    return replace(runs[0], results=tuple(results.values()), coverage=coverage, duration_s=duration)


def _union(parts: Sequence[FileCoverage]) -> FileCoverage:
    lines: dict[str, frozenset[int]] = {}
    branches: dict[str, frozenset[tuple[int, int]]] = {}
    for part in parts:
        for test, found in part.lines_by_test.items():
            lines[test] = lines.get(test, frozenset()) | found
        for test, taken in part.branches_by_test.items():
            branches[test] = branches.get(test, frozenset()) | taken
    return replace(
        parts[0],
        import_lines=frozenset().union(*(part.import_lines for part in parts)),
        import_branches=frozenset().union(*(part.import_branches for part in parts)),
        lines_by_test=lines,
        branches_by_test=branches,
    )


def reaching(coverage: FileCoverage | None, tests: Iterable[str]) -> tuple[str, ...]:
    """Return the tests that execute a line of the file beyond importing it."""
    if coverage is None:
        return ()
    return tuple(t for t in tests if coverage.lines_by_test.get(t, frozenset()) - coverage.import_lines)


def lines_gained(
    coverage: FileCoverage | None,
    before: Collection[str],
    tests: Sequence[str],
    within: frozenset[int] | None = None,
) -> Mapping[str, tuple[int, ...]]:
    """Return the lines each test covers that neither the import, nor tests before, nor an earlier one covers.

    Args:
        coverage: Of the target, with all these tests.
        before: The existing tests that pass.
        tests: The new ones, in the order in which they are counted.
        within: The lines that count (`Target.near_lines`); None for all.
    """
    if coverage is None:
        return {}
    seen = set(coverage.lines(before))
    found: dict[str, tuple[int, ...]] = {}
    for test in tests:
        new = (coverage.lines_by_test.get(test, frozenset()) & coverage.statements) - seen
        found[test] = tuple(sorted(new if within is None else new & within))
        seen |= new
    return found


def chosen(
    coverage: FileCoverage | None,
    before: Collection[str],
    mutation: MutationResult,
    tests: Sequence[str],
    within: frozenset[int] | None = None,
) -> tuple[str, ...]:
    """Return the tests worth keeping, in file order: those that kill a mutant, then those that gain a line besides.

    Args:
        coverage: Of the target, with all these tests.
        before: The existing tests that pass.
        mutation: Verdicts with existing and new tests.
        tests: The new ones, in file order.
        within: The lines whose coverage counts; None for all.
    """
    kills = mutation.kills()
    killers = [test for test in tests if test in kills]
    others = [test for test in tests if test not in kills]
    gained = lines_gained(coverage, before, [*killers, *others], within)
    kept = {*killers, *(test for test in others if gained.get(test))}
    return tuple(test for test in tests if test in kept)


def strongest_first(mutation: MutationResult, tests: Collection[str]) -> tuple[str, ...]:
    """Return tests by how many mutants they killed, most first: tried in this order, the weakest may prove needless."""
    kills = mutation.kills()
    return tuple(sorted((t for t in tests if t in kills), key=lambda test: (-len(kills[test]), test)))
