"""The App: the operator's settings turned into access to one repository at a time."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from bot.errors import GitHubError, UsageError
from bot.github.clock import Clock, SystemClock
from bot.github.hub import Hub
from bot.github.pacing import Pace
from bot.github.tokens import AppKey, FixedToken, Tokens
from bot.github.wire import Wire
from bot.settings import Settings

PERMISSIONS = {
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
}
"""What the App asks for: progress as check runs, commits of tests, comments and reactions, reviews."""

EVENTS = ("issue_comment", "pull_request", "pull_request_review_comment")
"""What it is told of; installation events come by themselves."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the App is on GitHub: its `login` is the author of what it posts."""

    app_id: int
    slug: str
    name: str
    html_url: str

    @property
    def login(self) -> str:
        """The login of the App's own comments."""
        return f"{self.slug}[bot]"


class App:
    """Access to GitHub as the App; one a process, shared by its threads.

    Args:
        settings: `app_id`, `private_key` or `private_key_file`, `github_url`, `github_api_version`.
        clock: The time, and how it passes.

    Raises:
        UsageError: The App's number or key is not set, or the key file cannot be read.
    """

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._settings = settings
        if settings.app_id is None:
            raise UsageError("No GitHub App is set. Set TESTFORGE_APP_ID, or open /setup to make one.")
        self._key = AppKey(settings.app_id, _pem(settings), self._clock)
        self._lock = threading.Lock()
        self._paces: dict[int, Pace] = {}
        self._tokens: dict[tuple[int, str], Tokens] = {}
        self._identity: Identity | None = None

    def connect(self, installation: int, repository: str) -> Hub:
        """Return the client for one repository (`owner/name`); nothing is asked of GitHub yet."""
        with self._lock:
            pace = self._paces.setdefault(installation, Pace(self._clock))
            tokens = self._tokens.setdefault(
                (installation, repository), Tokens(_wire(self._settings), self._key, installation, repository)
            )
        return Hub(
            _wire(self._settings),
            tokens,
            repository,
            installation=installation,
            login=lambda: self.identity().login,
            pace=pace,
            clock=self._clock,
        )

    def identity(self) -> Identity:
        """Return who the App is; GitHub is asked once.

        Raises:
            GitHubError: GitHub does not know the App, or does not answer.
        """
        if self._identity is None:
            reply = self._key.send(_wire(self._settings), "GET", "/app")
            if reply.status != 200 or not isinstance(reply.data, dict):
                raise GitHubError(
                    "GitHub does not accept the App's key. Check TESTFORGE_APP_ID and TESTFORGE_PRIVATE_KEY.",
                    reply.said,
                )
            data: dict[str, Any] = reply.data
            self._identity = Identity(
                int(data["id"]), str(data.get("slug", "")), str(data["name"]), str(data["html_url"])
            )
        return self._identity


def with_token(
    settings: Settings,
    token: str,
    repository: str,
    *,
    login: str = "github-actions[bot]",
    clock: Clock | None = None,
) -> Hub:
    """Return the client for one repository with a token that somebody else made, such as an Action's.

    Args:
        login: Who the token's comments are by.
    """
    clock = clock or SystemClock()
    return Hub(
        _wire(settings),
        FixedToken(token),
        repository,
        installation=0,
        login=lambda: login,
        pace=Pace(clock),
        clock=clock,
    )


def try_key(settings: Settings) -> None:
    """See that the App's private key can be read and signs; GitHub is not asked.

    Raises:
        UsageError: It is not set, cannot be read, or is none.
    """
    AppKey(settings.app_id or 0, _pem(settings), SystemClock()).claim()


def _wire(settings: Settings) -> Wire:
    return Wire(
        settings.github_url,
        api_version=settings.github_api_version,
        timeout_s=settings.github_timeout_s,
    )


def _pem(settings: Settings) -> str:
    """Return the App's private key. Raises UsageError if there is none."""
    if settings.private_key is not None:
        return settings.private_key.get_secret_value().replace("\\n", "\n")
    if settings.private_key_file is None:
        raise UsageError(
            "The App's private key is not set. Set TESTFORGE_PRIVATE_KEY_FILE to the file that GitHub gave out."
        )
    try:
        return settings.private_key_file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(
            f"The App's private key cannot be read from {str(settings.private_key_file)!r}: {reason}."
        ) from None
