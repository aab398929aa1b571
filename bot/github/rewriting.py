"""A review brought up to date: another run at the same head changes what stands there, for a head has one review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.deliver.remarks import Comment
from bot.deliver.review import Review
from bot.github.faults import InvalidError, NotThereError
from bot.github.hub import Hub
from bot.github.posting import is_own, post_once
from bot.github.pulls import Pull


def rewrite(hub: Hub, pull: Pull, found: Any, review: Review, body: str) -> list[str]:
    """Replace a review's comments and text; the text, which tells the run, comes last, so that this can be taken up again.

    Args:
        found: The review as GitHub lists it.
        body: The new text with its mark.

    Returns:
        Notes on comments that were not accepted.
    """
    notes: list[str] = []
    wanted = {_key(comment_payload(comment)): comment for comment in review.comments}
    for old in _standing(hub, pull, review.head):
        if _key(old) in wanted:
            del wanted[_key(old)]
        else:
            try:
                hub.delete(f"/pulls/comments/{old['id']}")
            except NotThereError:
                continue  # somebody deleted it first
    for comment in wanted.values():
        notes += _post(hub, pull, review.head, comment)
    hub.put(f"/pulls/{pull.number}/reviews/{found['id']}", {"body": body})
    return notes


def comment_payload(comment: Comment) -> dict[str, Any]:
    """Return a comment as GitHub takes it."""
    data: dict[str, Any] = {
        "path": comment.path,
        "line": comment.line,
        "side": comment.side,
        "body": comment.text,
    }
    if comment.start_line is not None and comment.start_line < comment.line:
        data.update(start_line=comment.start_line, start_side=comment.side)
    return data


def _standing(hub: Hub, pull: Pull, head: str) -> list[Any]:
    """Return the bot's own comments on this head's lines; answers to somebody are not among them."""
    listed = hub.pages(f"/pulls/{pull.number}/comments")
    return [
        one
        for one in listed
        if is_own(hub, one) and one["commit_id"] == head and not one.get("in_reply_to_id")
    ]


def _key(data: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what makes two comments the same."""
    return data["path"], data.get("start_line"), data.get("line"), data["body"].replace("\r\n", "\n")


def _post(hub: Hub, pull: Pull, head: str, comment: Comment) -> list[str]:
    payload = comment_payload(comment)

    def find() -> Any:
        return next((one for one in _standing(hub, pull, head) if _key(one) == _key(payload)), None)

    try:
        post_once(hub, f"/pulls/{pull.number}/comments", {**payload, "commit_id": head}, find)
    except InvalidError as error:
        return [f"GitHub did not take a comment on {comment.path}: {error.said or error.code}"]
    return []
