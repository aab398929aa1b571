"""Endpoints of comments, and of reactions to them."""

from __future__ import annotations

from typing import Any

from tests.github.server.nouns import Comment, Pull, RefusalError
from tests.github.server.rest import Call, checked, route
from tests.github.server.reviews import in_pull, line_comment

Json = Any


@route("GET", "/repos/{owner}/{repo}/pulls/{number}/comments", "pull_requests:read")
def _line_comments(call: Call) -> tuple[int, Json]:
    pull = call.pull
    return 200, call.page([call.shapes.line_comment(call.repository, pull, c) for c in pull.line_comments])


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/comments", "pull_requests:write")
def _comment_on_line(call: Call) -> tuple[int, Json]:
    in_pull(call.repository, call.pull, call.body["commit_id"])
    comment = line_comment(call, call.body["commit_id"], call.body)
    call.pull.line_comments.append(comment)
    return 201, call.shapes.line_comment(call.repository, call.pull, comment)


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies", "pull_requests:write")
def _reply(call: Call) -> tuple[int, Json]:
    pull = call.pull
    parent = next((c for c in pull.line_comments if c.id == int(call.parts["comment"])), None)
    if parent is None:
        raise RefusalError(404, "Not Found")
    reply = Comment(
        call.world.new_id(), call.actor, checked(call.body["body"]), call.world.clock.text(),
        parent.path, parent.line, commit=parent.commit, reply_to=parent.reply_to or parent.id,
    )  # fmt: skip
    pull.line_comments.append(reply)
    return 201, call.shapes.line_comment(call.repository, pull, reply)


@route("GET", "/repos/{owner}/{repo}/issues/{number}/comments", "issues:read", "pull_requests:read")
def _comments(call: Call) -> tuple[int, Json]:
    pull = call.pull
    return 200, call.page([call.shapes.comment(call.repository, pull, comment) for comment in pull.comments])


@route("POST", "/repos/{owner}/{repo}/issues/{number}/comments", "issues:write", "pull_requests:write")
def _comment(call: Call) -> tuple[int, Json]:
    comment = call.world.comment(
        call.repository.full_name, call.pull.number, checked(call.body["body"]), user=call.actor
    )
    return 201, call.shapes.comment(call.repository, call.pull, comment)


def _found(call: Call, *, on_lines: bool) -> tuple[Pull, Comment]:
    for pull in call.repository.pulls.values():
        for comment in pull.line_comments if on_lines else pull.comments:
            if comment.id == int(call.parts["comment"]):
                return pull, comment
    raise RefusalError(404, "Not Found")


@route("GET", "/repos/{owner}/{repo}/issues/comments/{comment}", "issues:read", "pull_requests:read")
def _one_comment(call: Call) -> tuple[int, Json]:
    return 200, call.shapes.comment(call.repository, *_found(call, on_lines=False))


@route("PATCH", "/repos/{owner}/{repo}/issues/comments/{comment}", "issues:write", "pull_requests:write")
def _edit_comment(call: Call) -> tuple[int, Json]:
    pull, comment = _found(call, on_lines=False)
    if comment.user != call.actor:
        raise RefusalError(403, "Resource not accessible by integration")
    comment.body = checked(call.body["body"])
    return 200, call.shapes.comment(call.repository, pull, comment)


@route("DELETE", "/repos/{owner}/{repo}/pulls/comments/{comment}", "pull_requests:write")
def _delete_line_comment(call: Call) -> tuple[int, Json]:
    pull, comment = _found(call, on_lines=True)
    pull.line_comments.remove(comment)
    return 204, None


def _react(call: Call, *, on_lines: bool) -> tuple[int, Json]:
    _, comment = _found(call, on_lines=on_lines)
    reaction = (call.actor, call.body["content"])
    status = 200 if reaction in comment.reactions else 201
    if status == 201:
        comment.reactions.append(reaction)
    user = call.shapes.user(call.actor)
    shape = {"id": comment.id, "node_id": f"RE_{comment.id}", "user": user, "content": call.body["content"]}
    return status, {**shape, "created_at": comment.at}


@route(
    "POST", "/repos/{owner}/{repo}/issues/comments/{comment}/reactions", "issues:write", "pull_requests:write"
)
def _react_to_comment(call: Call) -> tuple[int, Json]:
    return _react(call, on_lines=False)


@route("POST", "/repos/{owner}/{repo}/pulls/comments/{comment}/reactions", "pull_requests:write")
def _react_to_line_comment(call: Call) -> tuple[int, Json]:
    return _react(call, on_lines=True)
