"""Memory over the pushes of a pull request: what a run is told of those before it, and what it leaves to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.deliver.proposals import Proposal
from bot.domain import Approved, Earlier, RunReport, TargetReport
from bot.jobs import dialogue
from bot.select.nodes import Spot
from bot.select.pruning import prune
from bot.select.tables import outline
from bot.store import Store
from bot.store.memory import Remembered, RememberedSuite
from bot.store.questions import Asking


@dataclass(frozen=True, slots=True)
class Past:
    """What was before on a pull request.

    Attributes:
        dismissed: What dismissed tests do.
        earlier: The suites proposed last.
        approved: What its author said the code should do.
        askings: What could be asked about its functions.
    """

    dismissed: frozenset[str]
    earlier: tuple[Earlier, ...]
    approved: tuple[Approved, ...] = ()
    askings: tuple[Asking, ...] = ()


def recall(store: Store, repository: str, number: int) -> Past:
    """Return what a new run of a pull request has to know."""
    earlier = tuple(
        Earlier(suite.target, suite.functions, suite.content)
        for suite in store.memory.suites(repository, number)
    )
    return Past(
        store.memory.dismissed(repository, number),
        earlier,
        dialogue.approved(store, repository, number),
        tuple(store.questions.inquiries(repository, number)),
    )


def proposed_tests(report: RunReport, proposals: tuple[Proposal, ...]) -> Iterator[Remembered]:
    """Yield the proposed tests of a run by what they do; a test function of several cases has several rows."""
    rows = {row.id: row for target in report.targets for row in target.kept}
    for proposal in proposals:
        for test in proposal.ids:
            for behaviour in rows[test].behaviours:
                yield Remembered(behaviour, proposal.key, test, proposal.source, head=report.head or "")


def proposed_suites(report: RunReport) -> Iterator[RememberedSuite]:
    """Yield the suites of a run, without what stood in their files before."""
    for target in report.targets:
        if target.suite is not None:
            yield RememberedSuite(target.target.path, target.target.functions_hash, _own_part(target))


def _own_part(target: TargetReport) -> str:
    """Return a suite's file with nothing in it but the tests that are proposed and what they need."""
    assert target.suite is not None
    content = target.suite.content
    kept = {row.id.partition("::")[2].partition("[")[0] for row in target.kept}
    written = [Spot(function) for function in outline(content).tests]
    others = [spot for spot in written if spot.function not in kept]
    return prune(content, written, others).content if others else content
