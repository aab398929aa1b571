"""A run's review on its pull request: posted once, the summary edited, earlier reviews folded away."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bot.deliver.review import Review
from bot.errors import GitHubError, UsageError
from bot.github import applying, pulls
from bot.github.faults import InvalidError, NotThereError, RefusedError
from bot.github.hub import Hub
from bot.github.markers import STICKY, RunMark, answer_mark, is_answer, is_sticky, name, run_mark
from bot.github.posting import is_own, post_once
from bot.github.pulls import Pull
from bot.github.rewriting import comment_payload, rewrite
from bot.github.selecting import Selection

_MINIMIZED = """
query($ids: [ID!]!) {
  nodes(ids: $ids) { ... on PullRequestReview { id isMinimized } }
}
"""
_MINIMIZE = """
mutation($input: MinimizeCommentInput!) {
  minimizeComment(input: $input) { minimizedComment { isMinimized } }
}
"""
_FOLDED_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Published:
    """What stands on the pull request now.

    Attributes:
        review, review_url: The review; None and empty if the run has none.
        sticky: The summary comment's id.
        delivered: The commit or the pull request that holds the tests, where the repository asks for one: its address.
        superseded: The head has moved on, so nothing was posted.
        notes: What did not go as it should: comments that were not accepted, reviews that could not be folded.
    """

    review: int | None = None
    review_url: str = ""
    sticky: int | None = None
    delivered: str = ""
    superseded: bool = False
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return {**asdict(self), "notes": list(self.notes)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Published:
        """Return what `as_json` wrote."""
        return cls(**{**data, "notes": tuple(data["notes"])})


def publish(hub: Hub, pull: Pull, review: Review, *, run: str) -> Published:
    """Post a review; called again for the same run or head, it finds what is there and posts nothing twice.

    Raises:
        GitHubError: GitHub refused, or did not answer. What was posted until then is found the next time.
    """
    head = pulls.read(hub, pull.number).head
    if head != review.head and applying.done(hub, head, run) is None:
        return Published(superseded=True)
    notes: list[str] = []
    posted: Any = None
    earlier = [one for one in hub.pages(f"/pulls/{pull.number}/reviews") if _mark_of(hub, one) is not None]
    if review.body:
        posted = _post(hub, pull, review, run, notes)
        if posted is None:
            return Published(superseded=True)
        if _is_of_another(posted, run):
            notes += rewrite(hub, pull, posted, review, _text(review, run))
    try:
        sticky = _stick(hub, pull, review)
    except RefusedError as error:
        if posted is None:
            raise
        sticky = None  # the review is what was asked for, and it stands
        notes.append(f"The summary was not taken: {error.said or error.code}")
    notes += _fold(hub, [one for one in earlier if _is_older(hub, one, review.head)])
    delivered = _deliver(hub, pull, review, run) if review.deliver != "suggestions" else ""
    return Published(
        delivered=delivered,
        review=int(posted["id"]) if posted else None,
        review_url=str(posted["html_url"]) if posted else "",
        sticky=sticky,
        notes=tuple(notes),
    )


def _mark_of(hub: Hub, item: Any) -> RunMark | None:
    """Return the mark of one of the bot's own reviews; None for others'."""
    return run_mark(item.get("body") or "") if is_own(hub, item) else None


def _is_older(hub: Hub, item: Any, head: str) -> bool:
    mark = _mark_of(hub, item)
    return mark is not None and mark.head != head


# ---------------------------------------------------------------- the review


def _post(hub: Hub, pull: Pull, review: Review, run: str, notes: list[str]) -> Any:
    """Post the review, or find it; None if the head has moved on."""
    path = f"/pulls/{pull.number}/reviews"

    def find() -> Any:
        return _find(hub, pull, review.head)

    try:
        return post_once(hub, path, _payload(review, run), find)
    except InvalidError as error:
        if pulls.read(hub, pull.number).head != review.head:
            return None
        found = _unblock(hub, pull, find)
        if found is not None:
            return found
        notes.append(f"GitHub did not take the comments on lines: {error.said or error.code}")
        return post_once(hub, path, _payload(review.without_comments(), run), find)


def _find(hub: Hub, pull: Pull, head: str) -> Any:
    """Return the review of this head that was posted before; None if there is none."""
    for item in hub.pages(f"/pulls/{pull.number}/reviews"):
        mark = _mark_of(hub, item)
        if mark is not None and mark.head == head and item.get("state") != "PENDING":
            return item
    return None


def _unblock(hub: Hub, pull: Pull, find: Any) -> Any:
    """Return a review that was stored although it was refused; remove one that hangs as a draft and blocks the next."""
    found = find()
    if found is not None:
        return found
    for item in hub.pages(f"/pulls/{pull.number}/reviews"):
        if item.get("state") == "PENDING" and is_own(hub, item):
            with contextlib.suppress(NotThereError):  # gone by a first try whose answer was lost
                hub.delete(f"/pulls/{pull.number}/reviews/{item['id']}")
    return None


def _is_of_another(posted: Any, run: str) -> bool:
    """Whether a review was found that another run wrote."""
    mark = run_mark(posted.get("body") or "")
    return mark is not None and mark.run != name(run)


def _text(review: Review, run: str) -> str:
    """Return the review's body with its mark."""
    return f"{RunMark(run, review.head)}\n{review.body}"


def _payload(review: Review, run: str) -> dict[str, Any]:
    """Return the request's body."""
    body: dict[str, Any] = {
        "commit_id": review.head,
        "event": "COMMENT",
        "body": _text(review, run),
    }
    if review.comments:
        body["comments"] = [comment_payload(comment) for comment in review.comments]
    return body


# ---------------------------------------------------------------- the summary


def _stick(hub: Hub, pull: Pull, review: Review) -> int | None:
    """Edit the summary comment, or write it; one that has nothing to say only replaces an older one."""

    def find() -> Any:
        listed = hub.pages(f"/issues/{pull.number}/comments")
        return next((one for one in listed if is_sticky(one.get("body") or "") and is_own(hub, one)), None)

    body = f"{STICKY}\n{review.sticky}"
    found = find()
    if found is None:
        if review.is_quiet:
            return None
        found = post_once(hub, f"/issues/{pull.number}/comments", {"body": body}, find)
    if found["body"].replace("\r\n", "\n") != body:
        hub.patch(f"/issues/comments/{found['id']}", {"body": body})
    return int(found["id"])


# ---------------------------------------------------------------- the tests, where they are wanted at once


def _deliver(hub: Hub, pull: Pull, review: Review, run: str) -> str:
    """Commit the tests, or open a pull request with them, and return its address; say so where that is not possible."""
    selection = Selection(review.tests, {file.path: file.content for file in review.files})
    now = pulls.read(hub, pull.number)
    try:
        if review.deliver == "commit":
            return applying.commit(hub, now, review, selection, run).url
        return applying.stack(hub, now, review, selection, run).url
    except UsageError as error:
        path = f"/issues/{pull.number}/comments"

        def find() -> Any:
            return next(
                (c for c in hub.pages(path) if is_answer(c.get("body") or "", run) and is_own(hub, c)), None
            )

        text = f"{answer_mark(run)}\nThe tests could not be put into the repository. {error.message}"
        post_once(hub, path, {"body": text}, find)
        return ""


# ---------------------------------------------------------------- earlier reviews


def _fold(hub: Hub, reviews: list[Any]) -> list[str]:
    """Minimise earlier reviews as outdated; failing to is no reason to fail."""
    ids = [str(review["node_id"]) for review in reviews][-_FOLDED_AT_ONCE:]
    if not ids:
        return []
    try:
        nodes = hub.graphql(_MINIMIZED, {"ids": ids})["nodes"]
        open_ = [node["id"] for node in nodes if node and not node.get("isMinimized", True)]
        for node_id in open_:
            hub.graphql(_MINIMIZE, {"input": {"subjectId": node_id, "classifier": "OUTDATED"}})
    except RefusedError as error:
        return [f"Earlier reviews could not be folded: {error.said or error.message}"]
    except GitHubError as error:
        return [f"Earlier reviews could not be folded: {error.message}"]
    return []
