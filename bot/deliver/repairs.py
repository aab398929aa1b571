"""Functions as they would do what their author approved: as suggestions on the diff, and as a diff to read."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from bot.deliver.anchors import Anchors
from bot.deliver.suggestions import Suggestion, suggest
from bot.domain import SuspectedBug, Target
from bot.errors import UsageError
from bot.programs.functions import find

_MOST = 5
"""Suggestions for one function; a repair of more parts is another function."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A source file at head, and as it would be with one function repaired."""

    path: str
    before: str
    after: str

    @property
    def diff(self) -> str:
        """The difference as a person reads it."""
        before, after = self.before.splitlines(keepends=True), self.after.splitlines(keepends=True)
        return "".join(difflib.unified_diff(before, after, f"a/{self.path}", f"b/{self.path}", n=2))

    def suggestions(self, anchors: Anchors) -> tuple[Suggestion, ...]:
        """Return it as suggestions; none where some of it lies outside of what the pull request shows."""
        found = suggest(self.path, self.before.encode(), self.after.encode(), anchors).suggestions
        return found if len(found) <= _MOST else ()


def repair(target: Target, function: str, bugs: Sequence[SuspectedBug]) -> Repair | None:
    """Return how a function of a target could be repaired; None if no bug of it came with a repair."""
    text = next((bug.repair for bug in bugs if bug.function == function and bug.repair), "")
    if not text:
        return None
    try:
        subject = find(target.source, function)
    except UsageError:
        return None
    return Repair(target.path, target.source, subject.with_function(text))
