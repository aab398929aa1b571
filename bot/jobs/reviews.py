"""The workflow of one review: look, announce, work, post, ask, conclude. Each step's end is written down.

Steps are told apart by their order and their names alone. A change of them takes another `queues.VERSION`, or
`DBOS.patch`, for the sake of those that are under way.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any

import structlog

from bot.deliver.review import Review
from bot.errors import GitHubError, TestforgeError
from bot.github import checks, publishing, pulls
from bot.github.faults import RefusedError, UnreachableError
from bot.github.hub import Hub
from bot.github.pulls import Pull
from bot.github.wishes import Wish
from bot.jobs import answering, dialogue, process, queues
from bot.jobs.assignment import Assignment, Result
from bot.jobs.office import Office
from bot.jobs.plans import INTENT, forecast, plan
from bot.jobs.progress import Reporter
from bot.jobs.steps import step
from bot.store.memory import Remembered, RememberedSuite
from bot.store.questions import Asking

Json = dict[str, Any]


NEWER = "A newer commit was pushed."


def review_pull(office: Office, data: Mapping[str, Any], received: float) -> Json:
    """Review a pull request once.

    Args:
        data: The wish.
        received: When it arrived, in seconds since 1970.
    """
    from dbos import DBOS

    run = str(DBOS.workflow_id)
    job = _Job(office, run, Wish.from_json(data), received)
    with structlog.contextvars.bound_contextvars(**job.about):
        try:
            end = _in_steps(job)
        except Exception as error:
            job.log.exception("the run failed")
            end = _end("failed", _sentence(error), told=True)
        try:
            step("conclude", job.conclude, end)
        except TestforgeError as error:
            job.log.warning("nobody could be told how the run ended", reason=error.message)
            step("close", job.close, end)
    return end


def _in_steps(job: _Job) -> Json:
    """Take the steps, and return how it ended."""
    planned = step("look", job.look)
    if planned["reason"]:
        return _end("skipped", planned["reason"], told=planned["is_told"])
    is_review = job.wish.command != INTENT
    check = step("announce", job.announce, planned) if is_review else 0
    end: Json = step("work", job.work, planned, check)
    if end["state"] == "found" and is_review:
        end = step("post", job.post, planned)
    if end["state"] == "done":
        try:
            step("ask", job.ask, planned)
        except TestforgeError as error:  # the review stands; a question is more than was asked for
            job.log.warning("the author could not be asked", reason=error.message)
    elif end["state"] == "found":
        end = _end("asked", step("ask", job.ask, planned))
    return end


def _end(state: str, reason: str = "", *, told: bool = False, **more: Any) -> Json:
    return {"state": state, "reason": reason, "told": told, **more}


def _forecast(planned: Json) -> str:
    """Return what a run will likely cost, also of a plan that was made before that was known."""
    return forecast(planned.get("expected_usd", 0.0), planned["budget_usd"])


def _sentence(error: Exception) -> str:
    """Return what went wrong for the pull request's readers: family members say it, others are for the log."""
    if isinstance(error, TestforgeError):
        return error.message
    return "Something went wrong inside testforge; the server's log says what."


class _Job:
    """The steps of one run. Each can be taken twice without harm."""

    def __init__(self, office: Office, run: str, wish: Wish, received: float) -> None:
        self.office = office
        self.run = run
        self.wish = wish
        self.received = received
        self.runs = office.store.runs
        self.about = {
            "run": run,
            "delivery": wish.delivery,
            "repository": wish.repository,
            "pull": wish.number,
        }
        self.log = structlog.get_logger("testforge.run")
        self._seen: set[str] = set()

    def look(self) -> Json:
        """Decide whether there is a run at all."""
        wish = self.wish
        self.office.check()
        self._begin(wish.head or "")  # also what cannot be looked at is a run, with an end that can be read
        with self._hub() as hub:
            found = plan(self.office, hub, wish, self.received)
        self._begin(found.pull.get("head", wish.head or ""))
        self.log.info("run begins" if not found.reason else "no run", reason=found.reason)
        return found.as_json()

    def announce(self, planned: Json) -> int:
        """Begin the check run, and return its id; 0 if the App may not write checks."""
        self.office.check()
        with self._hub() as hub:
            check = checks.start(hub, Pull.from_json(planned["pull"]), run=self.run, told=_forecast(planned))
        self.runs.update(self.run, check_run=check or None)
        return check

    def work(self, planned: Json, check: int) -> Json:
        """Let a process of its own do the work; the result lies in the database when this returns."""
        self.office.check()
        if self.runs.report(self.run) is not None:  # the step was interrupted after its work was done
            return _end("found")
        pull = Pull.from_json(planned["pull"])
        with self._hub() as hub, process.room(self.office.work, self.run) as directory:
            reporter = Reporter(self.runs, self.run, hub, check, _forecast(planned))
            assignment = Assignment(
                self.run, self.wish, pull.head, planned["budget_usd"], directory, os.getpid()
            )
            watch = process.Watch(
                progress=reporter,
                unwanted=lambda: self._unwanted(pull),
                stopping=self.office.stopping,
                limit_s=60.0 * self.office.settings.run_minutes,
            )
            ended = process.carry_out(assignment, watch)
        # What a run without a result has cost is known from its calls alone.
        cost = max(ended.result.cost_usd, self.office.store.journal(self.run).cost())
        self.office.store.spending.note(self.run, self.wish.repository, cost)
        if ended.unwanted:
            state = "superseded" if ended.unwanted == NEWER else "cancelled"
            return _end(state, ended.unwanted)
        result = ended.result
        if result.failure:
            self.log.warning("the run's process found nothing", failure=result.failure, log=ended.log)
            if result.passing:
                raise UnreachableError(result.failure)
            return _end("failed", result.failure, told=True)
        self.runs.keep_result(self.run, result.report, result.review, result.cost_usd)
        self._remember(result)
        return _end("found")

    def post(self, planned: Json) -> Json:
        """Post the review, if the head is still the one that was reviewed."""
        self.office.check()
        data = self.runs.review(self.run)
        assert data is not None
        built = Review.from_json(data)
        stopped = self.runs.stopped(self.wish.repository, self.wish.number, self.received)
        if stopped:
            return _end("cancelled", stopped)
        with self._hub() as hub:
            pull = pulls.read(hub, self.wish.number)
            if pull.head != planned["pull"]["head"]:
                return _end("superseded", NEWER)
            if pull.state != "open":
                return _end("cancelled", f"The pull request is {pull.state}.")
            if pull.archived:
                return _end("cancelled", "The repository is archived.")
            posted = publishing.publish(hub, pull, built, run=self.run)
        if posted.superseded:
            return _end("superseded", NEWER)
        for note in posted.notes:
            self.log.warning("posted, but not all of it", note=note)
        return _end("done", url=posted.review_url)

    def ask(self, planned: Json) -> str:
        """Ask the author the first question, if something is in doubt; return that as a sentence."""
        self.office.check()
        pull = Pull.from_json(planned["pull"])
        try:
            with self._hub() as hub:
                question = dialogue.ask(self.office.store, hub, pull)
        except RefusedError as error:
            self.log.warning("the author could not be asked", reason=error.message)
            return f"The question could not be posted. {error.message}"
        if question is None:
            return "Nothing that this pull request changes is in doubt beyond what was asked, so there is nothing to ask."
        return f"{question.name} is asked in a comment of its own."

    def conclude(self, end: Json) -> None:
        """End the check run, answer who asked, and write down how the run ended."""
        self.office.check()
        for untold in answering.conclude(self.office, self.run, self.wish, end):
            self.log.warning("nobody could be told how the run ended", reason=untold)
        self.close(end)

    def close(self, end: Json) -> None:
        """Write down how the run ended."""
        if end.get("url"):
            self.runs.update(self.run, url=end["url"])
        self.runs.finish(self.run, end["state"], end["reason"])
        self.log.info("run ended", state=end["state"], reason=end["reason"])

    def _begin(self, head: str) -> None:
        wish = self.wish
        self.runs.begin(
            self.run, repository=wish.repository, number=wish.number, head=head,
            installation=wish.installation, delivery=wish.delivery, actor=wish.actor, event=wish.event,
        )  # fmt: skip

    def _hub(self) -> Hub:
        return self.office.app.connect(self.wish.installation, self.wish.repository)

    def _unwanted(self, pull: Pull) -> str:
        """Return why the run is not wanted any more: somebody stopped it, or a newer commit waits for its own."""
        wish = self.wish
        stopped = self.runs.stopped(wish.repository, wish.number, self.received)
        if stopped:
            return stopped
        waiting = queues.waiting_reviews(wish.repository, wish.number, self.received, self._seen)
        if not waiting:
            return ""
        # Webhooks arrive in any order, so what waits may be for this commit or for an older one.
        with contextlib.suppress(GitHubError), self._hub() as hub:
            if pulls.read(hub, wish.number).head != pull.head:
                return NEWER
            self._seen.update(waiting)
        return ""

    def _remember(self, result: Result) -> None:
        """Leave to the pull request's next run what this one proposes; it is posted next, or a later one replaces it."""
        wish, memory = self.wish, self.office.store.memory
        memory.propose(wish.repository, wish.number, [Remembered(**test) for test in result.tests])
        memory.keep_suites(wish.repository, wish.number, [RememberedSuite(**one) for one in result.suites])
        if result.askings is not None:
            found = [Asking(**one) for one in result.askings]
            dialogue.keep(self.office.store, wish.repository, wish.number, found)
