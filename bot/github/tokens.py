"""Tokens of an installation: made with the App's key, narrowed to one repository, renewed before they run out."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.errors import GitHubError, UsageError
from bot.github.clock import Clock
from bot.github.faults import ForbiddenError, LimitedError, NotThereError, RefusedError, UnreachableError
from bot.github.limits import LONGEST_WAIT_S, wait_s
from bot.github.wire import Reply, Wire

_AHEAD_S = 120.0  # a token is renewed when it has less than this to live
_TRIES = 4


@dataclass(slots=True)
class AppKey:
    """The App's identity: signs claims, and learns how far GitHub's clock is from this machine's."""

    app_id: int
    pem: str = field(repr=False)
    clock: Clock
    skew_s: float = 0.0

    def claim(self) -> str:
        """Return a signed claim to be this App, good for nine minutes.

        Raises:
            UsageError: The key is none.
        """
        import jwt

        now = int(self.clock.now() + self.skew_s)
        claims = {"iat": now - 60, "exp": now + 540, "iss": str(self.app_id)}
        try:
            return jwt.encode(claims, self.pem, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError):
            raise UsageError(
                "The App's private key is not one in PEM form. Set TESTFORGE_PRIVATE_KEY_FILE to the file that GitHub gave out."
            ) from None

    def send(self, wire: Wire, method: str, path: str, json: object = None) -> Reply:
        """Send a request as the App; one that fails for this machine's clock is sent again by GitHub's.

        Raises:
            UnreachableError: No answer came, several times over.
        """
        reply = self._tenacious(wire, method, path, json)
        if reply.status == 401 and reply.at is not None:
            skew = reply.at - self.clock.now()
            if abs(skew - self.skew_s) > 5:
                self.skew_s = skew
                reply = self._tenacious(wire, method, path, json)
        return reply

    def _tenacious(self, wire: Wire, method: str, path: str, json: object) -> Reply:
        """Send it again where no answer came, or a limit was met: a token too many does no harm."""
        failures, limits, waited = 0, 0, 0.0
        while True:
            try:
                reply = wire.send(method, path, authorization=f"Bearer {self.claim()}", json=json)
                if reply.status >= 500:
                    raise UnreachableError(
                        f"GitHub answers {reply.status} when it is asked for a token. Try again later."
                    )
            except UnreachableError:
                failures += 1
                if failures == _TRIES:
                    raise
                self.clock.sleep(float(failures**2))
                continue
            wait = wait_s(reply, self.clock.now(), limits)
            if wait is None:
                return reply
            limits += 1
            waited += wait
            if waited > LONGEST_WAIT_S:
                raise LimitedError("GitHub's rate limit for this App is used up. Try again later.", wait)
            self.clock.sleep(wait)


@dataclass(slots=True)
class Tokens:
    """The tokens of one installation for one repository, one for each set of permissions asked for."""

    wire: Wire
    key: AppKey
    installation: int
    repository: str
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _held: dict[tuple[tuple[str, str], ...], tuple[str, float]] = field(default_factory=dict, repr=False)

    def get(self, permissions: Mapping[str, str] | None = None) -> str:
        """Return a token with these permissions, or with all that the installation has.

        Raises:
            GitHubError: The App is not installed there any more, was suspended, or its key is not accepted.
        """
        wanted = tuple(sorted((permissions or {}).items()))
        with self._lock:  # so that several who need the first one make it once
            token, until = self._held.get(wanted, ("", 0.0))
            now = self.key.clock.now() + self.key.skew_s
            if not token or until - now < _AHEAD_S:
                token, until = self._made(permissions)
                self._held[wanted] = token, until
            return token

    def forget(self, token: str) -> None:
        """Drop a token that GitHub no longer takes."""
        with self._lock:
            self._held = {wanted: held for wanted, held in self._held.items() if held[0] != token}

    def _made(self, permissions: Mapping[str, str] | None) -> tuple[str, float]:
        """Return a new token and when it runs out by GitHub's clock."""
        asked: dict[str, object] = {"repositories": [self.repository.partition("/")[2]]}
        if permissions:
            asked["permissions"] = dict(permissions)
        reply = self.key.send(
            self.wire, "POST", f"/app/installations/{self.installation}/access_tokens", asked
        )
        if reply.status != 201 or not isinstance(reply.data, dict):
            raise self._refusal(reply)
        until = datetime.fromisoformat(str(reply.data["expires_at"])).timestamp()
        return str(reply.data["token"]), until

    def _refusal(self, reply: Reply) -> GitHubError:
        """Return the sentence for a token that was not given."""
        where = self.repository
        if reply.status == 404:
            return NotThereError(
                f"The App is not installed on {where} any more. Install it again.", 404, reply.said
            )
        if reply.status == 401:
            return ForbiddenError(
                "GitHub does not accept the App's key. Check TESTFORGE_APP_ID and TESTFORGE_PRIVATE_KEY.",
                401,
                reply.said,
            )
        if reply.status == 403:
            return ForbiddenError(
                f"The App's installation for {where} is suspended. Its owner can lift that.", 403, reply.said
            )
        return RefusedError(
            f"GitHub gives no token for {where}: the App is installed, but not on this repository, or lacks a permission.",
            reply.status,
            reply.said,
        )


@dataclass(frozen=True, slots=True)
class FixedToken:
    """A token that somebody else gave out, such as an Action's."""

    token: str = field(repr=False)

    def get(self, permissions: Mapping[str, str] | None = None) -> str:  # noqa: ARG002 - it has what it has
        """Return it."""
        return self.token

    def forget(self, token: str) -> None:
        """Do nothing: there is no other."""
