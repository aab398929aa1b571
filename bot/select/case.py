"""A selection under way: the candidate, the place for its tests, and what has been found out so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain import MutationResult, SuspectedBug
from bot.select.composing import Workplace
from bot.select.draft import Draft
from bot.select.job import SelectionJob
from bot.select.verification import Verified


@dataclass(slots=True)
class Case:
    """One selection.

    Attributes:
        before: What the existing tests kill.
        mutation: The latest verdicts with tests of the candidate.
        names: The candidate's tests by the node ids under which `mutation` knows them.
        runs: How often each test of the candidate has been run.
    """

    job: SelectionJob
    draft: Draft
    place: Workplace
    before: MutationResult
    mutation: MutationResult = field(default_factory=MutationResult)
    names: Mapping[str, str] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    bugs: tuple[SuspectedBug, ...] = ()

    def count(self, verified: Verified) -> None:
        """Note which tests have been run how often, and how long they took."""
        durations = {result.id: result.duration_s for result in verified.trial.first.results}
        for name, test in verified.names.items():
            self.runs[test] = self.runs.get(test, 0) + len(verified.trial.runs)
            self.durations[test] = durations.get(name, self.durations.get(test, 0.0))
