"""Trying a model call again when the failure may pass: which failures, how long to wait, how often."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

LONGEST_WAIT_S = 60.0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Retry:
    """Waits longer after every failure, with jitter, or as long as the server asks.

    Attributes:
        attempts: Calls made at most.
        first_wait_s: Before the second call; doubled for each one after.
    """

    attempts: int = 4
    first_wait_s: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    chance: random.Random = field(default_factory=random.Random)

    def call(self, function: Callable[[], Result]) -> Result:
        """Return what a function returns, called again while it raises what may pass; its last error is raised.

        The same server error (500) twice in a row will not pass either: some servers answer a request that they
        cannot read like that.
        """
        last = ""
        for attempt in range(1, self.attempts + 1):
            try:
                return function()
            except Exception as error:
                repeated = status_of(error) == 500 and str(error) == last and not unreachable(error)
                if attempt == self.attempts or repeated or not may_pass(error):
                    raise
                last = str(error)
                self.sleep(self.wait_s(attempt, error))
        raise AssertionError("the last attempt returns or raises")

    def wait_s(self, attempt: int, error: Exception) -> float:
        """Return the seconds to wait after a failed attempt."""
        asked = retry_after_s(error)
        if asked is None:
            asked = self.first_wait_s * 2 ** (attempt - 1) * self.chance.uniform(0.5, 1.5)
        return min(asked, LONGEST_WAIT_S)


def may_pass(error: Exception) -> bool:
    """Return whether an error may be gone the next time: too many requests, a server's fault, connection, time."""
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    status = status_of(error)
    return status in (408, 409, 429) or status >= 500


def unreachable(error: BaseException) -> bool:
    """Return whether the server was not reached or hung up. LiteLLM gives that the status 500 of a server's fault."""
    import httpx

    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ConnectionError | httpx.TransportError):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def status_of(error: Exception) -> int:
    """Return the HTTP status that an error of LiteLLM carries; 0 if it carries none."""
    status = getattr(error, "status_code", 0)
    return int(status) if isinstance(status, int | str) and str(status).isdigit() else 0


def retry_after_s(error: Exception) -> float | None:
    """Return the seconds that the server asks to wait (`Retry-After`), None if it names none or a date."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    headers = getattr(error, "litellm_response_headers", None) or headers or {}
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None
