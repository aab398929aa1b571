"""GitHub for one repository: REST and GraphQL with the patience and the restraint that GitHub asks of a bot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from bot.github.clock import Clock
from bot.github.faults import (
    ForbiddenError,
    InvalidError,
    LimitedError,
    NotThereError,
    RefusedError,
    UnreachableError,
)
from bot.github.limits import LONGEST_WAIT_S, wait_s
from bot.github.pacing import Pace
from bot.github.wire import Reply, Wire

_TRIES = 4  # of requests that may be repeated
_PAGE = 100
_REPEATABLE = frozenset({"GET", "PATCH", "PUT", "DELETE"})


class TokenSource(Protocol):
    """Gives tokens: `bot.github.tokens.Tokens`, or a fixed one."""

    def get(self, permissions: Mapping[str, str] | None = None) -> str:
        """Return a token."""

    def forget(self, token: str) -> None:
        """Drop one that is not accepted any more."""


class Hub:
    """A thin client for ONE repository. Use it as a context manager, so that connections are kept.

    Rate limits are waited for (up to a quarter of an hour a request). A token that is refused is renewed once. Requests that do
    the same when they are repeated are repeated after 5xx, timeouts and broken answers; a POST never is: it raises
    `UnreachableError`, and who sent it looks whether it was done.

    Paths given to the methods are below `/repos/{owner}/{name}`, those that begin with `//` below the API's root.
    """

    def __init__(
        self,
        wire: Wire,
        tokens: TokenSource,
        repository: str,
        *,
        installation: int,
        login: Callable[[], str],
        pace: Pace,
        clock: Clock,
    ) -> None:
        self.repository = repository
        self.installation = installation
        self.clock = clock
        self.wire = wire
        self._tokens = tokens
        self._login = login
        self._pace = pace

    def __enter__(self) -> Self:
        self.wire.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.wire.__exit__(kind, error, traceback)

    def token(self, permissions: Mapping[str, str] | None = None) -> str:
        """Return a token for this repository alone, with these permissions or with all there are."""
        return self._tokens.get(permissions)

    def forget(self, token: str) -> None:
        """Drop a token that is not accepted any more, so that the next one is new."""
        self._tokens.forget(token)

    @property
    def login(self) -> str:
        """The login that the bot's own comments and reviews carry."""
        return self._login()

    def get(self, path: str, **params: str | int) -> Any:
        """Return what a GET gives.

        Raises:
            GitHubError: GitHub refused, or did not answer.
        """
        return self._ask("GET", self._url(path), params=params).data

    def pages(self, path: str, key: str = "", most: int = 3000, **params: str | int) -> Iterator[Any]:
        """Yield the items of a list, over its pages; `key` names the list where it stands inside an object."""
        seen = 0
        for page in range(1, -(-most // _PAGE) + 1):
            data = self.get(path, **params, per_page=_PAGE, page=page)
            items = data[key] if key else data
            yield from items[: most - seen]
            seen += len(items)
            if len(items) < _PAGE:
                return

    def post(self, path: str, json: Any) -> Any:
        """Return what a POST gives. Raises UnreachableError where it may have been done or not."""
        return self._ask("POST", self._url(path), json=json).data

    def patch(self, path: str, json: Any) -> Any:
        """Return what a PATCH gives."""
        return self._ask("PATCH", self._url(path), json=json).data

    def put(self, path: str, json: Any = None) -> Any:
        """Return what a PUT gives."""
        return self._ask("PUT", self._url(path), json=json).data

    def delete(self, path: str) -> None:
        """Delete something."""
        self._ask("DELETE", self._url(path))

    def graphql(self, query: str, variables: Mapping[str, Any]) -> Any:
        """Return the `data` of a GraphQL query or mutation.

        Raises:
            RefusedError: GitHub answered with errors; `said` holds them.
            UnreachableError: It did not answer; a mutation may have been done.
        """
        writes = query.lstrip().startswith("mutation")
        reply = self._ask(
            "POST",
            self.wire.graphql_url,
            json={"query": query, "variables": dict(variables)},
            repeatable=not writes,
            writes=writes,
        )
        data = reply.data
        if not isinstance(data, dict):
            raise UnreachableError("GitHub's GraphQL answer is not an object.")
        if data.get("errors"):
            raise _graphql_refusal(data["errors"])
        return data.get("data")

    # ---------------------------------------------------------------- how it is asked

    def _url(self, path: str) -> str:
        return path[1:] if path.startswith("//") else f"/repos/{self.repository}{path}"

    def _ask(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        json: Any = None,
        repeatable: bool | None = None,
        writes: bool | None = None,
    ) -> Reply:
        """Send a request as often as is right; return the answer that is none of a failure."""
        repeatable = method in _REPEATABLE if repeatable is None else repeatable
        writes = method != "GET" if writes is None else writes
        waited, limits, failures, renewed = 0.0, 0, 0, False
        while True:
            if writes:
                self._pace.wait()
            token = self._tokens.get()
            try:
                reply = self.wire.send(method, url, authorization=f"Bearer {token}", params=params, json=json)
                if reply.status >= 500:
                    raise UnreachableError(
                        f"GitHub answers {reply.status} to {method} {url}. Try again later."
                    )
            except UnreachableError:
                failures += 1
                if not repeatable or failures == _TRIES:
                    raise
                self.clock.sleep(float(failures**2))
                continue
            if reply.status == 401 and not renewed:
                renewed = True
                self._tokens.forget(token)
                continue
            wait = wait_s(reply, self.clock.now(), limits)
            if wait is not None:
                limits += 1
                waited += wait
                if waited > LONGEST_WAIT_S:
                    raise LimitedError("GitHub's rate limit for this App is used up. Try again later.", wait)
                self.clock.sleep(wait)
                continue
            if reply.status >= 400:
                raise _refusal(method, url, reply)
            return reply


def _refusal(method: str, url: str, reply: Reply) -> RefusedError:
    """Return the error for an answer of 4xx."""
    words = f": {reply.said}" if reply.said else ""
    message = f"GitHub answers {reply.status} to {method} {url}{words}"
    kind: type[RefusedError] = RefusedError
    if reply.status in (404, 410, 451):
        kind = NotThereError
    elif reply.status in (401, 403):
        kind = ForbiddenError
    elif reply.status in (409, 422):
        kind = InvalidError
    return kind(message, reply.status, reply.said)


def _graphql_refusal(errors: Any) -> RefusedError:
    """Return the error for GraphQL's errors."""
    listed = [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
    types = {str(error.get("type", "")) for error in listed}
    said = " ".join(str(error.get("message", "")) for error in listed)[:2000]
    message = f"GitHub refused: {said}"
    if "FORBIDDEN" in types or "INSUFFICIENT_SCOPES" in types:
        return ForbiddenError(message, 403, said)
    if "NOT_FOUND" in types:
        return NotThereError(message, 404, said)
    return InvalidError(message, 422, said)
