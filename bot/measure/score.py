"""The score of a given test file against a source file, for `testforge score`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from bot.domain import MutationResult, SuiteRun, Target
from bot.errors import MeasureError
from bot.measure import mutants, mutation
from bot.measure.coverage import branch_fraction, line_fraction
from bot.measure.hollow import hollow_tests
from bot.measure.outcomes import run_tests
from bot.measure.remembered import Remembered, marks
from bot.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Score:
    """What a test file does for a source file (METHODS 1.6).

    Attributes:
        run: Every test's outcome.
        lines, branches: Fractions of the source file covered by passing tests; None if not measurable.
        mutation: The mutants' verdicts under the passing tests; None if there is no passing test or no verdict.
        hollow: Passing tests that prove nothing of the source file.
        pass_at_1: Whether at least one test passes.
    """

    run: SuiteRun
    lines: float | None
    branches: float | None
    mutation: MutationResult | None
    hollow: frozenset[str]
    pass_at_1: bool


def score_file(
    box: Sandbox,
    target: Target,
    test_path: str,
    *,
    max_mutants: int | None,
    seed: int,
    exclude: Collection[str] = (),
    memory: Path | None = None,
) -> Score:
    """Measure a test file against a source file; red tests are set aside.

    Args:
        box: A sandbox whose tree holds both.
        target: The source file.
        test_path: The test file, relative to the tree.
        max_mutants: How many mutants to sample at most; None is all of them.
        seed: Of the sample.
        exclude: As for `mutants.generate`.
        memory: A directory with the verdicts of earlier runs, which are used where they still hold; None uses none.

    Raises:
        MeasureError: The tests could not be run at all.
    """
    run = run_tests(box, [test_path], cover=[target.path], timeout_s=600.0)
    if run.crash and not run.results:
        raise MeasureError(f"The tests of {test_path} could not be run: {run.crash}.", detail=run.output)
    passed = run.passed
    coverage = run.coverage.get(target.path)
    made = mutants.generate(target.path, target.source, limit=max_mutants, seed=seed, exclude=exclude)
    measurable = coverage is not None
    return Score(
        run=run,
        lines=line_fraction(coverage, None, passed),
        branches=branch_fraction(coverage, passed),
        mutation=_judged(box, target, made, run, memory) if measurable else None,
        hollow=hollow_tests(box, target, run, passed) if measurable else frozenset(),
        pass_at_1=bool(passed),
    )


def _judged(
    box: Sandbox, target: Target, made: mutants.MutantSet, run: SuiteRun, memory: Path | None
) -> MutationResult:
    if memory is None:
        return mutation.judge(box, target, made, run)
    remembered = Remembered(memory, box.interpreter.key, target, marks(box, run.passed))
    known = remembered.recall(made.mutants)
    result = mutation.judge(box, target, made, run, known=known.verdicts, met=known.met)
    remembered.keep(result, run.passed)
    return result
