"""Verifying a file in a pristine sandbox and telling which of the candidate's tests are at fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.domain import Reason, SuiteRun, TestResult
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox
from bot.select.draft import Draft
from bot.select.job import SelectionJob
from bot.select.nodes import Spot, spots
from bot.select.stability import Trial, broken, culprits, faults, try_out
from bot.select.tables import outline


@dataclass(frozen=True, slots=True)
class Verified:
    """Three runs of a file.

    Attributes:
        names: The candidate's tests by their node id in this file, in file order.
        found: How many tests had to be rejected for what these runs show.
    """

    trial: Trial
    names: Mapping[str, str]
    found: int

    @property
    def tests(self) -> tuple[str, ...]:
        """Node ids of the candidate's tests in this file, in file order."""
        return tuple(self.names)


def verify(
    box: Sandbox,
    job: SelectionJob,
    draft: Draft,
    path: str,
    content: str,
    moved: Mapping[Spot, Spot] | None,
    *,
    final: bool,
    opening: SuiteRun | None = None,
) -> Verified:
    """Run a file three times and reject the tests that do not pass quickly, cleanly and every time.

    Args:
        box: A pristine sandbox.
        job: What is judged.
        draft: Its tests; verdicts go there.
        path: Where the file goes.
        content: The file.
        moved: Where each test of the draft is written in it; None for the draft's first run, which shows its tests.
        opening: The run alone, where it has taken place in `box`.
        final: Whether this is the file to be delivered, which runs before its companions.
    """
    box.write(path, content.encode())
    with job.sandboxes.open(job.tree, job.interpreter) as side:
        side.write(path, content.encode())
        trial = try_out(
            box,
            side,
            path,
            job.companions,
            cover=[job.target.path],
            seed=job.seed,
            first=final,
            timeout_s=job.patience_s,
            opening=opening,
        )
    if moved is None:
        draft.meet(trial.results().values())
        moved = {spot: spot for spot in draft.tests.values()}
    names = names_in(draft, content, trial.results().values(), moved)
    before = len(draft.rejected)
    _reject_faulty(draft, trial, names, job.slow_s)
    fine = [name for name, test in names.items() if test not in draft.rejected]
    if trial.litter:
        note = f"it makes or deletes files: {', '.join(sorted(trial.litter)[:3])}"
        for name in _litterers(box, trial, fine):
            draft.reject(names[name], Reason.UNSAFE, note)
    victims = broken(trial, job.green) if final else ()
    if victims:
        for name in _breakers(box, job, victims, fine):
            draft.reject(names[name], Reason.FLAKY, f"it makes an existing test fail: {victims[0]}")
    return Verified(trial, names, len(draft.rejected) - before)


def _reject_faulty(draft: Draft, trial: Trial, names: Mapping[str, str], slow_s: float) -> None:
    """Reject the tests that are not there any more, and those that did not pass quickly in all runs."""
    for test in draft.left:
        if test not in names.values():
            draft.reject(test, Reason.ERRORS, "it is not found any more without the rejected tests")
    for name, (reason, note) in faults(trial, slow_s).items():
        if name in names and names[name] not in draft.rejected:
            draft.reject(names[name], reason, note)


def names_in(
    draft: Draft, content: str, results: Iterable[TestResult], moved: Mapping[Spot, Spot]
) -> dict[str, str]:
    """Return the draft's tests by their node ids in a file."""
    by_spot = {spot: test for test, spot in draft.tests.items()}
    there = {new: by_spot[old] for old, new in moved.items() if old in by_spot}
    found = spots(outline(content.removeprefix("\ufeff")), results)
    return {name: there[spot] for name, spot in found.items() if spot in there}


def _litterers(box: Sandbox, trial: Trial, suspects: Sequence[str]) -> tuple[str, ...]:
    """Return the tests that each make or delete files of the tree by themselves."""

    def guilty(some: Sequence[str]) -> bool:
        for place in trial.litter:
            box.remove(place)
        before = set(box.files())
        run_tests(box, some)
        return bool((set(box.files()) ^ before) & trial.litter)

    return culprits(suspects, guilty)


def _breakers(
    box: Sandbox, job: SelectionJob, victims: Sequence[str], suspects: Sequence[str]
) -> tuple[str, ...]:
    """Return the tests after which an existing test fails that passes in the same way without them."""

    def fails(some: Sequence[str]) -> bool:
        run = run_tests(box, [*some, *victims], timeout_s=job.patience_s)
        return not set(victims).isdisjoint(run.red)

    return () if fails(()) else culprits(suspects, fails)
