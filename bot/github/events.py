"""What a webhook's payload asks for, if it asks for anything: a pure function that survives whatever arrives."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.deliver.boxes import ticked
from bot.github.commands import parse
from bot.github.wishes import Kind, Wish

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*(?:_[A-Za-z0-9]+)?/[A-Za-z0-9._-]{1,100}")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ACTION = re.compile(r"[a-z_]{1,40}")
_MOST, _MOST_PULLS = 2**53, 2**31
"""Of ids, and of numbers of pull requests."""
_REVIEWED = frozenset({"opened", "synchronize", "reopened", "ready_for_review"})


def interpret(event: str, delivery: str, payload: Mapping[str, object], *, bot_login: str) -> Wish | None:
    """Return what is asked for; None where there is nothing to do.

    Pull requests of forks and of bots, and drafts, wait for a command. Of a comment the first command counts. Comments of bots never do, nor
    do commands that are edited into a comment: only ticking a box of the bot's own comment is an edit that asks for something.

    Args:
        event, delivery: The headers `X-GitHub-Event` and `X-GitHub-Delivery`.
        payload: The decoded body, of any shape.
        bot_login: The login that the bot's own comments carry.
    """
    handler = _HANDLERS.get(event)
    facts = _Facts.read(event, delivery, payload, bot_login)
    return None if handler is None or facts is None else handler(facts)


@dataclass(frozen=True, slots=True)
class _Facts:
    """A payload whose sender, action and installation have been read."""

    payload: Mapping[str, object]
    event: str
    action: str
    delivery: str
    installation: int
    actor: str
    by_bot: bool
    bot_login: str

    @classmethod
    def read(cls, event: str, delivery: str, payload: object, bot_login: str) -> _Facts | None:
        """Return the facts that every event has; None where one is missing."""
        if not isinstance(payload, Mapping):
            return None
        action = _text(payload, "action")
        actor = _text(payload, "sender", "login")
        installation = _number(payload, "installation", "id")
        if not (_ACTION.fullmatch(action) and _LOGIN.fullmatch(actor) and installation):
            return None
        by_bot = _text(payload, "sender", "type") == "Bot" or actor.endswith("[bot]")
        return cls(payload, event, action, delivery, installation, actor, by_bot, bot_login)

    def wish(self, kind: Kind, number: int, **more: object) -> Wish | None:
        """Return a wish for a pull request of the payload's repository; None if it has no proper name."""
        repository = _text(self.payload, "repository", "full_name")
        if not _REPOSITORY.fullmatch(repository) or not 0 < number < _MOST_PULLS:
            return None
        return Wish(
            kind=kind,
            delivery=self.delivery,
            installation=self.installation,
            repository=repository,
            number=number,
            actor=self.actor,
            event=f"{self.event}.{self.action}",
            **more,  # type: ignore[arg-type]
        )


def _pull_request(facts: _Facts) -> Wish | None:
    """A pull request was opened, pushed to, made ready, or closed."""
    payload = facts.payload
    number = _number(payload, "pull_request", "number")
    head = _text(payload, "pull_request", "head", "sha")
    if facts.action == "closed":
        return facts.wish("closed", number, head=head if _SHA.fullmatch(head) else None)
    if facts.action not in _REVIEWED or not _SHA.fullmatch(head):
        return None
    if _at(payload, "pull_request", "draft") is True:
        return None
    if _text(payload, "pull_request", "user", "type") == "Bot" or facts.actor == facts.bot_login:
        return (
            None  # its own pull requests and commits, first of all; another bot's push moves a person's head
        )
    if _number(payload, "pull_request", "head", "repo", "id") != _number(payload, "repository", "id"):
        return None  # a fork, also one that was deleted: somebody with write permission has to ask
    return facts.wish("review", number, head=head)


def _issue_comment(facts: _Facts) -> Wish | None:
    """A comment was written below a pull request, or a box of the bot's comment was ticked."""
    payload = facts.payload
    if facts.by_bot or not isinstance(_at(payload, "issue", "pull_request"), Mapping):
        return None
    number = _number(payload, "issue", "number")
    if facts.action == "created":
        return _command(facts, number, inline=False)
    if facts.action != "edited" or _text(payload, "comment", "user", "login") != facts.bot_login:
        return None
    new = ticked(_text(payload, "comment", "body")) - ticked(_text(payload, "changes", "body", "from"))
    if len(new) != 1:
        return None
    name, _, question = next(iter(new)).partition("-")
    command = "" if name == "review" else name
    arguments = (question,) if question else ()
    comment = _number(payload, "comment", "id")
    return facts.wish("boxes", number, comment=comment, command=command, arguments=arguments)


def _review_comment(facts: _Facts) -> Wish | None:
    """A comment was written on a line of the diff."""
    if facts.by_bot or facts.action != "created":
        return None
    return _command(facts, _number(facts.payload, "pull_request", "number"), inline=True)


def _command(facts: _Facts, number: int, *, inline: bool) -> Wish | None:
    """Return the wish for the first command of a person's comment."""
    payload = facts.payload
    comment = _number(payload, "comment", "id")
    if _text(payload, "comment", "user", "type") == "Bot" or not comment:
        return None
    commands = parse(_text(payload, "comment", "body"))
    if not commands:
        return None
    first = commands[0]
    return facts.wish(
        "command",
        number,
        comment=comment,
        command=first.name,
        arguments=first.arguments,
        inline=inline,
        more=len(commands) - 1,
    )


def _installation(facts: _Facts) -> Wish | None:
    """The App was installed, removed or suspended, or may see other repositories than before."""
    return Wish(
        "installation",
        facts.delivery,
        facts.installation,
        "",
        0,
        facts.actor,
        event=f"{facts.event}.{facts.action}",
    )


_HANDLERS: Mapping[str, Callable[[_Facts], Wish | None]] = {
    "pull_request": _pull_request,
    "issue_comment": _issue_comment,
    "pull_request_review_comment": _review_comment,
    "installation": _installation,
    "installation_repositories": _installation,
}


# ---------------------------------------------------------------- reading what may not be there


def _at(payload: Mapping[str, object], *path: str) -> object:
    """Return what stands at a path of keys; None where a step of it is missing."""
    value: object = payload
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def _text(payload: Mapping[str, object], *path: str) -> str:
    """Return the text at a path; empty where there is none."""
    value = _at(payload, *path)
    return value if isinstance(value, str) else ""


def _number(payload: Mapping[str, object], *path: str) -> int:
    """Return the whole number at a path; 0 where there is none, or none that GitHub could mean."""
    value = _at(payload, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST else 0
