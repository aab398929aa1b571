"""The REST endpoints that the bot uses, with GitHub's rules: anchors, one pending review, permissions, limits of size."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.github.server.gitstore import GitError
from tests.github.server.shapes import Shapes
from tests.github.server.world import Comment, Pull, RefusalError, Repository, Review, Token, World

_LONGEST = 65_536
_MOST_ANNOTATIONS = 50
Json = Any


@dataclass
class Call:
    """One request, its path taken apart."""

    world: World
    shapes: Shapes
    token: Token | None
    body: Mapping[str, Json]
    query: Mapping[str, str]
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def repository(self) -> Repository:
        """The repository of the path, which the token must reach."""
        full_name = f"{self.parts['owner']}/{self.parts['repo']}"
        repository = self.world.repositories.get(full_name)
        if repository is None or self.token is None or full_name not in self.token.repositories:
            raise RefusalError(404, "Not Found")
        return repository

    @property
    def pull(self) -> Pull:
        """The pull request of the path."""
        pull = self.repository.pulls.get(int(self.parts["number"]))
        if pull is None:
            raise RefusalError(404, "Not Found")
        return pull

    @property
    def actor(self) -> str:
        """Who asks."""
        return self.world.bot_login

    def page(self, items: list[Json]) -> list[Json]:
        """Return the page that is asked for."""
        size, number = min(100, int(self.query.get("per_page", 30))), int(self.query.get("page", 1))
        return items[size * (number - 1) : size * number]


Handler = Callable[[Call], tuple[int, Json]]


@dataclass(frozen=True)
class Route:
    """An endpoint: `needs` lists permissions of which one must be there, as `name:level`."""

    method: str
    pattern: re.Pattern[str]
    needs: tuple[str, ...]
    handler: Handler


ROUTES: list[Route] = []


def route(method: str, path: str, *needs: str) -> Callable[[Handler], Handler]:
    """Make a function the handler of an endpoint."""
    pattern = re.compile(
        re.sub(r"\{(\w+)\}", lambda m: f"(?P<{m[1]}>{'.+' if m[1] in ('ref', 'path') else '[^/]+'})", path)
    )

    def register(handler: Handler) -> Handler:
        ROUTES.append(Route(method, pattern, needs, handler))
        return handler

    return register


def dispatch(call: Call, method: str, path: str) -> tuple[int, Json]:
    """Answer a request, once its permissions are there."""
    for one in ROUTES:
        match = one.pattern.fullmatch(path)
        if one.method != method or match is None:
            continue
        call.parts = {name: unquote(value) for name, value in match.groupdict().items()}
        if "repo" in call.parts:
            writes = method not in ("GET",)
            if writes and call.repository.archived:
                raise RefusalError(403, "Repository was archived so is read-only.")
            if one.needs and not any(_granted(call.token, need) for need in one.needs):
                raise RefusalError(403, "Resource not accessible by integration")
        return one.handler(call)
    raise RefusalError(404, "Not Found")


def _granted(token: Token | None, need: str) -> bool:
    name, _, level = need.partition(":")
    have = token.permissions.get(name, "") if token else ""
    return have == "write" or (have == "read" and level == "read")


def _checked(text: str) -> str:
    if not text.strip():
        raise RefusalError(422, "Validation Failed", [{"code": "missing_field", "field": "body"}])
    if len(text) > _LONGEST:
        raise RefusalError(
            422, "Validation Failed", [{"message": "body is too long (maximum is 65536 characters)"}]
        )
    return text


# ---------------------------------------------------------------- repositories and people


@route("GET", "/repos/{owner}/{repo}", "metadata:read")
def _repository(call: Call) -> tuple[int, Json]:
    return 200, call.shapes.repository(call.repository)


@route("GET", "/repos/{owner}/{repo}/collaborators/{login}/permission", "metadata:read")
def _permission(call: Call) -> tuple[int, Json]:
    login = call.parts["login"]
    level = call.repository.collaborators.get(login, "read")
    if login == "nobody":
        raise RefusalError(404, "Not Found")
    return 200, {"permission": level, "role_name": level, "user": call.shapes.user(login)}


# ---------------------------------------------------------------- pull requests


@route("GET", "/repos/{owner}/{repo}/pulls/{number}", "pull_requests:read")
def _pull(call: Call) -> tuple[int, Json]:
    return 200, call.shapes.pull(call.repository, call.pull)


@route("GET", "/repos/{owner}/{repo}/pulls", "pull_requests:read")
def _pulls(call: Call) -> tuple[int, Json]:
    repository = call.repository
    wanted = call.query.get("head")
    found = [
        pull
        for pull in repository.pulls.values()
        if (call.query.get("state", "open") in ("all", pull.state))
        and (wanted is None or (pull.head_repo and wanted == f"{pull.head_repo.owner}:{pull.head_ref}"))
    ]
    return 200, call.page([call.shapes.listed_pull(repository, pull) for pull in found])


@route("POST", "/repos/{owner}/{repo}/pulls", "pull_requests:write")
def _open_pull(call: Call) -> tuple[int, Json]:
    repository, body = call.repository, call.body
    for name in ("head", "base"):
        if repository.store.tip(body[name]) is None:
            raise RefusalError(
                422, "Validation Failed", [{"resource": "PullRequest", "field": name, "code": "invalid"}]
            )
    if any(p.head_ref == body["head"] and p.state == "open" for p in repository.pulls.values()):
        raise RefusalError(422, "Validation Failed", [{"message": "A pull request already exists"}])
    pull = call.world.open_pull(
        repository.full_name,
        body["head"],
        base_ref=body["base"],
        author=call.actor,
        title=body["title"],
        body=body["body"],
    )
    return 201, call.shapes.pull(repository, pull)


# ---------------------------------------------------------------- reviews


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
    text = _checked(body.get("body", " .")) if body.get("body") else ""
    commit = body.get("commit_id", pull.last_head)
    _in_pull(repository, pull, commit)
    comments = [_line_comment(call, commit, one) for one in body.get("comments", ())]
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
    review.body = _checked(call.body["body"])
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


def _in_pull(repository: Repository, pull: Pull, commit: str) -> None:
    base = str(repository.store.tip(pull.base_ref))
    store = repository.store
    if not (
        store.has(commit) and store.contains(commit, pull.last_head) and not store.contains(commit, base)
    ):
        raise RefusalError(422, "Unprocessable Entity", ["Commit is not part of the pull request"])


def _line_comment(call: Call, commit: str, asked: Mapping[str, Json]) -> Comment:
    """Return a comment where it is allowed to stand. GitHub does not tell which of several is not."""
    repository, pull = call.repository, call.pull
    text = _checked(asked["body"])
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


# ---------------------------------------------------------------- comments


@route("GET", "/repos/{owner}/{repo}/pulls/{number}/comments", "pull_requests:read")
def _line_comments(call: Call) -> tuple[int, Json]:
    pull = call.pull
    return 200, call.page([call.shapes.line_comment(call.repository, pull, c) for c in pull.line_comments])


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/comments", "pull_requests:write")
def _comment_on_line(call: Call) -> tuple[int, Json]:
    _in_pull(call.repository, call.pull, call.body["commit_id"])
    comment = _line_comment(call, call.body["commit_id"], call.body)
    call.pull.line_comments.append(comment)
    return 201, call.shapes.line_comment(call.repository, call.pull, comment)


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies", "pull_requests:write")
def _reply(call: Call) -> tuple[int, Json]:
    pull = call.pull
    parent = next((c for c in pull.line_comments if c.id == int(call.parts["comment"])), None)
    if parent is None:
        raise RefusalError(404, "Not Found")
    reply = Comment(
        call.world.new_id(), call.actor, _checked(call.body["body"]), call.world.clock.text(),
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
        call.repository.full_name, call.pull.number, _checked(call.body["body"]), user=call.actor
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
    comment.body = _checked(call.body["body"])
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


# ---------------------------------------------------------------- checks


def _output(asked: Mapping[str, Json]) -> dict[str, Json]:
    output = dict(asked.get("output", {}))
    if len(output.get("annotations", ())) > _MOST_ANNOTATIONS:
        raise RefusalError(422, "Invalid request.", ["No more than 50 annotations in a request"])
    for name in ("summary", "text"):
        if len(output.get(name) or "") > 65_535:
            raise RefusalError(422, "Invalid request.", [f"{name} is too long"])
    return output


def _check_shape(check: Mapping[str, Json]) -> Json:
    shown = {k: v for k, v in check.items() if k != "annotations"}
    output = {**check["output"], "annotations_count": len(check["annotations"])}
    return {**shown, "output": {k: output.get(k) for k in ("title", "summary", "text", "annotations_count")}}


@route("POST", "/repos/{owner}/{repo}/check-runs", "checks:write")
def _make_check(call: Call) -> tuple[int, Json]:
    body = call.body
    if not call.repository.store.has(body["head_sha"]):
        raise RefusalError(422, "Validation Failed", ["No commit found for SHA"])
    output = _output(body)
    number = call.world.new_id()
    check = {
        "id": number,
        "node_id": f"CR_{number}",
        "name": body["name"],
        "head_sha": body["head_sha"],
        "external_id": body.get("external_id"),
        "status": body.get("status", "queued"),
        "conclusion": body.get("conclusion"),
        "annotations": output.pop("annotations", []),
        "output": output,
    }
    call.repository.checks.append(check)
    return 201, _check_shape(check)


@route("PATCH", "/repos/{owner}/{repo}/check-runs/{check}", "checks:write")
def _change_check(call: Call) -> tuple[int, Json]:
    check = next((c for c in call.repository.checks if c["id"] == int(call.parts["check"])), None)
    if check is None:
        raise RefusalError(404, "Not Found")
    if call.body.get("status") == "completed" and not call.body.get("conclusion"):
        raise RefusalError(422, "Invalid request.", ["conclusion is missing"])
    output = _output(call.body)
    check["annotations"] += output.pop("annotations", [])
    check["output"].update(output)
    for name in ("status", "conclusion"):
        check[name] = call.body.get(name, check[name])
    return 200, _check_shape(check)


@route("GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs", "checks:read")
def _checks(call: Call) -> tuple[int, Json]:
    name = call.query.get("check_name")
    own = [
        _check_shape(c)
        for c in call.repository.checks
        if c["head_sha"] == call.parts["ref"] and name in (None, c["name"])
    ]
    return 200, {"total_count": len(own), "check_runs": call.page(own)}


# ---------------------------------------------------------------- git


@route("GET", "/repos/{owner}/{repo}/contents/{path}", "contents:read")
def _contents(call: Call) -> tuple[int, Json]:
    path = call.parts["path"]
    content = call.repository.store.file(call.query.get("ref", "main"), path)
    if content is None:
        raise RefusalError(404, "Not Found")
    sha = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    url = f"{call.shapes.url}/repos/{call.repository.full_name}/contents/{path}"
    return 200, {
        "type": "file",
        "encoding": "base64",
        "size": len(content),
        "name": path.rpartition("/")[2],
        "path": path,
        "content": base64.encodebytes(content).decode(),
        "sha": sha,
        "url": url,
        "git_url": url,
        "html_url": url,
        "download_url": url,
        "_links": {"git": url, "self": url, "html": url},
    }


@route("GET", "/repos/{owner}/{repo}/git/ref/{ref}", "contents:read")
def _ref(call: Call) -> tuple[int, Json]:
    branch = call.parts["ref"].removeprefix("heads/")
    tip = call.repository.store.tip(branch)
    if tip is None:
        raise RefusalError(404, "Not Found")
    return 200, {"ref": f"refs/heads/{branch}", "node_id": "REF_1", "object": {"type": "commit", "sha": tip}}


@route("POST", "/repos/{owner}/{repo}/git/refs", "contents:write")
def _make_ref(call: Call) -> tuple[int, Json]:
    store = call.repository.store
    branch = call.body["ref"].removeprefix("refs/heads/")
    if store.tip(branch) is not None:
        raise RefusalError(422, "Reference already exists")
    try:
        store.git("update-ref", f"refs/heads/{branch}", call.body["sha"])
    except GitError:
        raise RefusalError(422, "Object does not exist") from None
    return 201, {
        "ref": call.body["ref"],
        "node_id": "REF_1",
        "object": {"type": "commit", "sha": call.body["sha"]},
    }


@route("GET", "/repos/{owner}/{repo}/git/commits/{sha}", "contents:read")
def _git_commit(call: Call) -> tuple[int, Json]:
    repository, sha = call.repository, call.parts["sha"]
    if not repository.store.has(sha):
        raise RefusalError(404, "Not Found")
    return 200, {
        "sha": sha,
        "node_id": f"C_{sha}",
        "message": repository.store.message(sha),
        "html_url": f"{call.shapes.url}/{repository.full_name}/commit/{sha}",
    }
