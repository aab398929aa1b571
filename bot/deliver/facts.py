"""What the parts of a review are written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.deliver.proposals import Proposal
from bot.domain import RunReport


@dataclass(frozen=True, slots=True)
class Facts:
    """A run, and what is known of its pull request.

    Attributes:
        suggested: Test files that suggestions deliver.
        obstacles: Why other existing test files cannot be delivered by suggestions, by path.
        patch: The proposed files as a patch.
        sections: Further sections of the body, in Markdown.
        deliver: `suggestions`, or `commit` or `stacked-pr` where the repository asks for that and it can be done.
    """

    report: RunReport
    tests: tuple[Proposal, ...]
    run: str
    is_fork: bool
    can_push: bool
    suggested: frozenset[str]
    obstacles: Mapping[str, str]
    patch: str
    run_url: str
    sections: tuple[str, ...] = ()
    deliver: str = "suggestions"

    @property
    def is_worth_a_review(self) -> bool:
        """Whether there is something to review with: tests, or a bug that they found; otherwise a summary will do."""
        return bool(self.tests or self.sections or any(t.suspected_bugs for t in self.report.targets))

    def tests_of(self, source: str) -> tuple[Proposal, ...]:
        """Return the proposed tests of a source file."""
        return tuple(test for test in self.tests if test.source == source)
