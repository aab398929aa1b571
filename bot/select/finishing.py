"""The file to deliver: composed, verified in a pristine sandbox, measured, and cut until every test earns its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain import Reason, Suite, SuiteRun
from bot.sandbox import Sandbox
from bot.select import proof
from bot.select.case import Case
from bot.select.composing import Composition, compose
from bot.select.evidence import joined, lines_gained, strongest_first
from bot.select.stability import run_alone
from bot.select.verification import Verified, names_in, verify


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
        settled = final is not None and suite == final.suite  # what was to go as well cannot be cut out
        job.note(f"verifying {len(draft.left)} tests in {suite.path}")
        with job.sandboxes.open(job.tree, job.interpreter) as box:
            box.write(suite.path, suite.content.encode())
            opening = run_alone(box, suite.path, [job.target.path], job.timeout_s)
            if not settled:
                final = _measured(box, case, composition, opening, trusted=final is not None)
                if _reject_idle(case, final):
                    continue
            verified = verify(
                box, job, draft, suite.path, suite.content, composition.moved, final=True, opening=opening
            )
        case.count(verified)
        if not _refuse_strangers(case, verified) and not verified.found:
            return final
        draft.restore()
        final = None


def _refuse_strangers(case: Case, verified: Verified) -> bool:
    """Refuse a file with a red test that cannot be traced to a function of it: it could not be cut out."""
    own = set(verified.names) | {result.id for result in case.job.baseline.run.results}
    strangers = [
        result.id
        for result in verified.trial.results().values()
        if result.id not in own and result.outcome.is_red
    ]
    for test in case.draft.left if strangers else ():
        case.draft.reject(test, Reason.ERRORS, f"{strangers[0]} fails and cannot be taken out of the file")
    return bool(strangers)


def _measured(
    box: Sandbox, case: Case, composition: Composition, opening: SuiteRun, *, trusted: bool
) -> Final:
    """Measure the file as it is: mutants judged again, lines counted again.

    A test that does not pass even now counts for nothing; verification is going to reject it.
    """
    job = case.job
    run = joined(job.baseline.run, opening, path=job.target.path)
    names = names_in(case.draft, composition.suite.content, opening.results, composition.moved)
    passing = {test: name for name, test in names.items() if name in opening.passed}
    known = {old: passing[test] for old, test in case.names.items() if test in passing}
    strongest = [known[old] for old in strongest_first(case.mutation, known)]
    case.mutation = proof.with_final(
        box, job, run, case.mutation, known, tuple(passing.values()), trusted=trusted, first=strongest
    )
    case.names = names
    target = job.target
    coverage = run.coverage.get(target.path)
    lines = lines_gained(coverage, job.green, tuple(passing.values()), target.near_lines)
    return Final(composition.suite, names, run, lines, case.mutation.kills())


def _reject_idle(case: Case, final: Final) -> bool:
    """Reject the tests that pass, but neither gain a line nor kill a mutant in the delivered file."""
    idle = [
        name
        for name in final.run.passed
        if name in final.names and not final.lines.get(name) and not final.kills.get(name)
    ]
    for name in idle:
        case.draft.reject(final.names[name], Reason.ADDS_NOTHING, soft=True)
    return bool(idle)
