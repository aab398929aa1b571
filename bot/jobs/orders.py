"""The workflow of everything but a review: commands, ticked boxes, closed pull requests, installations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import structlog

from bot.deliver.markdown import plain
from bot.deliver.review import Review
from bot.errors import GitHubError, TestforgeError
from bot.github import answers, pulls
from bot.github.authority import may_command
from bot.github.faults import RefusedError
from bot.github.hub import Hub
from bot.github.wishes import Wish
from bot.jobs import dialogue, plans, queues
from bot.jobs.office import Office
from bot.jobs.steps import step
from bot.store.runs import Run

CLOSED = "The pull request was closed."
GONE = "The App was uninstalled or suspended."
_GOING = ("installation.deleted", "installation.suspend")

Json = dict[str, Any]


def obey(office: Office, data: Mapping[str, Any], received: float) -> Json:
    """Do what a wish other than a review asks for.

    Args:
        data: The wish.
        received: When it arrived, in seconds since 1970.
    """
    wish = Wish.from_json(data)
    about = {"delivery": wish.delivery, "repository": wish.repository, "pull": wish.number}
    with structlog.contextvars.bound_contextvars(**about):
        log = structlog.get_logger("testforge.order")
        done = _obey(office, wish, received)
        log.info("obeyed", kind=wish.kind, command=wish.command, **done)
        return done


def _obey(office: Office, wish: Wish, received: float) -> Json:
    if wish.kind == "installation":
        return {"stopped": step("leave", _leave, office, wish, received)}
    if wish.kind == "closed":
        step("stop", office.store.runs.stop, wish.repository, wish.number, received, CLOSED)
        return {"closed": True}
    step("acknowledge", _acknowledge, office, wish)
    if wish.command in ("", plans.INTENT):
        return _ask_for_review(office, wish, received)
    try:
        found = step("respond", _respond, office, wish, received)
    except Exception as error:
        structlog.get_logger("testforge.order").exception("the command failed")
        text = error.message if isinstance(error, TestforgeError) else "The server's log says why."
        found = {"text": f"That could not be done. {plain(text)}"}
    step("remember", _remember, office, wish, found)
    taken = step("answer", _answer, office, wish, found["text"])
    if found.get("review"):
        queues.enqueue(replace(wish, kind="review", command=plans.ANSWERS, comment=None), received)
    return {"answered": True} if taken else {"answered": False, "state": "failed"}


def _ask_for_review(office: Office, wish: Wish, received: float) -> Json:
    """Put a run into its queue if whoever asks for it may; it answers when it ends without a review."""
    try:
        refusal = step("authority", _refusal, office, wish)
    except TestforgeError as error:
        step("answer", _answer, office, wish, f"That could not be done. {plain(error.message)}")
        return {"state": "failed"}
    if refusal:
        step("answer", _answer, office, wish, refusal)
        return {"refused": True}
    queues.enqueue(replace(wish, kind="review"), received)
    return {"review": True}


def _leave(office: Office, wish: Wish, received: float) -> int:
    """Stop the runs of an installation that is going; return how many there were."""
    if wish.event not in _GOING:
        return 0
    running = [run for run in office.store.runs.running() if run.installation == wish.installation]
    for run in running:
        office.store.runs.stop(run.repository, 0, received, GONE)
    return len(running)


def _acknowledge(office: Office, wish: Wish) -> None:
    """Show that a command was seen; where that fails, the answer will show it."""
    try:
        with _hub(office, wish) as hub:
            answers.acknowledge(hub, wish)
    except GitHubError as error:
        structlog.get_logger("testforge.order").warning("not acknowledged", reason=error.message)


def _refusal(office: Office, wish: Wish) -> str:
    """Return why somebody may not ask for a run; empty if they may."""
    with _hub(office, wish) as hub:
        if wish.command == plans.INTENT:
            may = dialogue.may_answer(hub, pulls.read(hub, wish.number), wish.actor)
            return "" if may else dialogue.NO_AUTHORITY
        return "" if may_command(hub, wish.actor) else answers.NO_AUTHORITY


def _respond(office: Office, wish: Wish, received: float) -> Json:
    """Do what a command says, and return the answer's text and what is to be remembered."""
    runs = office.store.runs
    running = [run for run in runs.of_pull(wish.repository, wish.number) if run.state == "running"]
    with _hub(office, wish) as hub:
        if wish.command == "stop":
            return {"text": _stop(office, hub, wish, received, running)}
        pull = pulls.read(hub, wish.number)
        if wish.command in dialogue.COMMANDS:
            return dialogue.respond(office, hub, pull, wish)
        said = answers.respond(hub, pull, wish, _last_review(office, wish), running=_told(running))
    return {
        "text": said.text,
        "why": said.why,
        "dismissed": [test.key for test in said.dismissed],
        "accepted": [test.key for test in said.accepted],
    }


def _stop(office: Office, hub: Hub, wish: Wish, received: float, running: list[Run]) -> str:
    """Stop what runs and what waits for its turn; return what to answer."""
    if not may_command(hub, wish.actor):
        return answers.NO_AUTHORITY
    waiting = queues.waiting_reviews(wish.repository, wish.number, 0.0, ())
    office.store.runs.stop(wish.repository, wish.number, received, f"@{wish.actor} stopped it.")
    if not running and not waiting:
        return "Nothing is running here, so there is nothing to stop."
    return "The run is being stopped."


def _remember(office: Office, wish: Wish, found: Mapping[str, Any]) -> None:
    """Write down what became of tests."""
    for state in ("dismissed", "accepted"):
        if found.get(state):
            office.store.memory.mark(
                wish.repository,
                wish.number,
                found[state],
                state,
                actor=wish.actor,
                why=found.get("why", "") if state == "dismissed" else "",
            )


def _answer(office: Office, wish: Wish, text: str) -> bool:
    """Post the answer; return False where GitHub does not take it: the pull request is gone, archived or locked."""
    try:
        with _hub(office, wish) as hub:
            answers.answer(hub, pulls.read(hub, wish.number), wish, text)
    except RefusedError as error:
        structlog.get_logger("testforge.order").warning("an answer is not taken", reason=error.message)
        return False
    return True


def _last_review(office: Office, wish: Wish) -> Review | None:
    """Return the review that was posted last on a pull request."""
    last = office.store.runs.last_posted(wish.repository, wish.number)
    data = None if last is None else office.store.runs.review(last.id)
    return None if data is None else Review.from_json(data)


def _told(running: list[Run]) -> str:
    """Return what runs at the moment, as a sentence without its end."""
    if not running:
        return ""
    return f"{running[0].head[:9]} is being reviewed ({running[0].stage or 'it has just begun'})"


def _hub(office: Office, wish: Wish) -> Hub:
    return office.app.connect(wish.installation, wish.repository)
