"""The whole way from a wish to a review in this process: queues, steps, clone and review are real, on the tests' GitHub.

Only two things are not: the run's own process is a call in this one, and what the pipeline finds is given, so that a run
takes a moment and what goes wrong around it can be tried in all its kinds. The clock of GitHub, and of whoever waits for
it, only moves when somebody waits.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import structlog

from bot import pipeline
from bot.domain import (
    CoverageDeltas,
    Delta,
    Function,
    Judgement,
    Request,
    RunReport,
    Suite,
    Target,
    TargetReport,
    Usage,
)
from bot.github.app import App
from bot.github.wishes import Wish
from bot.jobs import child, engine, process, pulling, queues, steps
from bot.jobs.assignment import Assignment
from bot.jobs.engine import Engine
from bot.settings import Settings
from bot.store import Store, open_store
from bot.store.runs import Run
from tests.github.hands import HandClock
from tests.github.server import GitHub
from tests.github.server.nouns import Comment, Pull
from tests.jobs.serving import AFTER, REPOSITORY, furnish, wait_for
from tests.queues import take

TESTS = "tests/test_price.py"
CONTENT = "from quotes import price\n\n\ndef test_heavy():\n    assert price(31) == 300\n"


def report_of(request: Request) -> RunReport:
    """Return what a run of these pull requests finds: one test in a new file."""
    function = Function("price", 1, 2, 9)
    target = Target("quotes.py", "quotes", AFTER, frozenset({3, 4, 7, 8}), (function,), "", "quotes.py")
    kept = Judgement(f"{TESTS}::test_heavy", None, "", (6,), (), "passed", 3, 0.01, ("a behaviour",))
    coverage = CoverageDeltas(Delta(0.5, 1.0), Delta(0.0, 1.0), Delta(None, None))
    found = TargetReport(target, "proposed", suite=Suite(TESTS, CONTENT), ledger=(kept,), coverage=coverage)
    return RunReport(
        "proposed", "", request.base, request.head, "testforge/offline", "process", 1.0, Usage(), (found,)
    )


class Desk:
    """An engine at work.

    Attributes:
        meanwhile: Happens in the middle of each run, once the clone is there.
        find: Gives what a run finds.
    """

    def __init__(self, github: GitHub, clock: HandClock, started: Engine, store: Store) -> None:
        self.github, self.clock, self.engine, self.store = github, clock, started, store
        self.repository = github.world.repositories[REPOSITORY]
        self.meanwhile: Callable[[], None] = lambda: None
        self.find: Callable[[Request], RunReport] = report_of

    @property
    def installation(self) -> int:
        """The App's installation for the repository."""
        return int(self.repository.installation or 0)

    # ---------------------------------------------------------------- what people do

    def pull(self, **more: Any) -> Pull:
        """Open a pull request of its own for a test."""
        branch = f"change{self.github.world.new_id()}"
        repository = more.get("head_repo") or REPOSITORY
        self.github.world.push(repository, branch, {"quotes.py": AFTER.encode()})
        return self.github.world.open_pull(REPOSITORY, branch, **more)

    def review(self, pull: Pull, **more: Any) -> Run:
        """Let a pull request be reviewed, as when it was pushed to, and return the run at its end."""
        wish = Wish(
            "review", secrets.token_hex(6), self.installation, REPOSITORY, pull.number, "alice",
            head=pull.last_head, event="pull_request.synchronize",
        )  # fmt: skip
        return self.run_of(replace(wish, **more))

    def say(self, pull: Pull, command: str, *arguments: str, user: str = "alice") -> str:
        """Give a command by a comment and return the one answer; for a review that is posted, its body."""
        wish = self.command(pull, command, *arguments, user=user)
        self.engine.submit([wish])
        if self.ended(queues.workflow_id(wish)).get("review"):
            self.ended(queues.workflow_id(replace(wish, kind="review")))
        return self.answer(pull, wish)

    def command(self, pull: Pull, command: str, *arguments: str, user: str = "alice") -> Wish:
        """Write a comment with a command, and return what it asks for."""
        comment = self.github.world.comment(REPOSITORY, pull.number, f"/testforge {command}", user=user)
        return Wish(
            "command", secrets.token_hex(6), self.installation, REPOSITORY, pull.number, user,
            comment=comment.id, command=command, arguments=arguments, event="issue_comment.created",
        )  # fmt: skip

    # ---------------------------------------------------------------- what is seen of it

    def run_of(self, wish: Wish) -> Run:
        """Submit a wish for a review and return the run at its end."""
        self.engine.submit([wish])
        name = queues.workflow_id(wish)
        self.ended(name)
        run = self.store.runs.get(name)
        assert run is not None
        assert run.ended is not None, run
        return run

    def ended(self, name: str) -> Any:
        """Wait for a workflow's end, and return what it gives."""
        from dbos import DBOS

        def status() -> Any:
            found = DBOS.get_workflow_status(name)
            return found if found and found.status not in ("ENQUEUED", "PENDING") else None

        found = wait_for(status, f"{name} does not end", every_s=0.01)
        assert found.status == "SUCCESS"
        return found.output

    def answer(self, pull: Pull, wish: Wish) -> str:
        """Return the one answer to a wish; a posted review where there is no other."""
        mark = f"testforge:answer={wish.delivery} "
        texts = [comment.body for comment in pull.comments if mark in comment.body]
        if not texts:
            texts = [review.body for review in pull.reviews]
        (text,) = texts
        return text

    def posted(self, pull: Pull) -> tuple[int, int, int]:
        """Return how many reviews, summaries and check runs of its heads a pull request has."""
        heads = {pull.last_head, *(review.commit for review in pull.reviews)}
        checks = [check for check in self.repository.checks if check["head_sha"] in heads]
        return len(pull.reviews), len(_summaries(pull)), len(checks)

    def check(self, pull: Pull, head: str = "") -> tuple[str, str]:
        """Return the conclusion and the words of a head's one check run."""
        head = head or pull.last_head
        (check,) = (check for check in self.repository.checks if check["head_sha"] == head)
        assert check["status"] == "completed"
        return str(check["conclusion"]), str(check["output"]["summary"])


def _summaries(pull: Pull) -> list[Comment]:
    return [comment for comment in pull.comments if "testforge:sticky" in comment.body]


@contextmanager
def desk_in(place: Path, timeout_s: float = 30.0, **settings: Any) -> Iterator[Desk]:
    """Give a desk with a GitHub of its own.

    Args:
        timeout_s: How long an answer of GitHub is waited for.
        settings: Of the operator.
    """
    clock, before = HandClock(), structlog.get_config()
    structlog.configure(processors=[_unsaid])  # drawing what went wrong takes longer than what goes wrong
    data = place / "data"
    data.mkdir(parents=True)
    with GitHub(place / "github", clock) as github, pytest.MonkeyPatch.context() as patch:
        github.hang_s = 2 * timeout_s
        furnish(github)
        operator = Settings(
            data_directory=data, app_id=github.world.app_id, private_key=github.world.pem,
            github_url=github.url, worker_name="desk", webhook_secret="x", github_timeout_s=timeout_s,
            sandbox="process", allow_process_sandbox=True, **settings,
        )  # fmt: skip
        for name in operator.model_fields_set:
            value = getattr(operator, name)
            value = getattr(value, "get_secret_value", lambda value=value: value)()
            patch.setenv(f"TESTFORGE_{name.upper()}", str(value))
        patch.setattr(engine, "POLL_S", 0.05)
        patch.setattr(process, "LOOK_S", 0.0)
        patch.setattr(steps, "FIRST_WAIT_S", 0.01)
        patch.setattr(steps, "TAKEN", 2)
        store = open_store(f"sqlite:///{data}/testforge.sqlite")
        take()
        started = Engine(operator, store, App(operator, clock), lambda: None)
        started.start()
        desk = Desk(github, clock, started, store)
        patch.setattr(process, "carry_out", lambda job, watch: _carried_out(desk, job, watch))
        patch.setattr(pulling, "App", lambda operator: App(operator, clock))
        patch.setattr(pipeline, "review", lambda request, *_, **__: _found(desk, request))
        yield desk
        started.stop()
        store.close()
    structlog.configure(**before)
    assert github.violations == []


def _unsaid(*_: object) -> str:
    raise structlog.DropEvent


def _found(desk: Desk, request: Request) -> RunReport:
    desk.meanwhile()
    return desk.find(request)


def _carried_out(desk: Desk, assignment: Assignment, watch: process.Watch) -> process.End:
    """Do here what a run's own process does."""
    result = child._result(assignment, lambda progress: watch.progress({"stage": progress.stage}))
    return process.End(result, watch.unwanted())
