"""What makes a workflow run: the example workflows' texts, and events after GitHub's own examples of their payloads."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from tests.action.conftest import REPOSITORY, SOURCE
from tests.action.workflows import ROOT
from tests.github.server import GitHub
from tests.github.server.npm import EXAMPLES

LOUD = b"print('::error::from the code')\nprint('::set-output name=status::hacked')\n" + SOURCE
"""A module that would command the runner."""
QUICK = {"sandbox": "process", "max-iterations": "2"}
"""Inputs for a job that is not to take long."""


def example(name: str) -> str:
    """Return the text of an example workflow."""
    return (ROOT / "examples/workflows" / name).read_text("utf-8")


def official(event: str, action: str | None, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return GitHub's own example of an event, with what is different here written over it."""
    (kind,) = [one for one in _examples() if one["name"] == event]
    found = next(one for one in kind["examples"] if one.get("action") == action)
    # An App has an installation, and a workflow's event has none.
    return _over(found, {name: value for name, value in own.items() if name != "installation"})


@functools.cache
def _examples() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(EXAMPLES.file().read_text("utf-8"))
    return found


def _over(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, Mapping):
        return {**below, **{name: _over(below.get(name), value) for name, value in above.items()}}
    return above


def pull_event(github: GitHub, number: int, action: str = "opened") -> dict[str, Any]:
    return official("pull_request", action, github.shapes.payload(REPOSITORY, number, action))


def forked_pull(github: GitHub) -> int:
    github.world.fork(REPOSITORY, "mallory")
    github.world.push("mallory/parcels", "school", {"school.py": LOUD})
    return github.world.open_pull(REPOSITORY, "school", head_repo="mallory/parcels").number


def comment_event(github: GitHub, number: int, body: str, user: str = "alice") -> dict[str, Any]:
    told = github.world.comment(REPOSITORY, number, body, user=user)
    own = github.shapes.payload(REPOSITORY, number, "created", comment=told, sender=user)
    return official("issue_comment", "created", own)


def dispatch_event(github: GitHub, **inputs: str) -> dict[str, Any]:
    repository = github.shapes.repository(github.world.repositories[REPOSITORY])
    own = {"inputs": inputs, "ref": "refs/heads/main", "repository": repository}
    return official("workflow_dispatch", None, own)
