"""How another process steers the tests' GitHub: `POST /_control {"call": "open_pull", "arguments": {...}}`."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.github.server.service import GitHub

_OF_WORLD = frozenset(
    {
        "add_repository", "apply_suggestions", "close", "comment", "comment_on_line", "delete_fork", "fork", "install",
        "open_pull", "push", "revoke_tokens", "tick", "uninstall",
    }
)  # fmt: skip


def answer(github: GitHub, path: str, raw: bytes) -> tuple[int, dict[str, str], bytes]:
    """Do what is asked and return what it gives."""
    asked = json.loads(raw or b"{}")
    call, arguments = asked.get("call", ""), asked.get("arguments", {})
    if isinstance(arguments.get("files"), dict):
        arguments["files"] = {
            name: None if text is None else base64.b64decode(text)
            for name, text in arguments["files"].items()
        }
    if call in _OF_WORLD:
        found: Any = getattr(github.world, call)(**arguments)
    elif call == "fault":
        found = github.faults.add(**arguments)
    elif call == "skew":
        github.world.clock.skew_s = float(arguments["seconds"])
        found = None
    elif call == "payload":
        found = _payload(github, **arguments)
    else:
        found = _state(github)
    return 200, {"content-type": "application/json"}, json.dumps(_plain(found)).encode()


def _payload(
    github: GitHub, full_name: str, number: int, action: str, comment: int | None = None, **more: Any
) -> Any:
    pull = github.world.repositories[full_name].pulls[number]
    found = next((c for c in (*pull.comments, *pull.line_comments) if c.id == comment), None)
    return github.shapes.payload(full_name, number, action, comment=found, **more)


def _state(github: GitHub) -> Any:
    world = github.world
    return {
        "app_id": world.app_id,
        "slug": world.slug,
        "pem": world.pem,
        "webhook_secret": world.webhook_secret,
        "minted": world.minted,
        "violations": github.violations,
        "log": github.log,
        "repositories": {name: _repository(one) for name, one in world.repositories.items()},
    }


def _repository(repository: Any) -> Any:
    return {
        "installation": repository.installation,
        "checks": repository.checks,
        "directory": str(repository.store.directory),
        "pulls": {number: _pull(pull) for number, pull in repository.pulls.items()},
    }


def _pull(pull: Any) -> Any:
    names = (
        "number",
        "title",
        "state",
        "last_head",
        "comments",
        "reviews",
        "line_comments",
        "head_ref",
        "base_ref",
    )
    return {name: getattr(pull, name) for name in names}


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if hasattr(value, "full_name"):
        return {"full_name": value.full_name, "id": value.id}
    if hasattr(value, "last_head"):
        return _plain(_pull(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]
    return value
