"""The candidate in a pristine sandbox: what is unsafe, fails, is unstable, hollow, said twice or adds nothing goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.domain import Reason
from bot.errors import MeasureError
from bot.measure.hollow import hollow_tests
from bot.sandbox import Sandbox
from bot.select import proof
from bot.select.behaviour import behaviours
from bot.select.bugs import report, suspected
from bot.select.case import Case
from bot.select.composing import texts
from bot.select.draft import Draft
from bot.select.duplicates import duplicates
from bot.select.evidence import chosen, joined
from bot.select.nodes import Spot
from bot.select.pruning import prune
from bot.select.safety import unsafe_tests
from bot.select.tables import outline
from bot.select.verification import Verified, verify

_ALL_HOLLOW = 100
"""Up to so many tests, all are asked whether they are hollow; of more, those that would be kept."""


def screened(content: str, path: str) -> Draft:
    """Return a draft without the tests that may not even be run; with no source if that leaves none.

    Args:
        content: The candidate.
        path: Where it would lie.
    """
    try:
        shape = outline(content)
        refused = unsafe_tests(content)
    except (SyntaxError, ValueError, RecursionError) as error:
        draft = Draft("")
        draft.reject(path, Reason.ERRORS, f"it does not parse: {str(error).splitlines()[0]}")
        return draft
    spots = [Spot(name) for name in shape.tests]
    draft = Draft(
        prune(content, spots, [spot for spot in spots if spot.function in refused]).content
        if refused
        else content
    )
    for name, (reason, note) in sorted(refused.items()):
        draft.reject(f"{path}::{name}", reason, note)
    return draft


def judge_candidate(box: Sandbox, case: Case) -> None:
    """Run the candidate and judge each of its tests; verdicts go to the case's draft.

    Args:
        box: A pristine sandbox.
        case: The selection; what is found out is noted there.
    """
    job, draft = case.job, case.draft
    job.note("running the candidate three times")
    verified = verify(box, job, draft, job.placement.suite_path, draft.source, None, final=False)
    case.count(verified)
    _note_collection_error(case, verified)
    _set_bugs_aside(box, case, verified)
    _reject_dismissed(case)
    if not draft.left:
        return
    _reject_duplicates(box, case)
    alive = {name: test for name, test in verified.names.items() if test not in draft.rejected}
    hollow = _Hollow(box, case, verified)
    if len(alive) <= _ALL_HOLLOW:
        alive = hollow.rejected_from(alive, alive)
    if alive:
        job.note(f"judging {len(alive)} tests by lines and mutants")
        _judge_evidence(box, case, verified, alive, hollow)


def _judge_evidence(
    box: Sandbox, case: Case, verified: Verified, alive: Mapping[str, str], hollow: _Hollow
) -> None:
    """Reject the tests that add nothing; one that would be kept must not be hollow either.

    A hollow test may well kill a mutant that makes the code crash.
    """
    job = case.job
    run = joined(job.baseline.run, *verified.trial.runs[:2], path=job.target.path)
    coverage = run.coverage.get(job.target.path)
    found, met = (case.before, ()) if job.judged is None else (job.judged, tuple(alive))
    while True:
        found = proof.with_candidate(box, job, run, found, tuple(alive), met)
        met = tuple(alive)
        kept = chosen(coverage, job.green, found, tuple(alive), job.target.near_lines)
        left = hollow.rejected_from(alive, kept)
        if len(left) == len(alive):
            break
        alive = left
    case.mutation, case.names = found, alive
    for name in alive.keys() - set(kept):
        case.draft.reject(alive[name], Reason.ADDS_NOTHING, soft=True)


class _Hollow:
    """Finds hollow tests, each test asked about once."""

    def __init__(self, box: Sandbox, case: Case, verified: Verified) -> None:
        self._box = box
        self._case = case
        self._run = verified.trial.first
        self._asked: set[str] = set()

    def rejected_from(self, alive: Mapping[str, str], asked: Iterable[str]) -> dict[str, str]:
        """Reject those of the asked tests that are hollow, and return the others that are alive."""
        fresh = tuple(name for name in asked if name not in self._asked)
        self._asked.update(fresh)
        hollow = self._among(fresh)
        for name in sorted(hollow):
            note = "it passes even when the functions it covers are emptied"
            self._case.draft.reject(alive[name], Reason.HOLLOW, note)
        return {name: test for name, test in alive.items() if name not in hollow}

    def _among(self, tests: tuple[str, ...]) -> frozenset[str]:
        target = self._case.job.target
        if not tests:
            return frozenset()
        if target.path not in self._run.coverage:
            return frozenset(tests)
        try:
            return hollow_tests(self._box, target, self._run, tests)
        except MeasureError as error:
            self._case.job.note(f"hollow tests could not be looked for: {error}")
            return frozenset()


def _note_collection_error(case: Case, verified: Verified) -> None:
    """Give the file itself a row in the ledger if it could not be collected."""
    path = case.job.placement.suite_path
    if case.draft.tests:
        return
    messages = [error.message for error in verified.trial.first.collection_errors if error.path == path]
    note = messages[0] if messages else verified.trial.first.crash or "no test is found in it"
    for name in outline(case.draft.source).tests:
        case.draft.reject(f"{path}::{name}", Reason.ERRORS, note)


def _set_bugs_aside(box: Sandbox, case: Case, verified: Verified) -> None:
    """Tell failures that contradict the code's documentation from those of a wrong test."""
    draft = case.draft
    failing = {
        result.id: draft.tests[result.id]
        for result in verified.trial.results().values()
        if result.assertion and draft.rejected.get(result.id, (None, ""))[0] is Reason.FAILS
    }
    found = suspected(draft.source, case.job.target, failing)
    for test, example in found.items():
        note = f"the documentation says {example.call} gives {example.expected}"
        draft.rejected[test] = (Reason.SUSPECTED_BUG, note)
    case.bugs = report(box, case.job.target, found)


def _reject_dismissed(case: Case) -> None:
    """Reject the tests that the author did not want before."""
    draft, dismissed = case.draft, case.job.dismissed
    if not dismissed:
        return
    said = behaviours(draft.source, [draft.tests[test] for test in draft.left])
    for test in draft.left:
        if said[draft.tests[test]] in dismissed:
            draft.reject(test, Reason.DISMISSED, "the author dismissed it before")


def _reject_duplicates(box: Sandbox, case: Case) -> None:
    job, draft = case.job, case.draft
    paths = [job.placement.final_path] if job.placement.extends else []
    existing = texts(box, list(dict.fromkeys([*paths, *job.placement.examples])))
    by_spot: dict[Spot, str] = {draft.tests[test]: test for test in draft.left}
    for spot, other in duplicates(draft.source, list(by_spot), existing).items():
        draft.reject(by_spot[spot], Reason.DUPLICATE, f"the same as {other}")
