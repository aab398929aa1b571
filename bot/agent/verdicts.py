"""Verdicts on a target's mutants over the states of one suite: what has not changed is not run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.agent.fingerprints import test_name
from bot.domain import Mutant, MutantOutcome, MutantVerdict, MutationResult, SuiteRun, Target
from bot.errors import MeasureError
from bot.measure import mutation
from bot.measure.mutants import MutantSet
from bot.sandbox import Sandbox

if TYPE_CHECKING:
    from bot.measure.baseline import Baseline

_MARGIN = 24
"""So many mutants more than have to survive are run at once, for some of them are caught."""


class Verdicts:
    """Judges the suite's tests on those mutants that the existing tests leave alive.

    Args:
        known: Verdicts of the existing tests, if they were judged already; otherwise they are when first needed.
    """

    def __init__(
        self,
        box: Sandbox,
        target: Target,
        mutants: MutantSet,
        baseline: Baseline,
        known: Mapping[str, MutantVerdict] | None = None,
    ) -> None:
        self._box = box
        self._target = target
        self._mutants = mutants
        self._baseline = baseline
        self._existing = known
        self._last: Mapping[str, MutantVerdict] = {}
        self._met: Mapping[str, str] = {}

    def judge(self, run: SuiteRun, marks: Mapping[str, str]) -> MutationResult:
        """Return the verdicts by the existing tests and a suite's passing tests together.

        Kills by existing tests hold for good. A kill by a test of the suite holds while the test passes and its mark
        stays, and a survivor does not meet again a test that it met under the same mark.

        Args:
            run: A run of the suite with coverage of the target.
            marks: By `fingerprints.test_name`, what the test's result can depend on.

        Raises:
            MeasureError: The mutants could not be run.
        """
        caught = {name: each for name, each in self._by_existing().items() if each.outcome.is_caught}
        rest = tuple(mutant for mutant in self._mutants.mutants if mutant.id not in caught)
        tests = {test: marks.get(test_name(test), "") for test in run.passed}
        same = tuple(test for test, mark in tests.items() if mark and self._met.get(test) == mark)
        result = mutation.judge(
            self._box,
            self._target,
            replace(self._mutants, mutants=rest),
            run,
            tests=tuple(tests) if self._target.path in run.coverage else (),
            known={name: each for name, each in self._last.items() if _still(each, same)},
            seen=same,
        )
        self._last = {each.mutant.id: each for each in result.verdicts}
        self._met = tests
        by_id = {**self._last, **caught}
        ordered = (*self._mutants.mutants, *self._mutants.incompetent, *self._mutants.equivalent)
        return MutationResult(tuple(by_id[mutant.id] for mutant in ordered), result.sampled_from)

    def by_existing_tests(self) -> MutationResult:
        """Return the verdicts by the existing tests alone; a mutant that they were not judged on has survived."""
        known = self._by_existing()
        survived = MutantOutcome.SURVIVED
        verdicts = [known.get(each.id) or MutantVerdict(each, survived) for each in self._mutants.mutants]
        return MutationResult(tuple(verdicts), self._mutants.total)

    def fall_short(self, run: SuiteRun, most: int) -> bool:
        """Whether the existing tests and a suite's passing tests catch no more than so many mutants together.

        Only so many are run as it takes to know. Those that the last suite left alive come first, since they
        most likely survive this one too. Raises MeasureError as `judge` does.
        """
        caught = {name for name, each in self._by_existing().items() if each.outcome.is_caught}
        coverage = run.coverage.get(self._target.path)
        waiting = [each for each in self._mutants.mutants if each.id not in caught]
        if coverage is None or not run.passed:
            return len(caught) <= most
        reached = coverage.lines(run.passed)
        waiting = [mutant for mutant in waiting if _may_be_reached(mutant, coverage.statements, reached)]
        alive = {name for name, each in self._last.items() if each.outcome is MutantOutcome.SURVIVED}
        waiting.sort(key=lambda mutant: mutant.id not in alive)
        possible = len(caught) + len(waiting)
        while possible > most and waiting:
            enough = possible - most + _MARGIN
            chunk, waiting = waiting[:enough], waiting[enough:]
            possible -= len(chunk) - self._caught_of(chunk, run)
        return possible <= most

    def _caught_of(self, mutants: Sequence[Mutant], run: SuiteRun) -> int:
        chosen = replace(self._mutants, mutants=tuple(mutants))
        return mutation.judge(self._box, self._target, chosen, run, tests=run.passed).caught

    def _by_existing(self) -> Mapping[str, MutantVerdict]:
        if self._existing is None:
            self._existing = {}
            run, tests = self._baseline.run, self._baseline.green
            if tests and self._target.path in run.coverage:
                try:
                    result = mutation.judge(self._box, self._target, self._mutants, run, tests=tests)
                except MeasureError:
                    # The existing tests cannot be used as they are: the suite must then kill everything itself.
                    return self._existing
                self._existing = {each.mutant.id: each for each in result.verdicts}
        return self._existing


def _may_be_reached(mutant: Mutant, statements: frozenset[int], reached: frozenset[int]) -> bool:
    """Whether a mutant's statement is among the lines reached; one outside functions shows to whoever imports it."""
    start = max((line for line in statements if line <= mutant.first), default=mutant.first)
    return not mutant.function or not reached.isdisjoint(range(start, mutant.last + 1))


def _still(verdict: MutantVerdict, same: tuple[str, ...]) -> bool:
    """Whether a verdict can be used again: it was no kill, or one by a test that has not changed."""
    return not verdict.outcome.is_caught or verdict.killed_by in same
