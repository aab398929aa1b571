"""Who may tell the bot what to do."""

from __future__ import annotations

from urllib.parse import quote

from bot.github.faults import NotThereError
from bot.github.hub import Hub

_MAY_WRITE = frozenset({"admin", "write"})


def may_command(hub: Hub, actor: str) -> bool:
    """Return whether a person may write to the repository, as GitHub tells it now.

    The event's `author_association` is not asked: it misstates private members, and it is older than this moment.

    Raises:
        GitHubError: GitHub did not say.
    """
    if not actor or actor.endswith("[bot]"):
        return False
    try:
        answer = hub.get(f"/collaborators/{quote(actor, safe='')}/permission")
    except NotThereError:
        return False
    return answer.get("permission") in _MAY_WRITE
