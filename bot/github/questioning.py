"""The one comment that asks a pull request's author: posted once, then edited."""

from __future__ import annotations

from typing import Any

from bot.github.hub import Hub
from bot.github.markers import QUESTIONS, is_on_questions
from bot.github.posting import is_own, post_once


def show(hub: Hub, number: int, text: str) -> None:
    """Let the comment say this.

    Args:
        number: Of the pull request.
        text: Markdown.

    Raises:
        GitHubError: GitHub refused, or did not answer.
    """
    path = f"/issues/{number}/comments"

    def find() -> Any:
        listed = hub.pages(path)
        return next(
            (one for one in listed if is_on_questions(one.get("body") or "") and is_own(hub, one)), None
        )

    body = f"{QUESTIONS}\n{text}"
    found = find()
    if found is None:
        found = post_once(hub, path, {"body": body}, find)
    if found["body"].replace("\r\n", "\n") != body:
        hub.patch(f"/issues/comments/{found['id']}", {"body": body})
