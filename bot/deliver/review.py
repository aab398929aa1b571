"""A run as a review of a pull request: what is said, where, and what would be committed. It knows no GitHub."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bot.deliver import body, patch, remarks, sticky
from bot.deliver.anchors import Anchors, anchors
from bot.deliver.facts import Facts
from bot.deliver.proposals import Proposal, proposals
from bot.deliver.remarks import Comment
from bot.deliver.suggestions import Suggested, suggest
from bot.domain import RunReport

_MOST_SUGGESTIONS = 40  # in one review; GitHub takes about a hundred comments, and readers far fewer


@dataclass(frozen=True, slots=True)
class File:
    """A proposed test file, whole."""

    path: str
    content: bytes
    is_new: bool


@dataclass(frozen=True, slots=True)
class Review:
    """All that a run has to say to a pull request.

    Attributes:
        run, head, status: Of which run and head commit, and how that ended.
        title: One sentence without Markdown, for the check run's title and for answers.
        summary: Markdown for the check run.
        body: Markdown of the review; empty if there is nothing to review with, so that only `sticky` tells.
        comments: On lines of the diff, suggestions among them; each is anchored in a hunk.
        files: The proposed test files.
        suggested: Paths of those that the suggestions give, applied together.
        patch: The same files as a patch for `git apply`.
        sticky: Markdown of the one summary comment.
        is_quiet: There was nothing to test, so that the summary is not posted for it, but edited if it is there.
        tests: The proposed tests, by key.
        deliver: `suggestions`; `commit` or `stacked-pr` if the tests are to be put into the repository at once.
        sign_off: Whether a commit of them ends with a `Signed-off-by` line.
    """

    run: str
    head: str
    status: str
    title: str
    summary: str
    body: str
    comments: tuple[Comment, ...] = ()
    files: tuple[File, ...] = ()
    suggested: tuple[str, ...] = ()
    patch: str = ""
    sticky: str = ""
    is_quiet: bool = False
    tests: tuple[Proposal, ...] = ()
    deliver: str = "suggestions"
    sign_off: bool = False

    @property
    def conclusion(self) -> str:
        """How the check run ends: a run that could not be done is neutral, for the pull request is not to blame."""
        return {"proposed": "success", "cancelled": "cancelled", "nothing-to-test": "skipped"}.get(
            self.status, "neutral"
        )

    def without_comments(self) -> Review:
        """Return the review with what its comments said moved to its body's end, for where they are not accepted."""
        return replace(self, body=body.with_comments(self.body, self.comments), comments=())

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        plain = {
            name: getattr(self, name)
            for name in self.__slots__
            if name not in ("comments", "files", "tests", "suggested")
        }
        return {
            **plain,
            "suggested": list(self.suggested),
            "comments": [asdict(comment) for comment in self.comments],
            "files": [
                {"path": f.path, "content": base64.b64encode(f.content).decode(), "is_new": f.is_new}
                for f in self.files
            ],
            "tests": [test.as_json() for test in self.tests],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Review:
        """Return the review that `as_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: These are not the values of a review.
        """
        files = tuple(File(f["path"], base64.b64decode(f["content"]), f["is_new"]) for f in data["files"])
        return cls(
            **{
                **data,
                "comments": tuple(Comment(**comment) for comment in data["comments"]),
                "files": files,
                "suggested": tuple(data["suggested"]),
                "tests": tuple(Proposal.from_json(test) for test in data["tests"]),
            }
        )


def build(
    report: RunReport,
    root: Path,
    *,
    run: str,
    base: str | None = None,
    is_fork: bool = False,
    can_push: bool = True,
    run_url: str = "",
    sections: tuple[str, ...] = (),
    deliver: str = "suggestions",
    sign_off: bool = False,
) -> Review:
    """Return what a run has to say.

    Args:
        report: The run's; its `head` is the commit that was reviewed.
        root: The checkout that was reviewed.
        run: The run's id.
        base: The tip of the base branch; the report's base if it is not given.
        is_fork, can_push: Whether the head branch is in another repository, and whether the App may commit to it.
        run_url: The run's own page, if there is one.
        sections: Further sections of Markdown, shown after the suspected bugs.
        deliver, sign_off: As `.github/testforge.yml` says; nothing can be committed for a fork, so there it is `suggestions`.
    """
    deliver = deliver if can_push and not is_fork else "suggestions"
    tests = proposals(report)
    contents = patch.contents(report, root)
    files = tuple(File(path, new, old is None) for path, (old, new) in contents.items())
    where = anchors(root, base or report.base or "", report.head or "") if report.targets else Anchors()
    suggestions = _suggestions(contents, where) if deliver == "suggestions" else {}
    facts = Facts(
        report=report,
        tests=tests,
        run=run,
        is_fork=is_fork,
        can_push=can_push,
        suggested=frozenset(path for path, found in suggestions.items() if found.suggestions),
        obstacles={path: found.obstacle for path, found in suggestions.items() if found.obstacle},
        patch=patch.build(report, root) if files else "",
        run_url=run_url,
        sections=sections,
        deliver=deliver,
    )
    comments = (
        *remarks.on_tests([one for found in suggestions.values() for one in found.suggestions]),
        *remarks.on_sources(facts, where),
    )
    return Review(
        run=run,
        head=report.head or "",
        status=report.status,
        title=body.title(facts),
        summary=body.summary(facts),
        body=body.render(facts) if facts.is_worth_a_review else "",
        comments=comments if facts.is_worth_a_review else (),
        files=files,
        suggested=tuple(sorted(facts.suggested)),
        patch=facts.patch,
        sticky=sticky.render(facts),
        is_quiet=report.status == "nothing-to-test",
        tests=tests,
        deliver=deliver if tests else "suggestions",
        sign_off=sign_off,
    )


def _suggestions(
    contents: Mapping[str, tuple[bytes | None, bytes]], where: Anchors
) -> Mapping[str, Suggested]:
    """Return what is suggested for each existing test file; beyond what one review can hold, files come by commit."""
    found: dict[str, Suggested] = {}
    left = _MOST_SUGGESTIONS
    for path, (old, new) in contents.items():
        if old is None:
            continue
        found[path] = suggest(path, old, new, where)
        if len(found[path].suggestions) > left:
            found[path] = Suggested(obstacle="this review holds enough suggestions without it")
        left -= len(found[path].suggestions)
    return found
