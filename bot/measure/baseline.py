"""The baseline: what a repository's existing tests do and cover before anything is added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.domain import FileCoverage, Outcome, SuiteRun, Target
from bot.errors import MeasureError
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Baseline:
    """The existing tests, measured.

    Attributes:
        red: Tests that fail, err or time out; they are set aside and reported.
        green: Tests that pass.
        problem: Why nothing could be measured, or not all of it; empty if everything was.
    """

    run: SuiteRun = field(default_factory=SuiteRun)
    red: tuple[str, ...] = ()
    green: tuple[str, ...] = ()
    problem: str = ""

    @property
    def unusable(self) -> frozenset[str]:
        """Test files that cannot be imported, or that hold a test which hangs or ends the interpreter."""
        ended = {
            result.id.partition("::")[0]
            for result in self.run.results
            if result.outcome is Outcome.TIMED_OUT
            or result.message.startswith("exited the interpreter")
            or (self.run.crash and result.message == self.run.crash)
        }
        return frozenset(ended.union(error.path for error in self.run.collection_errors))

    def coverage(self, target: Target) -> FileCoverage | None:
        """Return what the tests cover of a target; None if it could not be measured."""
        return self.run.coverage.get(target.path)


def take(
    box: Sandbox, targets: Sequence[Target], *, selection: Sequence[str] = (), timeout_s: float
) -> Baseline:
    """Run the existing tests once with coverage of the targets.

    Args:
        box: A sandbox with the tree at head.
        targets: The changed files.
        selection: Files and node ids to run; empty is the repository's default collection.
        timeout_s: Limit for the run, in seconds.

    Returns:
        The baseline; one that could not be taken has a `problem` and nothing else.

    Raises:
        MeasureError: What the tests do is not to be believed, so nothing can be built on it.
    """
    try:
        run = run_tests(box, selection, cover=[target.path for target in targets], timeout_s=timeout_s)
    except MeasureError as error:
        return Baseline(problem=error.message)
    if run.unsafe:
        raise MeasureError(
            f"The results of the existing tests are not believed: {run.unsafe}. Look at what conftest.py files and the "
            "tests change in pytest, in coverage or in the sources while they run."
        )
    return Baseline(run=run, red=run.red, green=run.passed, problem=_problem(run))


def _problem(run: SuiteRun) -> str:
    if run.crash:
        return f"The existing tests did not run to their end: {run.crash}."
    if run.collection_errors and not run.results:
        first = run.collection_errors[0]
        return f"None of the existing tests could be imported; {first.path}: {first.reason}"
    return ""
