"""How the REST endpoints are found, and what each needs: a token for the repository, with the permission for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.github.server.nouns import Pull, RefusalError, Repository, Token
from tests.github.server.shapes import Shapes
from tests.github.server.world import World

_LONGEST = 65_536
Json = Any


@dataclass
class Call:
    """One request, its path taken apart."""

    world: World
    shapes: Shapes
    token: Token | None
    body: Mapping[str, Json]
    query: Mapping[str, str]
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def repository(self) -> Repository:
        """The repository of the path, which the token must reach."""
        full_name = f"{self.parts['owner']}/{self.parts['repo']}"
        repository = self.world.repositories.get(full_name)
        if repository is None or self.token is None or full_name not in self.token.repositories:
            raise RefusalError(404, "Not Found")
        return repository

    @property
    def pull(self) -> Pull:
        """The pull request of the path."""
        pull = self.repository.pulls.get(int(self.parts["number"]))
        if pull is None:
            raise RefusalError(404, "Not Found")
        return pull

    @property
    def actor(self) -> str:
        """Who asks."""
        return self.world.bot_login

    def page(self, items: list[Json]) -> list[Json]:
        """Return the page that is asked for."""
        size, number = min(100, int(self.query.get("per_page", 30))), int(self.query.get("page", 1))
        return items[size * (number - 1) : size * number]


Handler = Callable[[Call], tuple[int, Json]]


@dataclass(frozen=True)
class Route:
    """An endpoint: `needs` lists permissions of which one must be there, as `name:level`."""

    method: str
    pattern: re.Pattern[str]
    needs: tuple[str, ...]
    handler: Handler


ROUTES: list[Route] = []


def route(method: str, path: str, *needs: str) -> Callable[[Handler], Handler]:
    """Make a function the handler of an endpoint."""
    pattern = re.compile(
        re.sub(r"\{(\w+)\}", lambda m: f"(?P<{m[1]}>{'.+' if m[1] in ('ref', 'path') else '[^/]+'})", path)
    )

    def register(handler: Handler) -> Handler:
        ROUTES.append(Route(method, pattern, needs, handler))
        return handler

    return register


def dispatch(call: Call, method: str, path: str) -> tuple[int, Json]:
    """Answer a request, once its permissions are there."""
    for one in ROUTES:
        match = one.pattern.fullmatch(path)
        if one.method != method or match is None:
            continue
        call.parts = {name: unquote(value) for name, value in match.groupdict().items()}
        if "repo" in call.parts:
            writes = method not in ("GET",)
            if writes and call.repository.archived:
                raise RefusalError(403, "Repository was archived so is read-only.")
            if one.needs and not any(_granted(call.token, need) for need in one.needs):
                raise RefusalError(403, "Resource not accessible by integration")
        return one.handler(call)
    raise RefusalError(404, "Not Found")


def _granted(token: Token | None, need: str) -> bool:
    name, _, level = need.partition(":")
    have = token.permissions.get(name, "") if token else ""
    return have == "write" or (have == "read" and level == "read")


def checked(text: str) -> str:
    """Return a text that GitHub would store, or refuse it."""
    if not text.strip():
        raise RefusalError(422, "Validation Failed", [{"code": "missing_field", "field": "body"}])
    if len(text) > _LONGEST:
        raise RefusalError(
            422, "Validation Failed", [{"message": "body is too long (maximum is 65536 characters)"}]
        )
    return text
