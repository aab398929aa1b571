"""Judging mutants for a selection: what existing tests kill, what the candidate adds, what the delivered file kills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.domain import MutantVerdict, MutationResult, SuiteRun
from bot.errors import MeasureError
from bot.measure.mutation import judge
from bot.sandbox import Sandbox
from bot.select.evidence import reaching
from bot.select.job import SelectionJob


def witnesses(job: SelectionJob) -> tuple[str, ...]:
    """Return the existing tests that may kill a mutant: all of the files with a test that reaches the target."""
    reached = reaching(job.baseline.coverage(job.target), job.green)
    paths = {test.partition("::")[0] for test in reached} | {job.placement.final_path}
    return tuple(test for test in job.green if test.partition("::")[0] in paths)


def before(box: Sandbox, job: SelectionJob) -> MutationResult:
    """Return what the existing tests kill; no verdicts where it could not be measured."""
    if job.before is not None:
        return job.before
    if job.baseline.problem and not job.green:
        return MutationResult()
    return _judged(box, job, job.baseline.run, witnesses(job), {}) or MutationResult()


def with_candidate(
    box: Sandbox,
    job: SelectionJob,
    run: SuiteRun,
    earlier: MutationResult,
    tests: Sequence[str],
    met: Sequence[str] = (),
) -> MutationResult:
    """Return what existing and candidate tests kill together.

    Args:
        box: A sandbox with the candidate.
        job: What is judged.
        run: Existing and candidate tests, with coverage.
        earlier: Verdicts of the existing tests, or those with more of the candidate's.
        tests: The candidate's tests.
        met: Those of the candidate's that `earlier` is about: its survivors do not meet them again.
    """
    known = {verdict.mutant.id: verdict for verdict in earlier.verdicts}
    old = witnesses(job) if known else ()
    return _judged(box, job, run, [*old, *tests], known, seen=[*old, *met]) or MutationResult()


def with_final(
    box: Sandbox,
    job: SelectionJob,
    run: SuiteRun,
    earlier: MutationResult,
    names: Mapping[str, str],
    tests: Sequence[str],
    *,
    trusted: bool,
    first: Sequence[str],
) -> MutationResult:
    """Return what existing and delivered tests kill.

    What all of the candidate's tests together could not kill, some of them cannot either, and is not run again.

    Args:
        box: A sandbox with the delivered file.
        job: What is judged.
        run: Existing and delivered tests, with coverage.
        earlier: Verdicts with a file that held all of these tests.
        names: Node ids in the delivered file by those in `earlier`.
        tests: The delivered tests that pass.
        trusted: Whether `earlier` was measured on a delivered file, so that its kills count too.
        first: Tests to try before others.
    """
    old = witnesses(job) if earlier.verdicts else ()
    known: dict[str, MutantVerdict] = {}
    for verdict in earlier.verdicts:
        if verdict.outcome.is_caught and verdict.killed_by not in old:
            killer = names.get(verdict.killed_by or "")
            if trusted and killer is not None:
                known[verdict.mutant.id] = replace(verdict, killed_by=killer)
        else:
            known[verdict.mutant.id] = verdict
    seen = [*old, *names.values()]
    return _judged(box, job, run, [*old, *tests], known, seen=seen, first=first) or _renamed(earlier, names)


def _renamed(earlier: MutationResult, names: Mapping[str, str]) -> MutationResult:
    """Return verdicts with the names that their killers have now."""
    verdicts = tuple(
        replace(
            verdict, killed_by=names.get(verdict.killed_by, verdict.killed_by) if verdict.killed_by else None
        )
        for verdict in earlier.verdicts
    )
    return replace(earlier, verdicts=verdicts)


def _judged(
    box: Sandbox,
    job: SelectionJob,
    run: SuiteRun,
    tests: Sequence[str],
    known: Mapping[str, MutantVerdict],
    *,
    seen: Sequence[str] = (),
    first: Sequence[str] = (),
) -> MutationResult | None:
    """Judge the job's mutants; None, told to whoever listens, where it cannot be done."""
    if not job.mutants.mutants:
        return None
    try:
        return judge(box, job.target, job.mutants, run, tests=tests, known=known, seen=seen, first=first)
    except MeasureError as error:
        job.note(f"mutants could not be judged: {error}")
        return None
