"""Proposed tests put into the repository: as a commit on the head branch, or as a pull request into it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from bot.deliver.markdown import code, plain
from bot.deliver.review import Review
from bot.errors import GitHubError, UsageError
from bot.github import messages
from bot.github.faults import ForbiddenError, InvalidError, NotThereError, RefusedError, UnreachableError
from bot.github.hub import Hub
from bot.github.markers import digest, name
from bot.github.posting import post_once
from bot.github.pulls import Pull
from bot.github.selecting import Selection

_COMMIT = """
mutation($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { commit { oid url } }
}
"""


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit on GitHub."""

    oid: str
    url: str


@dataclass(frozen=True, slots=True)
class Stacked:
    """A pull request that holds the tests."""

    number: int
    url: str


def commit(hub: Hub, pull: Pull, review: Review, selection: Selection, delivery: str) -> Committed:
    """Commit tests to the head branch, if it still is where they were checked. The same delivery commits once.

    Raises:
        UsageError: It cannot be done, and why: the branch moved on, is protected, or may not be written.
        GitHubError: GitHub did not answer.
    """
    earlier = done(hub, pull.head, delivery) if pull.head != review.head else None
    if earlier is not None:
        return earlier
    _check(pull, review)
    return _commit(hub, pull.repository, pull.head_ref, review.head, review, selection, delivery)


def stack(hub: Hub, pull: Pull, review: Review, selection: Selection, delivery: str) -> Stacked:
    """Open a pull request with tests into the head branch; the same delivery opens one.

    Raises:
        UsageError: It cannot be done, and why.
        GitHubError: GitHub did not answer.
    """
    if pull.state != "open":
        raise UsageError(f"This pull request is {pull.state}, so nothing is stacked on it.")
    branch = f"testforge/{pull.number}-{review.head[:9]}-{digest(delivery, 8)}"
    tip = _branch(hub, branch, review.head)
    if tip == review.head:
        _commit(hub, pull.repository, branch, review.head, review, selection, delivery)
    owner = pull.repository.partition("/")[0]

    def find() -> Any:
        return next(iter(hub.get("/pulls", head=f"{owner}:{branch}", state="all")), None)

    body = {
        "title": messages.headline(selection.tests),
        "head": branch,
        "base": pull.head_ref,
        "body": messages.pull_body(selection.tests, pull.number, delivery),
    }
    try:
        made = post_once(hub, "/pulls", body, find)
    except RefusedError as error:
        raise UsageError(_sentence(error, pull.head_ref)) from None
    return Stacked(int(made["number"]), str(made["html_url"]))


def _check(pull: Pull, review: Review) -> None:
    """Raise UsageError where a commit to the head branch is out of the question."""
    if pull.state != "open":
        raise UsageError(f"This pull request is {pull.state}, so nothing is committed to it.")
    if pull.archived:
        raise UsageError("The repository is archived, so nothing can be committed.")
    if pull.head != review.head:
        raise UsageError(
            f"The branch has moved on: the tests were checked at {review.head[:9]}, and it is at {pull.head[:9]} now. "
            "Comment `/testforge` to have them checked there."
        )


def _branch(hub: Hub, branch: str, at: str) -> str:
    """Make a branch, or find it, and return the commit it is at."""

    def find() -> Any:
        try:
            return hub.get(f"/git/ref/heads/{branch}")
        except NotThereError:
            return None

    try:
        made = post_once(hub, "/git/refs", {"ref": f"refs/heads/{branch}", "sha": at}, find)
    except RefusedError as error:
        raise UsageError(_sentence(error, branch)) from None
    return str(made["object"]["sha"])


def _commit(
    hub: Hub, repository: str, branch: str, onto: str, review: Review, selection: Selection, delivery: str
) -> Committed:
    """Make the commit, guarded by the head it goes onto; where the answer is lost, look whether it was made."""
    signer = _signer(hub) if review.sign_off else ""
    body = messages.commit_body(selection.tests, review.run, delivery, signer)
    variables = {"input": _input(repository, branch, onto, body, selection, delivery)}
    for attempt in (1, 2, 3):
        try:
            made = hub.graphql(_COMMIT, variables)["createCommitOnBranch"]["commit"]
            return Committed(str(made["oid"]), str(made["url"]))
        except (UnreachableError, InvalidError) as error:
            # The guard refuses the second of two equal commits, too: the first may have been made.
            earlier = done(hub, _tip(hub, branch), delivery)
            if earlier is not None:
                return earlier
            if isinstance(error, InvalidError):
                raise UsageError(_sentence(error, branch)) from None
            if attempt == 3:
                raise
            hub.clock.sleep(float(attempt**2))
        except RefusedError as error:
            raise UsageError(_sentence(error, branch)) from None
    raise AssertionError("unreachable")


def _input(
    repository: str, branch: str, onto: str, body: str, selection: Selection, delivery: str
) -> Mapping[str, Any]:
    return {
        "branch": {"repositoryNameWithOwner": repository, "branchName": branch},
        "expectedHeadOid": onto,
        "message": {
            "headline": messages.headline(selection.tests),
            "body": body,
        },
        "fileChanges": {
            "additions": [
                {"path": path, "contents": base64.b64encode(content).decode()}
                for path, content in sorted(selection.files.items())
            ]
        },
        "clientMutationId": name(delivery),
    }


def _signer(hub: Hub) -> str:
    """Return the bot as GitHub writes the author of its commits, which checks of sign-offs compare with."""
    login = hub.login
    host = urlsplit(hub.wire.git_url).hostname or ""
    number = hub.get(f"//users/{quote(login, safe='')}")["id"]
    return f"{login} <{number}+{login}@users.noreply.{host}>"


def _tip(hub: Hub, branch: str) -> str:
    """Return the commit that a branch is at; empty if it is gone."""
    try:
        return str(hub.get(f"/git/ref/heads/{branch}")["object"]["sha"])
    except NotThereError:
        return ""


def done(hub: Hub, oid: str, delivery: str) -> Committed | None:
    """Return the commit at a branch's tip if it is the one that this delivery asked for."""
    if not oid:
        return None
    try:
        found = hub.get(f"/git/commits/{oid}")
    except RefusedError:
        return None
    if messages.trailer(delivery) not in str(found["message"]).splitlines():
        return None
    return Committed(oid, str(found["html_url"]))


def _sentence(error: GitHubError, branch: str) -> str:
    """Return why GitHub did not let tests be committed, plainly."""
    said = error.detail
    text = said.lower()
    if "expected branch to point to" in text or "expectedheadoid" in text or "is at" in text:
        return "The branch has moved on meanwhile. Comment `/testforge` to have the tests checked at its new head."
    if "protected" in text or "rule violations" in text or "must be made through a pull request" in text:
        return f"The branch {code(branch)} is protected, so the App may not commit to it. `/testforge pr` opens a pull request instead."
    if "archived" in text or "read-only" in text:
        return "The repository is archived, so nothing can be committed."
    if isinstance(error, ForbiddenError):
        return "The App may not write to this repository: it lacks the permission `contents: write`. An owner can grant it in the App's settings."
    if (
        isinstance(error, NotThereError)
        or "no such branch" in text
        or "not exist" in text
        or "could not resolve" in text
    ):
        return f"The branch {code(branch)} is gone, so nothing can be committed to it."
    return f"GitHub refused: {plain(said or error.message)}"
