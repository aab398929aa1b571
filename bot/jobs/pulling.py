"""One pull request, from its clone to the review to be posted; what a run's own process does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from bot import changes, pipeline, repoconfig, settings
from bot.deliver import record, review
from bot.domain import Progress, Request, RunReport
from bot.errors import TestforgeError
from bot.github import cloning, pulls
from bot.github.app import App
from bot.github.pulls import Pull
from bot.jobs import credentials, inquiring, plans, recollection
from bot.jobs.assignment import Assignment, Result
from bot.jobs.journaled import Journaled
from bot.repoconfig import Intent
from bot.settings import Settings
from bot.store import open_store

OFFLINE = "testforge/offline"
_ASKED_AFTER = ("proposed", "no-useful-tests")
"""How a review may have ended for its functions to be asked about: their code can be run."""


def review_pull_request(assignment: Assignment, tell: Callable[[Progress], None]) -> Result:
    """Return what a run found.

    Raises:
        GitHubError: GitHub does not let the App read the repository, or does not answer.
        TestforgeError: testforge, or the repository's configuration, is at fault.
    """
    operator = credentials.load()
    store = open_store(settings.database_url(operator))
    wish = assignment.wish
    root = Path(assignment.directory, "clone")
    with App(operator).connect(wish.installation, wish.repository) as hub:
        tell(Progress("clone", "started"))
        pull = pulls.read(hub, wish.number)
        cloning.clone(hub, pull, root)
        tell(Progress("clone", "done"))
    config = repoconfig.load(changes.configuration(root, pull.base))
    past = recollection.recall(store, wish.repository, wish.number)
    journal = store.journal(assignment.run)
    limit = assignment.budget_usd
    request = Request(
        root=root,
        base=pull.base,
        head=assignment.head,
        model=operator.model or config.model or OFFLINE,
        sandbox=operator.sandbox if operator.sandbox == "process" else "docker",
        max_iterations=config.max_iterations,
        # The replies that an earlier try has paid for come for nothing now.
        budget_usd=None if limit is None else max(0.0, limit - journal.cost()),
        dismissed=past.dismissed,
        earlier=past.earlier,
        approved=past.approved,
        scope=_scope(pull),
    )
    purpose = f"{pull.title}\n\n{pull.body}"
    wrap = partial(Journaled, journal=journal)
    if wish.command == plans.INTENT:
        most = config.intent.questions or Intent().questions  # who asks for questions gets some
        found = inquiring.look_into(request, config, tell, wrap, past.askings, most=most, purpose=purpose)
        return Result(
            report={"status": "asked"},
            askings=[asdict(one) for one in found.askings],
            cost_usd=found.usage.cost_usd,
        )
    report = pipeline.review(request, tell, wrap=wrap)
    built = review.build(
        report,
        root,
        run=assignment.run,
        base=pull.base,
        is_fork=pull.is_fork,
        can_push=pull.can_push,
        run_url=_page(operator, assignment.run),
        deliver=config.deliver,
        sign_off=config.sign_off,
    )
    result = _result(report, built)
    most = config.intent.questions
    if wish.command == plans.ANSWERS or report.status not in _ASKED_AFTER or not most:
        return result
    left = None if request.budget_usd is None else max(0.0, request.budget_usd - report.usage.cost_usd)
    try:
        request = replace(request, budget_usd=left)
        found = inquiring.look_into(request, config, tell, wrap, past.askings, most=most, purpose=purpose)
    except TestforgeError:  # the review is worth posting without questions
        return result
    cost = result.cost_usd + found.usage.cost_usd
    return replace(result, askings=[asdict(one) for one in found.askings], cost_usd=cost)


def _scope(pull: Pull) -> str:
    """Return who shares a pull request's environments: its repository's, but a fork's is of no use to anybody else."""
    return f"{pull.repository}#{pull.number}" if pull.is_fork else pull.repository


def _page(operator: Settings, run: str) -> str:
    """Return where a run's page is; empty if nobody said where the server is reached."""
    return f"{operator.public_url.rstrip('/')}/runs/{run}" if operator.public_url else ""


def _result(report: RunReport, built: review.Review) -> Result:
    """Return a report and its review as plain data, with what the next run of the pull request has to know."""
    return Result(
        report=record.as_json(report),
        review=built.as_json(),
        tests=[asdict(test) for test in recollection.proposed_tests(report, built.tests)],
        suites=[asdict(suite) for suite in recollection.proposed_suites(report)],
        cost_usd=report.usage.cost_usd,
        is_broken=report.is_broken,
    )
