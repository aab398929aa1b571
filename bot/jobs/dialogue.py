"""The dialogue with a pull request's author: which question is open, what an answer means, and what follows from it.

All of it lies in the database: the candidates were run when the question was found, so that an answer needs no sandbox.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import structlog

from bot.changes.source import decode
from bot.deliver import questions as markdown
from bot.deliver.markdown import code, fenced
from bot.domain import Approved
from bot.errors import GitHubError, TestforgeError, UsageError
from bot.github import pulls, questioning
from bot.github.authority import may_command
from bot.github.faults import NotThereError
from bot.github.hub import Hub
from bot.github.pulls import Pull
from bot.github.wishes import Wish
from bot.intent import kept
from bot.intent.inquiry import HEAD, difference
from bot.intent.several import Topic, next_topic
from bot.jobs import plans, queues
from bot.jobs.office import Office
from bot.programs.assertions import Assertion
from bot.programs.functions import find
from bot.store import Store
from bot.store.questions import ANSWERS, Asking, Question

COMMANDS = frozenset(ANSWERS)
"""The commands that answer a question."""
SILENCE_S = 7 * 24 * 3600.0
"""A question that nobody answers closes itself after so long."""
NO_AUTHORITY = "Only the pull request's author and people with write permission to this repository can say what it should do."
_NAME = re.compile(r"[qQ](\d{1,4})")
_CLOSED = {
    "dropped": "closed, for the function has changed since it was asked",
    "expired": "closed, for nobody answered for a week",
}


def keep(store: Store, repository: str, number: int, found: Sequence[Asking]) -> None:
    """Take over what a run found to ask about; an open question about a function that has changed is dropped."""
    before = {(one.path, one.function): _text(one) for one in store.questions.inquiries(repository, number)}
    now = {(one.path, one.function): _text(one) for one in found}
    for question in store.questions.of_pull(repository, number):
        about = (question.path, question.function)
        if question.state == "open" and (about not in now or now[about] != before.get(about)):
            store.questions.close(repository, number, question.key, "dropped")
    store.questions.keep(repository, number, found)


def ask(store: Store, hub: Hub, pull: Pull) -> Question | None:
    """Open the next question, if none is open, show how the dialogue stands, and return the open question."""
    repository, number = pull.repository, pull.number
    rows = store.questions.of_pull(repository, number)
    askings = store.questions.inquiries(repository, number)
    spent = sum(row.state != "dropped" for row in rows)
    if _open(rows) is None and spent < sum(one.questions for one in askings):
        following = next_topic(_topics(store, repository, number, askings))
        if following is not None:
            about, assertion = askings[following[0]], following[1]
            store.questions.ask(
                repository, number, about.path, about.function, assertion.call, assertion.predicate
            )
    show(store, hub, pull)
    return _open(store.questions.of_pull(repository, number))


def show(store: Store, hub: Hub, pull: Pull) -> None:
    """Bring the comment that asks up to date; there is none before the first question."""
    rows = store.questions.of_pull(pull.repository, pull.number)
    if rows:
        asked = [
            markdown.Asked(
                row.name, put(_assertion(row)), row.path, row.state, f"@{row.actor}" if row.actor else ""
            )
            for row in rows
        ]
        questioning.show(hub, pull.number, markdown.comment(asked))


def put(assertion: Assertion) -> str:
    """Return an assertion as a statement in Markdown."""
    return markdown.put(assertion.call, assertion.predicate, assertion.expected)


def may_answer(hub: Hub, pull: Pull, actor: str) -> bool:
    """Return whether somebody may say what the code should do: the author, and who may write. Raises GitHubError."""
    return actor == pull.author or may_command(hub, actor)


def respond(office: Office, hub: Hub, pull: Pull, wish: Wish) -> dict[str, Any]:
    """Take an answer.

    Returns:
        `text`, what to answer, and `review`, whether the review is to be brought up to date.

    Raises:
        GitHubError: GitHub did not answer.
    """
    store, repository, number = office.store, pull.repository, pull.number
    if not may_answer(hub, pull, wish.actor):
        return {"text": NO_AUTHORITY}
    rows = store.questions.of_pull(repository, number)
    question = _named(rows, wish)
    if isinstance(question, str):
        return {"text": question}
    if question.state in _CLOSED:
        return {"text": f"{question.name} is {_CLOSED[question.state]}. `/testforge intent` asks anew."}
    asking = _current(store, hub, pull, question)
    if asking is None and question.state == "open":
        store.questions.close(repository, number, question.key, "dropped")
        ask(store, hub, pull)
        return {"text": f"{question.name} is {_CLOSED['dropped']}. The next run of testforge asks anew."}
    store.questions.close(repository, number, question.key, wish.command, actor=wish.actor)  # type: ignore[arg-type]
    rows = store.questions.of_pull(repository, number)
    text = _consequences(question, wish.command, asking, rows)
    following = ask(store, hub, pull)
    is_over = following is None and any(row.state == "yes" for row in rows)
    if following is not None:
        text.append(f"{following.name} is the next question.")
    else:
        text.append("Nothing is left to ask.")
    if is_over:
        text.append("The review is being brought up to date with what was approved.")
    return {
        "text": "\n\n".join([" ".join(part for part in text if "\n" not in part), *_long(text)]),
        "review": is_over,
    }


def _long(text: Sequence[str]) -> list[str]:
    """Return the parts that need lines of their own."""
    return [part for part in text if "\n" in part]


def _consequences(
    question: Question, answer: str, asking: Asking | None, rows: Sequence[Question]
) -> list[str]:
    """Return what is to be said of an answer; `asking` is None if the function has changed since it was asked about."""
    told = {"yes": "yes", "no": "no", "undefined": "it does not matter"}
    text = [f"{question.name}: {told[answer]}."]
    if question.state in ANSWERS and question.state != answer:
        text.append(f"Before, the answer was {told[question.state]}; the last one counts.")
    if asking is None:
        return text
    topic = _topic(asking, rows)
    inquiry, state = topic.inquiry, topic.state
    assertions, assertion = inquiry.pool.table.assertions, _assertion(question)
    if assertion not in assertions:
        return text
    number = assertions.index(assertion)
    overruled = [row.name for row in rows if _is_among(row, assertions, state.overruled)]
    if number in state.overruled:
        text.append("None of the candidates agrees with that.")
    elif overruled:
        text.append(
            f"No candidate agrees with that and with the answer to {', '.join(overruled)}; the last one counts."
        )
    holds = inquiry.pool.table.passes(HEAD, number)
    if (answer == "yes" and not holds) or (answer == "no" and holds):
        gives = code(inquiry.observed(assertion), 300)
        text.append(
            f"**The code does not do that:** {code(assertion.call, 300)} gives {gives} at {asking.head[:9]}."
        )
        best = inquiry.best(state)
        if best.origin != "head":
            shown = fenced(difference(inquiry.subject, best, asking.path), "diff")
            text.append(f"The smallest change that agrees with all answers:\n\n{shown}")
    return text


def approved(store: Store, repository: str, number: int) -> tuple[Approved, ...]:
    """Return what was approved on a pull request, with how each function would do it; of two values for a call the last."""
    rows = store.questions.of_pull(repository, number)
    topics = {
        (one.path, one.function): _topic(one, rows) for one in store.questions.inquiries(repository, number)
    }
    found: dict[tuple[str, ...], Approved] = {}
    for row in sorted(rows, key=lambda row: row.answered or 0.0):
        if row.state != "yes":
            continue
        topic = topics.get((row.path, row.function))
        asked, repair = "", ""
        if topic is not None:
            best = topic.inquiry.best(topic.state)
            asked = topic.inquiry.subject.text
            repair = "" if best.origin == "head" else best.text
        about = (row.path, row.function, row.call)
        key = about if _assertion(row).expected is not None else (*about, row.predicate)
        found[key] = Approved(*about, row.predicate, f"@{row.actor}", asked, repair)
    return tuple(found.values())


def close_silent(office: Office, now: float) -> int:
    """Close the questions that nobody answered for a week, and return how many.

    What was approved before them on the same pull request joins its review now.

    Args:
        now: In seconds since 1970.
    """
    store = office.store
    silent = store.questions.open_since(now - SILENCE_S)
    for repository, number, question in silent:
        store.questions.close(repository, number, question.key, "expired")
        installation = next((run.installation for run in store.runs.of_pull(repository, number)), 0)
        try:
            with office.app.connect(installation, repository) as hub:
                show(store, hub, pulls.read(hub, number))
        except GitHubError as error:  # the repository is gone, or its next answer shows it
            structlog.get_logger("testforge.dialogue").warning(
                "a closed question could not be shown",
                repository=repository,
                pull=number,
                reason=error.message,
            )
        if any(row.state == "yes" for row in store.questions.of_pull(repository, number)):
            delivery = f"silence-{question.name}"
            queues.enqueue(
                Wish("review", delivery, installation, repository, number, "", command=plans.ANSWERS), now
            )
    return len(silent)


def _named(rows: Sequence[Question], wish: Wish) -> Question | str:
    """Return the question that a command names, or why there is none."""
    if not rows:
        return "No question has been asked on this pull request. `/testforge intent` asks what is in doubt."
    open_, words = _open(rows), wish.arguments
    if not words:
        # The one that is open is not taken for granted: it may be another one by now than the author saw.
        which = open_ or rows[-1]
        return (
            f"Which question does that answer? `/testforge {wish.command} {which.name}` answers the last one."
        )
    match = _NAME.fullmatch(words[0])
    found = next((row for row in rows if match and row.key == int(match[1])), None)
    last = f"Q1 to {rows[-1].name}" if len(rows) > 1 else "Q1 alone"
    return found or f"There is no question {code(words[0], 40)} here; there is {last}."


def _topics(store: Store, repository: str, number: int, askings: Sequence[Asking]) -> list[Topic]:
    rows = store.questions.of_pull(repository, number)
    return [_topic(one, rows) for one in askings]


def _topic(asking: Asking, rows: Sequence[Question]) -> Topic:
    """Return what can be asked about a function with what was answered; silence is no answer, and is not asked again."""
    own = [row for row in rows if (row.path, row.function) == (asking.path, asking.function)]
    said = sorted((row for row in own if row.state in ANSWERS), key=lambda row: row.answered or 0.0)
    answers = [(_assertion(row), row.state) for row in said]
    answers += [(_assertion(row), "undefined") for row in own if row.state == "expired"]
    return Topic(kept.from_json(asking.inquiry), tuple(answers), asking.questions)


def _current(store: Store, hub: Hub, pull: Pull, question: Question) -> Asking | None:
    """Return what a question is about, if that is the same at the pull request's head as when it was asked."""
    about = question.path, question.function
    askings = store.questions.inquiries(pull.repository, pull.number)
    asking = next((one for one in askings if (one.path, one.function) == about), None)
    return None if asking is None or _has_changed(hub, pull, asking) else asking


def _has_changed(hub: Hub, pull: Pull, asking: Asking) -> bool:
    """Whether a function is another one at the pull request's head than when it was asked about."""
    if pull.head == asking.head:
        return False
    try:
        found = hub.get(f"/contents/{quote(asking.path)}", ref=pull.head)
        source = decode(base64.b64decode(found["content"]))
        return find(source, asking.function).text != _text(asking)
    except (NotThereError, UsageError, KeyError, TypeError, ValueError):
        return True


def _text(asking: Asking) -> str:
    """Return the text of the function that was asked about."""
    try:
        return find(asking.inquiry["source"], asking.function).text
    except TestforgeError:
        return ""


def _is_among(row: Question, assertions: Sequence[Assertion], numbers: Sequence[int]) -> bool:
    return any(assertions[number] == _assertion(row) for number in numbers)


def _assertion(row: Question) -> Assertion:
    return Assertion(row.call, row.predicate)


def _open(rows: Sequence[Question]) -> Question | None:
    return next((row for row in rows if row.state == "open"), None)
