"""Endpoints of reviews, with GitHub's rules: lines within the diff, one pending review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.github.server.nouns import Comment, Pull, RefusalError, Repository, Review
from tests.github.server.rest import Call, checked, route

Json = Any


@route("GET", "/repos/{owner}/{repo}/pulls/{number}/reviews", "pull_requests:read")
def _reviews(call: Call) -> tuple[int, Json]:
    pull = call.pull
    seen = [r for r in pull.reviews if r.state != "PENDING" or r.user == call.actor]
    return 200, call.page([call.shapes.review(call.repository, pull, review) for review in seen])


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/reviews", "pull_requests:write")
def _review(call: Call) -> tuple[int, Json]:
    repository, pull, body = call.repository, call.pull, call.body
    event = body.get("event")
    if event == "COMMENT" and not body.get("body"):
        raise RefusalError(422, "Validation Failed", [{"message": "body is required"}])
    if any(review.state == "PENDING" and review.user == call.actor for review in pull.reviews):
        raise RefusalError(
            422, "Unprocessable Entity", ["User can only have one pending review per pull request"]
        )
    text = checked(body.get("body", " .")) if body.get("body") else ""
    commit = body.get("commit_id", pull.last_head)
    in_pull(repository, pull, commit)
    comments = [line_comment(call, commit, one) for one in body.get("comments", ())]
    review = Review(
        call.world.new_id(),
        call.actor,
        text,
        "COMMENTED" if event == "COMMENT" else "PENDING" if event is None else event,
        commit,
        call.world.clock.text(),
    )
    for comment in comments:
        comment.review = review.id
    pull.reviews.append(review)
    pull.line_comments.extend(comments)
    return 200, call.shapes.review(repository, pull, review)


@route("PUT", "/repos/{owner}/{repo}/pulls/{number}/reviews/{review}", "pull_requests:write")
def _edit_review(call: Call) -> tuple[int, Json]:
    review = _own_review(call)
    review.body = checked(call.body["body"])
    return 200, call.shapes.review(call.repository, call.pull, review)


@route("DELETE", "/repos/{owner}/{repo}/pulls/{number}/reviews/{review}", "pull_requests:write")
def _delete_review(call: Call) -> tuple[int, Json]:
    review = _own_review(call)
    if review.state != "PENDING":
        raise RefusalError(422, "Unprocessable Entity", ["Can not delete a non-pending pull request review"])
    call.pull.reviews.remove(review)
    return 200, call.shapes.review(call.repository, call.pull, review)


@route("GET", "/repos/{owner}/{repo}/pulls/{number}/reviews/{review}/comments", "pull_requests:read")
def _review_comments(call: Call) -> tuple[int, Json]:
    own = [c for c in call.pull.line_comments if c.review == int(call.parts["review"])]
    shown = [call.shapes.line_comment(call.repository, call.pull, comment) for comment in own]
    # GitHub's lists of a review's comments have no line.
    lineless = [
        {k: v for k, v in one.items() if k not in ("line", "side", "start_line", "start_side")}
        for one in shown
    ]
    return 200, call.page(lineless)


def _own_review(call: Call) -> Review:
    for review in call.pull.reviews:
        if review.id == int(call.parts["review"]):
            if review.user != call.actor:
                raise RefusalError(403, "Resource not accessible by integration")
            return review
    raise RefusalError(404, "Not Found")


def in_pull(repository: Repository, pull: Pull, commit: str) -> None:
    base = str(repository.store.tip(pull.base_ref))
    store = repository.store
    if not (
        store.has(commit) and store.contains(commit, pull.last_head) and not store.contains(commit, base)
    ):
        raise RefusalError(422, "Unprocessable Entity", ["Commit is not part of the pull request"])


def line_comment(call: Call, commit: str, asked: Mapping[str, Json]) -> Comment:
    """Return a comment where it is allowed to stand. GitHub does not tell which of several is not."""
    repository, pull = call.repository, call.pull
    text = checked(asked["body"])
    if "line" not in asked:
        raise RefusalError(422, "Unprocessable Entity", ["Position could not be resolved"])
    line, start, side = asked["line"], asked.get("start_line"), asked.get("side", "RIGHT")
    hunks = repository.store.hunks(str(repository.store.tip(pull.base_ref)), commit).get(asked["path"])
    if hunks is None:
        raise RefusalError(422, "Unprocessable Entity", ["Path could not be resolved"])
    own = next((hunk[side == "RIGHT"] for hunk in hunks if line in hunk[side == "RIGHT"]), None)
    if own is None:
        raise RefusalError(422, "Unprocessable Entity", ["Line could not be resolved"])
    if start is not None and (start >= line or start not in own or asked.get("start_side", side) != side):
        raise RefusalError(
            422, "Unprocessable Entity", ["Start line must precede the end line, in the same hunk"]
        )
    world = call.world
    return Comment(
        world.new_id(), call.actor, text, world.clock.text(), asked["path"], line, start, side, commit
    )
