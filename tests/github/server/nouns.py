"""What there is on the tests' GitHub."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.github.server.gitstore import GitStore


class RefusalError(Exception):
    """An answer of 4xx."""

    def __init__(self, status: int, message: str, errors: list[Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = {
            "message": message,
            "documentation_url": "https://docs.github.com/rest",
            "status": str(status),
        }
        if errors:
            self.body["errors"] = errors  # type: ignore[assignment]


@dataclass
class Comment:
    """A comment below a pull request, or on a line of it (`path` is set)."""

    id: int
    user: str
    body: str
    at: str
    path: str = ""
    line: int = 0
    start_line: int | None = None
    side: str = "RIGHT"
    commit: str = ""
    review: int | None = None
    reply_to: int | None = None
    reactions: list[tuple[str, str]] = field(default_factory=list)
    minimized: bool = False


@dataclass
class Review:
    """A review of a pull request."""

    id: int
    user: str
    body: str
    state: str
    commit: str
    at: str
    minimized: bool = False


@dataclass
class Pull:
    """A pull request."""

    number: int
    title: str
    body: str
    author: str
    head_repo: Repository | None
    head_ref: str
    base_ref: str
    draft: bool = False
    state: str = "open"
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    line_comments: list[Comment] = field(default_factory=list)
    last_head: str = ""


@dataclass
class Repository:
    """A repository."""

    id: int
    full_name: str
    store: GitStore
    installation: int | None
    collaborators: dict[str, str]
    archived: bool = False
    size_kb: int = 100
    protected: set[str] = field(default_factory=set)
    pulls: dict[int, Pull] = field(default_factory=dict)
    checks: list[dict[str, Any]] = field(default_factory=list)
    issues: int = 0

    @property
    def owner(self) -> str:
        """The owner's login."""
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        """The name without the owner."""
        return self.full_name.partition("/")[2]


@dataclass
class Token:
    """An installation's token."""

    value: str
    installation: int
    repositories: frozenset[str]
    permissions: dict[str, str]
    until: float
