"""Commands answered: each once, always, and with the reason where it was not done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.deliver.boxes import unticked
from bot.deliver.markdown import code, length, plain
from bot.deliver.proposals import Proposal, counted
from bot.deliver.review import Review
from bot.errors import UsageError
from bot.github import applying, selecting, telling
from bot.github.authority import may_command
from bot.github.faults import RefusedError
from bot.github.hub import Hub
from bot.github.markers import answer_mark, is_answer
from bot.github.posting import is_own, post_once
from bot.github.pulls import Pull
from bot.github.wishes import Wish

_LONGEST = 65_000
NO_AUTHORITY = (
    "Only people with write permission to this repository can ask for that. One of them can comment the same."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command is answered with.

    Attributes:
        text: Markdown.
        dismissed: Tests that are not to come back, and `why`.
        accepted: Tests that were committed or put into a pull request.
        commit: The commit that was made; empty for none.
    """

    text: str
    dismissed: tuple[Proposal, ...] = ()
    why: str = ""
    accepted: tuple[Proposal, ...] = ()
    commit: str = ""


def acknowledge(hub: Hub, wish: Wish) -> None:
    """Show at once that a command was seen: eyes below a comment, boxes that are free again. It is a courtesy only."""
    if wish.comment is None:
        return
    try:
        if wish.kind == "boxes":
            comment = hub.get(f"/issues/comments/{wish.comment}")
            hub.patch(f"/issues/comments/{wish.comment}", {"body": unticked(comment["body"])})
        else:
            where = "pulls" if wish.inline else "issues"
            hub.post(f"/{where}/comments/{wish.comment}/reactions", {"content": "eyes"})
    except RefusedError:
        return  # the comment was deleted, or the conversation is locked


def answer(hub: Hub, pull: Pull, wish: Wish, text: str) -> int:
    """Post the one answer to a wish and return its comment's id; asked again, find it.

    Raises:
        GitHubError: GitHub refused, or did not answer.
    """
    if wish.more:
        text = f"{text}\n\nOne comment, one command: the others in that comment were not read."
    body = f"{answer_mark(wish.delivery)}\n{text if length(text) <= _LONGEST else text[:_LONGEST]}"
    listed = f"/pulls/{pull.number}/comments" if wish.inline else f"/issues/{pull.number}/comments"
    path = f"{listed}/{wish.comment}/replies" if wish.inline else listed

    def find() -> Any:
        comments = hub.pages(listed)
        return next(
            (c for c in comments if is_answer(c.get("body") or "", wish.delivery) and is_own(hub, c)), None
        )

    return int(post_once(hub, path, {"body": body}, find)["id"])


def respond(hub: Hub, pull: Pull, wish: Wish, review: Review | None, *, running: str = "") -> Answer:
    """Obey a command that needs no run, and return what to answer.

    Who may ask for it is looked up here, whatever the caller did.

    Args:
        review: The last run's on this pull request.
        running: What runs at the moment, as a sentence without its end; empty for nothing.

    Raises:
        GitHubError: GitHub did not answer.
    """
    if wish.command == "help":
        return Answer(telling.usage())
    if wish.command == "status":
        return Answer(telling.standing(review, pull.head, running))
    handler = _HANDLERS.get(wish.command)
    if handler is None:
        return Answer(telling.usage(wish.command))
    if wish.command != "explain" and not may_command(hub, wish.actor):
        return Answer(NO_AUTHORITY)
    if review is None or not review.tests:
        return Answer(telling.NO_REVIEW)
    try:
        return handler(hub, pull, wish, review)
    except UsageError as error:
        return Answer(error.message)


def _apply(hub: Hub, pull: Pull, wish: Wish, review: Review) -> Answer:
    """Commit tests to the head branch."""
    if pull.is_fork:
        return Answer(telling.patch(review))
    tests = selecting.named(review, wish.arguments)
    selection = selecting.select(review, tests)
    made = applying.commit(hub, pull, review, selection, wish.delivery)
    text = (
        f"Committed {counted(tests)} to {code(pull.head_ref)}: [{made.oid[:9]}]({made.url}).{_cut(selection)}"
    )
    return Answer(text, accepted=tests, commit=made.oid)


def _pr(hub: Hub, pull: Pull, wish: Wish, review: Review) -> Answer:
    """Open a pull request with tests into the head branch."""
    if pull.is_fork:
        return Answer(telling.patch(review))
    tests = selecting.named(review, wish.arguments)
    selection = selecting.select(review, tests)
    made = applying.stack(hub, pull, review, selection, wish.delivery)
    moved = ""
    if pull.head != review.head:
        moved = f" The tests were checked at {code(review.head[:9])}; the branch has moved on since."
    text = f"#{made.number} adds {counted(tests)} to {code(pull.head_ref)}.{moved}{_cut(selection)}"
    return Answer(text, accepted=tests)


def _cut(selection: selecting.Selection) -> str:
    """Return a word on files that hold less than what was checked."""
    if not selection.cut:
        return ""
    files = ", ".join(code(path) for path in selection.cut)
    return f" The other proposed tests were cut out of {files}, which was not run again after that."


def _dismiss(hub: Hub, pull: Pull, wish: Wish, review: Review) -> Answer:  # noqa: ARG001 - as all handlers
    """Keep tests from coming back."""
    tests, why = selecting.leading(review, wish.arguments)
    named = ", ".join(f"{test.key} {code(test.name)}" for test in tests)
    verb = "is" if len(tests) == 1 else "are"
    pronoun = "It does" if len(tests) == 1 else "They do"
    return Answer(
        f"{named} {verb} dismissed. {pronoun} not come back.", dismissed=tests, why=plain(" ".join(why), 200)
    )


def _explain(hub: Hub, pull: Pull, wish: Wish, review: Review) -> Answer:  # noqa: ARG001 - as all handlers
    """Show tests and what they prove."""
    tests, _ = selecting.leading(review, wish.arguments)
    return Answer("\n\n".join(telling.explanation(review, test) for test in tests[:5]))


_HANDLERS: Mapping[str, Callable[[Hub, Pull, Wish, Review], Answer]] = {
    "apply": _apply,
    "dismiss": _dismiss,
    "explain": _explain,
    "pr": _pr,
}
