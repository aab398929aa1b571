"""Whether tests pass however they are run: alone in order, alone shuffled, and together with the existing tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bot.domain import Outcome, Reason, SuiteRun, TestResult
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox

SLOW_S = 5.0
"""A test that takes longer in any run is slow, in seconds."""
_TEST_TIMEOUT_S = 15.0
_LEFTOVERS = (
    ".coverage",
    ".pytest_cache",
    "__pycache__",
    ".hypothesis",
    ".mypy_cache",
    "htmlcov",
    ".cache",
    ".testmondata",
)
"""What test runs leave behind by themselves: no doing of a test's."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Three runs of one test file.

    Attributes:
        runs: Alone in file order, alone shuffled on what looks like another machine, together with the existing tests; the first two with coverage.
        litter: Files of the tree that were made or deleted meanwhile.
    """

    path: str
    runs: tuple[SuiteRun, ...]
    litter: frozenset[str] = frozenset()

    @property
    def first(self) -> SuiteRun:
        """The run alone, in file order."""
        return self.runs[0]

    def results(self) -> Mapping[str, TestResult]:
        """Return one result of each of the file's tests, by node id, in file order."""
        found: dict[str, TestResult] = {}
        for run in self.runs:
            for result in run.results:
                if result.id.partition("::")[0] == self.path:
                    found.setdefault(result.id, result)
        return found

    def durations(self) -> Mapping[str, float]:
        """Return each test's longest time in any run, in seconds."""
        longest: dict[str, float] = {}
        for run in self.runs:
            for result in run.results:
                longest[result.id] = max(longest.get(result.id, 0.0), result.duration_s)
        return longest


def run_alone(box: Sandbox, path: str, cover: Sequence[str], timeout_s: float) -> SuiteRun:
    """Run a test file by itself in file order, with coverage: the first of a trial's three runs."""
    return run_tests(box, [path], cover=cover, timeout_s=timeout_s, test_timeout_s=_TEST_TIMEOUT_S)


def try_out(
    box: Sandbox,
    side: Sandbox,
    path: str,
    companions: Sequence[str],
    *,
    cover: Sequence[str],
    seed: int,
    first: bool,
    timeout_s: float,
    opening: SuiteRun | None = None,
) -> Trial:
    """Run a test file three times: different hash seeds, orders and machines, alone and together.

    Args:
        box: Where the file is written already.
        side: Another sandbox with the same files, for the third run, which takes place at the same time.
        path: The test file.
        companions: Existing test files for the third run.
        cover: Source files to trace.
        seed: Decides on the shuffled order.
        first: Whether the file runs before its companions in the third run, or after them.
        timeout_s: Limit for each run, in seconds.
        opening: The first run, where it has taken place in `box`.
    """
    before = {*side.files()}
    others = [other for other in companions if other != path]

    def together() -> SuiteRun:
        return run_tests(
            side,
            [path, *others] if first else [*others, path],
            hash_seed=seed + 2,
            order_seed=None if others else seed + 2,
            timeout_s=timeout_s,
            test_timeout_s=_TEST_TIMEOUT_S,
        )

    aside = ThreadPoolExecutor(1)
    try:
        third = aside.submit(together)
        alone = run_alone(box, path, cover, timeout_s) if opening is None else opening
        shuffled = run_tests(
            box,
            [path],
            cover=cover,
            hash_seed=seed + 1,
            order_seed=seed + 1,
            elsewhere=True,
            timeout_s=timeout_s,
            test_timeout_s=_TEST_TIMEOUT_S,
        )
        runs = (alone, shuffled, third.result())
    finally:
        aside.shutdown(wait=False, cancel_futures=True)
    litter = {place for place in before ^ set(box.files()) if not _is_leftover(place)}
    return Trial(path, runs, frozenset(litter))


def _is_leftover(path: str) -> bool:
    parts = path.split("/")
    return path.endswith((".pyc", ".pyo", ".log", ".xml")) or any(
        part.startswith(_LEFTOVERS) for part in parts
    )


def faults(trial: Trial, slow_s: float = SLOW_S) -> Mapping[str, tuple[Reason, str]]:
    """Return what is wrong with each test that did not pass quickly in all three runs, with a sentence for people."""
    unsafe = next((run.unsafe for run in trial.runs if run.unsafe), "")
    if unsafe:
        return dict.fromkeys(trial.results(), (Reason.UNSAFE, unsafe))
    found: dict[str, tuple[Reason, str]] = {}
    durations = trial.durations()
    by_run = [{result.id: result for result in run.results} for run in trial.runs]
    for name in trial.results():
        seen = [run.get(name) for run in by_run]
        fault = _fault(seen)
        if fault is None and durations[name] > slow_s:
            fault = Reason.SLOW, f"it takes {durations[name]:.1f} s"
        if fault is not None:
            found[name] = fault
    return found


def _fault(seen: Sequence[TestResult | None]) -> tuple[Reason, str] | None:
    outcomes = [result.outcome if result else None for result in seen]
    if all(outcome is Outcome.PASSED for outcome in outcomes):
        return None
    if None in outcomes:
        return Reason.FLAKY, "it is not there in every run: its name depends on the run"
    worst = next(result for result in seen if result and result.outcome is not Outcome.PASSED)
    if len(set(outcomes)) > 1:
        alone, shuffled, together = outcomes
        if alone is Outcome.PASSED and shuffled is not Outcome.PASSED:
            note = "it depends on the order of tests, on hash seeds or on the machine"
        elif alone is Outcome.PASSED and together is not Outcome.PASSED:
            note = (
                "it does not pass in another order, with other hash seeds or together with the existing tests"
            )
        else:
            note = "its outcome changes from run to run"
        return Reason.FLAKY, f"{note}: {worst.message}" if worst.message else note
    match outcomes[0]:
        case Outcome.FAILED:
            return Reason.FAILS, worst.message
        case Outcome.TIMED_OUT:
            return Reason.SLOW, worst.message or "it does not end"
        case Outcome.SKIPPED | Outcome.XFAILED:
            return Reason.ADDS_NOTHING, f"it is {outcomes[0]}: {worst.message}".rstrip(": ")
    return Reason.ERRORS, worst.message


def broken(trial: Trial, green: Collection[str]) -> tuple[str, ...]:
    """Return the existing tests, green on their own, that do not pass in one of the runs with the file."""
    found = {test for run in trial.runs for test in run.red}
    return tuple(name for name in green if name in found)


def culprits(suspects: Sequence[str], guilty: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """Return the tests that each show a fault by themselves, by halving: few runs where few are guilty.

    Args:
        suspects: Node ids.
        guilty: Runs some of them and says whether the fault shows.
    """
    if not suspects or not guilty(suspects):
        return ()
    if len(suspects) == 1:
        return tuple(suspects)
    middle = len(suspects) // 2
    return (*culprits(suspects[:middle], guilty), *culprits(suspects[middle:], guilty))
