"""Posting once: a POST whose answer was lost is looked for before it is sent again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.github.faults import UnreachableError
from bot.github.hub import Hub

_TRIES = 4


def post_once(hub: Hub, path: str, json: Any, find: Callable[[], Any]) -> Any:
    """Post something and return what GitHub gives for it, or what `find` finds of an earlier post.

    Args:
        find: Returns what was posted before, None if nothing was.

    Raises:
        GitHubError: GitHub refused, or several times did not answer.
    """
    for attempt in range(1, _TRIES + 1):
        found = find()
        if found is not None:
            return found
        try:
            return hub.post(path, json)
        except UnreachableError:
            if attempt == _TRIES:
                raise
            hub.clock.sleep(float(attempt**2))  # what was done shows up in lists a moment later
    raise AssertionError("unreachable")


def is_own(hub: Hub, item: Any) -> bool:
    """Whether a comment or review was written by the bot itself; anybody can copy its marks."""
    return ((item.get("user") or {}).get("login") or "") == hub.login
