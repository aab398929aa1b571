"""Who is the operator: whoever can read the server's log, where a code stands that lets in once."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

_COOKIE = "testforge_operator"
_DAY_S = 24 * 3600
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Operator:
    """The code that is good now, and the sessions that it opened; they end with this process.

    Args:
        announce: Is given each new code, to write it to the log.
    """

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self._sessions: set[str] = set()
        self._code = ""

    def new_code(self) -> None:
        """Make a code and announce it."""
        self._code = secrets.token_urlsafe(24)
        self._announce(self._code)

    def is_signed_in(self, request: Request) -> bool:
        """Return whether a request comes with an open session."""
        given = request.cookies.get(_COOKIE, "")
        return any(hmac.compare_digest(given.encode(), session.encode()) for session in self._sessions)

    def try_code(self, code: str) -> bool:
        """Return whether a code is good; it is so once, and a new one takes its place."""
        if not self._code or not hmac.compare_digest(code.strip().encode(), self._code.encode()):
            return False
        self.new_code()
        return True

    def sign_in(self, response: Response, *, https: bool) -> None:
        """Open a session and send it along with a response."""
        session = secrets.token_urlsafe(32)
        self._sessions.add(session)
        response.set_cookie(
            _COOKIE, session, max_age=_DAY_S, httponly=True, samesite="lax", secure=https, path="/"
        )


def is_from_here(request: Request) -> bool:
    """Return whether a request was made on this machine, to it by name, and not passed on by a proxy."""
    client = request.client.host if request.client else ""
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    forwarded = any(name in request.headers for name in _FORWARDED)
    return client in _LOOPBACK and host in _LOOPBACK and not forwarded


def is_from_own_page(request: Request) -> bool:
    """Return whether a form was sent from a page of this server, as far as the browser says from where."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")
