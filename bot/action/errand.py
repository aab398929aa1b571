"""What an event of a workflow asks for: a review, a command, one file, or nothing that can be done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bot.action.inputs import Inputs
from bot.errors import UsageError
from bot.github.events import interpret
from bot.github.wishes import Wish

BOT = "github-actions[bot]"
"""Who a workflow's own token writes as."""
_LARGEST = 25 * 1024 * 1024
_PULLS = frozenset({"pull_request", "pull_request_target"})


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be done.

    Attributes:
        kind: `review` a pull request, obey a `command`, write tests for one `file` or since a `base`, or `nothing`.
        reason: Why there is nothing to do.
        number: The pull request's.
        wish: The command.
    """

    kind: Literal["review", "command", "file", "base", "nothing"]
    reason: str = ""
    number: int = 0
    wish: Wish | None = None


def errand(environment: Mapping[str, str], inputs: Inputs) -> Errand:
    """Return what a step's event asks for.

    Raises:
        UsageError: There is no event, it cannot be read, or it is one that testforge does nothing for.
    """
    event = environment.get("GITHUB_EVENT_NAME", "")
    if not event:
        raise UsageError("There is no event: `testforge action` is a step of a GitHub workflow.")
    payload = _payload(environment.get("GITHUB_EVENT_PATH", ""))
    if event in _PULLS:
        return _of_pull(event, payload)
    if event in ("issue_comment", "pull_request_review_comment"):
        return _of_comment(event, payload, environment.get("GITHUB_RUN_ID", "0"))
    if event == "workflow_dispatch":
        if inputs.file:
            return Errand("file")
        if inputs.base:
            return Errand("base")
        raise UsageError(
            "A run by hand needs the input `file` (one source file) or `base` (where a change starts)."
        )
    raise UsageError(
        f"testforge does nothing for the event {event!r}. Use it with pull_request, issue_comment or workflow_dispatch."
    )


def _of_pull(event: str, payload: Mapping[str, Any]) -> Errand:
    if event == "pull_request_target":
        raise UsageError(
            "testforge does not run under pull_request_target, which gives a stranger's code the repository's secrets. "
            "Use pull_request."
        )
    pull = payload.get("pull_request")
    if not isinstance(pull, dict) or not isinstance(pull.get("number"), int):
        raise UsageError("The event names no pull request, so there is nothing to review.")
    if payload.get("action") == "closed" or pull.get("state") == "closed":
        return Errand("nothing", "The pull request is closed.")
    if pull.get("draft") is True:
        return Errand("nothing", "The pull request is a draft; it is reviewed when it is ready.")
    return Errand("review", number=pull["number"])


def _of_comment(event: str, payload: Mapping[str, Any], run: str) -> Errand:
    # A workflow's event carries no installation, which the same event of an App always has.
    whole = {**payload, "installation": {"id": 1}}
    wish = interpret(event, f"run-{run}", whole, bot_login=BOT)
    if wish is None:
        return Errand("nothing", "The comment holds no command for testforge.")
    return Errand("command", number=wish.number, wish=wish)


def _payload(path: str) -> Mapping[str, Any]:
    try:
        file = Path(path)
        if file.stat().st_size > _LARGEST:
            raise UsageError("The event is larger than 25 MB, which no event of GitHub is.")
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"The event cannot be read from {path!r}: {error}.") from None
    if not isinstance(found, dict):
        raise UsageError(f"The event in {path!r} is no JSON object.")
    return found
