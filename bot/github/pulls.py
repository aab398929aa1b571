"""A pull request as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bot.github.hub import Hub

_BODY = 4000
"""Characters of a description that are of any use; GitHub takes 65,536."""


@dataclass(frozen=True, slots=True)
class Pull:
    """What the bot needs to know of a pull request.

    Attributes:
        repository: `owner/name` of the repository it is for, as it is called today.
        head, base: Commits: the head's, and the tip of the base branch.
        head_repo: `owner/name` of the repository that holds the head branch; empty if that fork was deleted.
        state: `open`, `closed` or `merged`.
        changed_files: How many files GitHub counts as changed.
        size_kb: Size of the repository as GitHub tells it, in kB.
        body: The beginning of its description.
        can_push: Whether the App could commit to the head branch at all: no fork, open, not archived.
    """

    repository: str
    number: int
    title: str
    author: str
    head: str
    head_ref: str
    head_repo: str
    base: str
    base_ref: str
    is_fork: bool
    draft: bool
    state: str
    archived: bool
    labels: tuple[str, ...]
    changed_files: int
    size_kb: int
    can_push: bool
    html_url: str
    node_id: str
    body: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return {**asdict(self), "labels": list(self.labels)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Pull:
        """Return the pull request that `as_json` wrote."""
        return cls(**{**data, "labels": tuple(data["labels"])})


def read(hub: Hub, number: int) -> Pull:
    """Return a pull request.

    Raises:
        GitHubError: There is none of that number, or GitHub does not tell.
    """
    data = hub.get(f"/pulls/{number}")
    head, base = data["head"], data["base"]
    head_repo = (head.get("repo") or {}).get("full_name", "")
    repository = base["repo"]["full_name"]
    is_fork = head_repo != repository
    state = "merged" if data.get("merged") else data["state"]
    archived = bool(base["repo"].get("archived"))
    return Pull(
        repository=repository,
        number=int(data["number"]),
        title=data["title"] or "",
        author=(data.get("user") or {}).get("login", "ghost"),
        head=head["sha"],
        head_ref=head["ref"],
        head_repo=head_repo,
        base=base["sha"],
        base_ref=base["ref"],
        is_fork=is_fork,
        draft=bool(data.get("draft")),
        state=state,
        archived=archived,
        labels=tuple(sorted(label["name"] for label in data.get("labels", ()))),
        changed_files=int(data.get("changed_files", 0)),
        size_kb=int(base["repo"].get("size", 0)),
        can_push=not is_fork and state == "open" and not archived,
        html_url=data["html_url"],
        node_id=data["node_id"],
        body=(data.get("body") or "")[:_BODY],
    )
