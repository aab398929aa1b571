"""One request to GitHub and its answer, through githubkit: nothing is retried here, nothing is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.metadata import version
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from bot.github.faults import UnreachableError
from bot.models.redaction import redact

if TYPE_CHECKING:
    import ssl

    from githubkit import GitHub, UnauthAuthStrategy

_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: `data` is the decoded JSON (None for an empty body), header names are in lower case."""

    status: int
    data: Any
    headers: Mapping[str, str]

    @property
    def said(self) -> str:
        """GitHub's own words, where it refused."""
        if not isinstance(self.data, dict):
            return ""
        words = [str(self.data.get("message", ""))]
        errors = self.data.get("errors")
        for error in errors if isinstance(errors, list) else []:
            words.append(str(error.get("message") or error) if isinstance(error, dict) else str(error))
        return redact(" ".join(word for word in words if word))[:2000]

    @property
    def at(self) -> float | None:
        """When GitHub answered by its own clock, in seconds since 1970; None if it does not say."""
        try:
            told = parsedate_to_datetime(self.headers["date"])
        except (KeyError, ValueError):
            return None
        return (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()


@cache
def _trust() -> ssl.SSLContext:
    """Return whom to trust: making it takes a twentieth of a second in which no other thread runs, so it is made once."""
    from httpx import create_ssl_context

    return create_ssl_context()


class Wire:
    """A connection to one GitHub: keeps the sockets open while it is used as a context manager.

    Args:
        api_url: `https://api.github.com`, or `https://HOST/api/v3` of an Enterprise Server.
        api_version: The value of `X-GitHub-Api-Version`; older servers refuse the newest.
        timeout_s: For connecting, and for each wait on the answer.
    """

    def __init__(self, api_url: str, *, api_version: str, timeout_s: float = _TIMEOUT_S) -> None:
        from githubkit import GitHub

        self.api_url = api_url.rstrip("/")
        self._headers = {"X-GitHub-Api-Version": api_version} if api_version else {}
        self._client: GitHub[UnauthAuthStrategy] = GitHub(
            base_url=self.api_url,
            user_agent=f"testforge/{version('testforge-bot')}",
            timeout=timeout_s,
            auto_retry=False,
            http_cache=False,
            rest_api_validate_body=False,
            ssl_verify=_trust(),
        )

    def __enter__(self) -> Self:
        self._client.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.__exit__(kind, error, traceback)

    @property
    def graphql_url(self) -> str:
        """Where GraphQL is spoken: below `/api` on an Enterprise Server, at `/graphql` elsewhere."""
        return f"{self.api_url.removesuffix('/v3')}/graphql"

    @property
    def git_url(self) -> str:
        """Where git is spoken: the site that the API belongs to."""
        parts = urlsplit(self.api_url)
        # An Enterprise Server has its API below a path, the others on a host of its own.
        host = parts.netloc if parts.path else parts.netloc.removeprefix("api.")
        return f"{parts.scheme}://{host}"

    def send(
        self,
        method: str,
        url: str,
        *,
        authorization: str = "",
        params: Mapping[str, str | int] | None = None,
        json: Any = None,
        accept: str = "",
    ) -> Reply:
        """Send one request; `url` is absolute, or a path below the API's.

        Raises:
            UnreachableError: No whole answer came. GitHub may have done what was asked.
        """
        from githubkit.exception import RequestError, RequestFailed, RequestTimeout

        headers = dict(self._headers)
        if authorization:
            headers["Authorization"] = authorization
        if accept:
            headers["Accept"] = accept
        address = url if "://" in url else f"{self.api_url}{url}"
        try:
            raw = self._client.request(
                method, address, params=dict(params or {}) or None, json=json, headers=headers
            ).raw_response
        except RequestFailed as error:
            raw = error.response.raw_response
        except RequestTimeout:
            raise UnreachableError(
                f"GitHub did not answer {method} {urlsplit(address).path} in time."
            ) from None
        except RequestError as error:
            raise UnreachableError(
                f"The connection to GitHub broke at {method} {urlsplit(address).path}: {redact(str(error.exc))}."
            ) from None
        kept = {name.lower(): value for name, value in raw.headers.items()}
        if not raw.content.strip():
            return Reply(raw.status_code, None, kept)
        try:
            data = raw.json()
        except ValueError:
            if raw.status_code < 400:
                raise UnreachableError(
                    f"GitHub's answer to {method} {urlsplit(address).path} is cut off."
                ) from None
            data = None  # an error page of a proxy
        return Reply(raw.status_code, data, kept)
