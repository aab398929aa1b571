"""The ways in which GitHub says no, as errors that can be told apart."""

from __future__ import annotations

from bot.errors import GitHubError


class RefusedError(GitHubError):
    """GitHub understood and refused: `code` is the HTTP status, `said` its own words."""

    def __init__(self, message: str, code: int, said: str = "") -> None:
        super().__init__(message, said)
        self.code = code
        self.said = said


class NotThereError(RefusedError):
    """404, 410 or 451: it does not exist, or this App may not see it."""


class ForbiddenError(RefusedError):
    """401 or 403: the App lacks a permission, was suspended or uninstalled, or the repository is archived."""


class InvalidError(RefusedError):
    """409 or 422: the values of a request were not accepted."""


class LimitedError(GitHubError):
    """A rate limit that did not lift within the time that a run waits; `wait_s` more seconds were asked for."""

    def __init__(self, message: str, wait_s: float) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class UnreachableError(GitHubError):
    """No usable answer came: a timeout, a broken connection, a truncated body, a 5xx. It may have been done or not."""
