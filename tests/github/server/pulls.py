"""Endpoints of repositories, people and pull requests."""

from __future__ import annotations

from typing import Any

from tests.github.server.nouns import RefusalError
from tests.github.server.rest import Call, route

Json = Any


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


@route("GET", "/users/{login}")
def _user(call: Call) -> tuple[int, Json]:
    return 200, call.shapes.user(call.parts["login"])


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
