"""The file to deliver: composed, verified in a pristine sandbox, measured, and cut until every test earns its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain import Outcome, Reason, Suite, SuiteRun
from bot.sandbox import Sandbox
from bot.select import proof
from bot.select.case import Case
from bot.select.composing import compose
from bot.select.evidence import joined, lines_gained, strongest_first
from bot.select.verification import Verified, verify


@dataclass(frozen=True, slots=True)
class Final:
    """The file to deliver and what was measured on it.

    Attributes:
        names: The candidate's tests by their node ids in the file, in file order.
        run: Existing and delivered tests together, with coverage.
        lines: Lines each test gains, by its node id in the file.
        kills: Mutants each test is the one to kill, by its node id in the file.
    """

    suite: Suite
    names: Mapping[str, str]
    run: SuiteRun
    lines: Mapping[str, tuple[int, ...]]
    kills: Mapping[str, tuple[str, ...]]


def finish(case: Case) -> Final | None:
    """Compose, verify and measure until nothing changes any more; None if no test is left.

    Each round but the last rejects a test, so the rounds come to an end.
    """
    job, draft, final = case.job, case.draft, None
    while True:
        remainder = draft.remainder()
        if not remainder.content:
            return None
        composition = compose(case.place, remainder)
        suite = composition.suite
        if final is not None and suite == final.suite:
            return final  # what was to go as well cannot be cut out
        job.note(f"verifying {len(draft.left)} tests in {suite.path}")
        with job.sandboxes.open(job.tree, job.interpreter) as box:
            verified = verify(box, job, draft, suite.path, suite.content, composition.moved, final=True)
            case.count(verified)
            if _refuse_strangers(case, verified) or verified.found:
                final = None
                continue
            final = _measured(box, case, suite, verified, trusted=final is not None)
        if not _reject_idle(case, final):
            return final


def _refuse_strangers(case: Case, verified: Verified) -> bool:
    """Refuse a file with a red test that cannot be traced to a function of it: it could not be cut out."""
    own = set(verified.names) | {result.id for result in case.job.baseline.run.results}
    strangers = [
        result.id
        for result in verified.trial.results().values()
        if result.id not in own and result.outcome in (Outcome.FAILED, Outcome.ERROR, Outcome.TIMED_OUT)
    ]
    for test in case.draft.left if strangers else ():
        case.draft.reject(test, Reason.ERRORS, f"{strangers[0]} fails and cannot be taken out of the file")
    return bool(strangers)


def _measured(box: Sandbox, case: Case, suite: Suite, verified: Verified, *, trusted: bool) -> Final:
    """Measure the file as it is: mutants judged again, lines counted again."""
    job = case.job
    run = joined(job.baseline.run, *verified.trial.runs[:2], path=job.target.path)
    now = {test: name for name, test in verified.names.items()}
    names = {old: now[test] for old, test in case.names.items() if test in now}
    strongest = [names[old] for old in strongest_first(case.mutation, names)]
    case.mutation = proof.with_final(box, job, run, case.mutation, names, trusted=trusted, first=strongest)
    case.names = verified.names
    lines = lines_gained(run.coverage.get(job.target.path), job.green, verified.tests)
    return Final(suite, verified.names, run, lines, case.mutation.kills())


def _reject_idle(case: Case, final: Final) -> bool:
    """Reject the tests that neither gain a line nor kill a mutant in the delivered file."""
    idle = [name for name in final.names if not final.lines.get(name) and not final.kills.get(name)]
    for name in idle:
        case.draft.reject(final.names[name], Reason.ADDS_NOTHING, soft=True)
    return bool(idle)
