"""Selection: of a candidate suite, keep the tests that pass, are stable and prove something (DESIGN section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.domain import Judgement, MutationResult, Reason
from bot.measure.deltas import coverage_deltas, mutation_delta
from bot.select import proof
from bot.select.base import outcomes_on_base
from bot.select.behaviour import behaviours, delivered
from bot.select.case import Case
from bot.select.composing import workplace
from bot.select.finishing import Final, finish
from bot.select.job import Selection, SelectionJob
from bot.select.screening import judge_candidate, screened

__all__ = ["Selection", "SelectionJob", "select"]


def select(job: SelectionJob) -> Selection:
    """Judge a candidate suite test by test and return the file to deliver, with its evidence.

    Args:
        job: The candidate, where it belongs, and what the existing tests do.

    Returns:
        The suite (None if no test is kept), every test of the candidate with its verdict, and the deltas.

    Raises:
        SandboxError: A sandbox could not be opened.
        MeasureError: The tests could not be started at all.
    """
    draft = screened(job.candidate.content, job.placement.suite_path)
    with job.sandboxes.open(job.tree, job.interpreter) as box:
        case = Case(job, draft, workplace(box, job.placement), proof.before(box, job))
        if draft.source:
            judge_candidate(box, case)
    final = finish(case)
    return _selection(case, final, _on_base(job, final))


def _on_base(job: SelectionJob, final: Final | None) -> Mapping[str, str | None]:
    """Run the delivered file on the base commit, if there is one."""
    if final is None or job.base_tree is None:
        return {}
    job.note("running the kept tests on the base commit")
    with job.sandboxes.open(job.base_tree, job.interpreter) as box:
        return outcomes_on_base(box, final.suite, tuple(final.names), job.timeout_s)


def _selection(case: Case, final: Final | None, on_base: Mapping[str, str | None]) -> Selection:
    job = case.job
    run = job.baseline.run if final is None else final.run
    kept = () if final is None else tuple(final.names)
    coverage = coverage_deltas(
        job.target,
        job.baseline.coverage(job.target),
        job.green,
        run.coverage.get(job.target.path),
        (*job.green, *kept),
        measured=not job.baseline.problem,
    )
    before = MutationResult() if job.baseline.problem else case.before
    after = before if final is None else case.mutation
    return Selection(
        suite=None if final is None else final.suite,
        ledger=_ledger(case, final, on_base),
        run=run,
        coverage=coverage,
        mutation=mutation_delta(before, after),
        suspected_bugs=case.bugs,
    )


def _ledger(case: Case, final: Final | None, on_base: Mapping[str, str | None]) -> tuple[Judgement, ...]:
    """Return a row for every test of the candidate: in file order, those that were not even run first."""
    draft = case.draft
    kept = {} if final is None else {test: name for name, test in final.names.items()}
    rows: list[Judgement] = []
    written = behaviours(draft.source, draft.tests.values()) if final is not None else {}
    given = {} if final is None else delivered(final.suite.content, final.suite.path, final.run.results)
    for test in dict.fromkeys([*(t for t in draft.rejected if t not in draft.tests), *draft.tests]):
        row = Judgement(test, None, runs=case.runs.get(test, 0), duration_s=case.durations.get(test, 0.0))
        if final is not None and test in kept and test not in draft.rejected:
            name = kept[test]
            rows.append(
                replace(
                    row,
                    id=name,
                    lines_gained=final.lines.get(name, ()),
                    mutants_killed=final.kills.get(name, ()),
                    on_base=on_base.get(name),
                    behaviours=tuple(
                        dict.fromkeys([written[draft.tests[test]], *filter(None, [given.get(name)])])
                    ),
                )
            )
        else:
            reason, note = draft.rejected.get(
                test, (Reason.ERRORS, "it is not in the file that was verified")
            )
            rows.append(replace(row, reason=reason, note=note))
    return tuple(rows)
