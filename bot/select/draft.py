"""A candidate suite while it is judged: which of its tests are rejected and why, and the file that is left."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from bot.domain import Reason, TestResult
from bot.select.nodes import Spot, spots
from bot.select.pruning import prune
from bot.select.tables import outline

Verdict = tuple[Reason, str]


@dataclass(frozen=True, slots=True)
class Remainder:
    """The candidate without its rejected tests.

    Attributes:
        content: The file; empty if nothing is left.
        moved: Where each test of the candidate that remains is written in it.
    """

    content: str
    moved: Mapping[Spot, Spot]


@dataclass(slots=True)
class Draft:
    """A candidate's tests and the verdicts on them.

    Attributes:
        source: The candidate, without what may not even run.
        tests: Where each test is written in `source`, by its node id there, in file order.
        rejected: Tests with a verdict against them.
        soft: Those of `rejected` that may stay where leaving them out would cost another test.
    """

    source: str
    tests: dict[str, Spot] = field(default_factory=dict)
    rejected: dict[str, Verdict] = field(default_factory=dict)
    soft: set[str] = field(default_factory=set)

    def meet(self, results: Iterable[TestResult]) -> None:
        """Learn which tests there are, from a run of `source` as it is."""
        self.tests = spots(outline(self.source), results)

    def reject(self, test: str, reason: Reason, note: str = "", *, soft: bool = False) -> None:
        """Reject a test; the first reason stays, and a hard verdict stays hard."""
        self.rejected.setdefault(test, (reason, note))
        if soft:
            self.soft.add(test)
        else:
            self.soft.discard(test)

    def restore(self) -> None:
        """Give the tests that only added nothing another chance: what made them needless has gone."""
        for test in self.soft:
            self.rejected.pop(test, None)
        self.soft.clear()

    @property
    def left(self) -> tuple[str, ...]:
        """The tests without a verdict against them, in file order."""
        return tuple(test for test in self.tests if test not in self.rejected)

    def remainder(self) -> Remainder:
        """Return the file without rejected tests.

        A test that cannot be left out alone takes others along, if it has to go: they are rejected for its reason.
        One that only adds nothing stays instead, and is no longer rejected.
        """
        if not self.left:
            return Remainder("", {})
        by_spot = {spot: test for test, spot in self.tests.items()}
        hard = {test for test in self.rejected if test in self.tests and test not in self.soft}
        soft = {test for test in self.soft if test in self.tests}
        pruned = prune(self.source, list(by_spot), self._spots(hard), self._spots(soft))
        for spot in sorted(pruned.casualties):
            reason, note = self._shared(by_spot, spot, hard)
            self.reject(
                by_spot[spot], reason, f"another case of a table that cannot be cut: {note}".rstrip(": ")
            )
        for spot in pruned.moved:
            test = by_spot[spot]
            self.rejected.pop(test, None)
            self.soft.discard(test)
        return Remainder(pruned.content, pruned.moved)

    def _spots(self, tests: Collection[str]) -> set[Spot]:
        return {self.tests[test] for test in tests}

    def _shared(self, by_spot: Mapping[Spot, str], spot: Spot, hard: Collection[str]) -> Verdict:
        """Return the verdict on the test that a test has to go with."""
        for other, test in by_spot.items():
            if other.function == spot.function and test in hard:
                return self.rejected[test]
        return Reason.ERRORS, ""
