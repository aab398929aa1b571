"""What a webhook asks for, as plain data that a queue can store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

Kind = Literal["review", "command", "closed", "boxes", "installation"]
"""`review`: a pull request was opened, pushed to or made ready. `command`: a comment holds a `/testforge` command.
`closed`: the pull request was closed. `boxes`: somebody ticked a box of the bot's own sticky comment.
`installation`: the App was installed, uninstalled, suspended, or its repositories or permissions changed."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that somebody wants of the bot.

    Attributes:
        delivery: The webhook's `X-GitHub-Delivery`.
        installation: The installation's number.
        repository: `owner/name`; empty for kind `installation`.
        number: The pull request's number; 0 for kind `installation`.
        actor: The login of who did it.
        head: The head commit as the event told it; None where the event does not (comments).
        comment: The id of the comment that holds the command, or the boxes.
        command: Its first word (`apply`, `stop`, `dismiss` ...); empty for a bare `/testforge`, and for kind `review`.
        arguments: The words after it, at most a few.
        event: Event and action, such as `pull_request.synchronize`.
        inline: The comment is one on a line of the diff (`pull_request_review_comment`), so answers go below it.
        more: How many further commands the comment holds; one comment, one command.
    """

    kind: Kind
    delivery: str
    installation: int
    repository: str
    number: int
    actor: str
    head: str | None = None
    comment: int | None = None
    command: str = ""
    arguments: tuple[str, ...] = ()
    event: str = ""
    inline: bool = False
    more: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the wish as values that JSON can hold."""
        return {**asdict(self), "arguments": list(self.arguments)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Wish:
        """Return the wish that `as_json` wrote.

        Raises:
            KeyError, TypeError: These are not the values of a wish.
        """
        values = {name: data[name] for name in cls.__slots__ if name in data}
        return cls(**{**values, "arguments": tuple(cast("list[str]", values.get("arguments", ())))})
