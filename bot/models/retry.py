"""Trying a model call again when the failure may pass: which failures, how long to wait, how often."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from bot.models.transport import OversizeError, RedirectError

LONGEST_WAIT_S = 60.0
_NO_REPLY = re.compile(
    r"Empty or invalid response|Unable to get json response|Error converting to valid response"
    r"|response with no 'choices'|Exception - (?:Expecting value|Unterminated string|'utf-8' codec)"
    r"|Traceback \(most recent call last\)"
)
_NO_CREDIT = re.compile(
    r"insufficient_quota|exceeded your current quota|credit balance is too low", re.IGNORECASE
)
_NAP_S = 0.5

Result = TypeVar("Result")


def pause(seconds: float) -> None:
    """Wait, in naps so short that a thread that is to stop hears of it."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _NAP_S))


class Gate:
    """A pause that a provider asked one thread for, kept by all others that call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opens = 0.0
        self._closed_by = 0

    def close(self, seconds: float) -> None:
        """Keep other threads from calling for so long; this one waits by itself."""
        with self._lock:
            self._opens = max(self._opens, time.monotonic() + seconds)
            self._closed_by = threading.get_ident()

    def left_s(self) -> float:
        """Return the seconds until it opens; 0 if it is open for this thread."""
        with self._lock:
            own = self._closed_by == threading.get_ident()
            return 0.0 if own else max(0.0, self._opens - time.monotonic())


@dataclass(frozen=True, slots=True)
class Retry:
    """Waits longer after every failure, with jitter, or as long as the server asks.

    Attributes:
        attempts: Calls made at most.
        first_wait_s: Before the second call; doubled for each one after.
        gate: Shared by all threads that call one provider.
        timeouts: Time limits in one call after which it is given up: each has cost minutes.
    """

    attempts: int = 4
    first_wait_s: float = 1.0
    sleep: Callable[[float], None] = pause
    chance: random.Random = field(default_factory=random.Random)
    gate: Gate = field(default_factory=Gate)
    timeouts: int = 2

    def call(self, function: Callable[[], Result]) -> Result:
        """Return what a function returns, called again while it raises what may pass; its last error is raised.

        The same server error (500) twice in a row will not pass either: some servers answer a request that they
        cannot read like that. Nor will the same answer that is no reply, such as a proxy's page.
        """
        last = ""
        timeouts = 0
        for attempt in range(1, self.attempts + 1):
            if closed_s := self.gate.left_s():
                self.sleep(closed_s)
            try:
                return function()
            except Exception as error:
                timeouts += timed_out(error)
                hopeless = (status_of(error) == 500 and not unreachable(error)) or unreadable(error)
                repeated = hopeless and str(error) == last
                over = attempt == self.attempts or timeouts == self.timeouts
                if over or repeated or not may_pass(error):
                    raise
                last = str(error)
                self._wait(attempt, error)
        raise AssertionError("the last attempt returns or raises")

    def wait_s(self, attempt: int, error: Exception) -> float:
        """Return the seconds to wait after a failed attempt."""
        asked = retry_after_s(error)
        if asked is None:
            asked = self.first_wait_s * 2 ** (attempt - 1) * self.chance.uniform(0.5, 1.5)
        return min(asked, LONGEST_WAIT_S)

    def _wait(self, attempt: int, error: Exception) -> None:
        seconds = self.wait_s(attempt, error)
        if status_of(error) == 429:
            # The pause is asked of whoever holds the key, not of this call alone.
            self.gate.close(seconds)
        self.sleep(seconds)


def may_pass(error: Exception) -> bool:
    """Return whether an error may be gone the next time: too many requests, a server's fault, connection, time."""
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    if without_credit(error) or redirected(error):
        return False
    status = status_of(error)
    return status in (408, 409, 429) or status >= 500 or unreadable(error)


def timed_out(error: BaseException) -> bool:
    """Return whether a time limit was reached, ours or LiteLLM's."""
    return isinstance(error, TimeoutError) or (isinstance(error, Exception) and status_of(error) == 408)


def without_credit(error: BaseException) -> bool:
    """Return whether an account has nothing left to pay with, which some providers call too many requests."""
    return (isinstance(error, Exception) and status_of(error) == 402) or bool(_NO_CREDIT.search(str(error)))


def unreadable(error: BaseException) -> bool:
    """Return whether a server answered with something that is no reply: a page, half of one, nothing.

    LiteLLM has no class for it; to one provider it gives the status of a server's fault, to another that of a wrong request.
    """
    import httpx

    return oversize(error) or _comes_from(error, httpx.DecodingError) or bool(_NO_REPLY.search(str(error)))


def oversize(error: BaseException) -> bool:
    """Return whether a server answered with more than a reply can hold."""
    return _comes_from(error, OversizeError)


def unreachable(error: BaseException) -> bool:
    """Return whether the server was not reached or hung up. LiteLLM gives that the status 500 of a server's fault."""
    import httpx

    return _comes_from(error, ConnectionError, httpx.TransportError)


def unconnected(error: BaseException) -> bool:
    """Return whether no connection came about within the time limit, as where a network swallows everything."""
    import httpx

    return _comes_from(error, httpx.ConnectTimeout)


def redirected(error: BaseException) -> bool:
    """Return whether a server named another address, which is not asked."""
    return _comes_from(error, RedirectError)


def _comes_from(error: BaseException, *kinds: type[BaseException]) -> bool:
    """Return whether an error of such a kind stands behind this one."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, kinds):
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
