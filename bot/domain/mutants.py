"""Small faults put into a source file, and what became of them (METHODS 1.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class MutantOutcome(StrEnum):
    """What became of one mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"
    INCOMPETENT = "incompetent"
    EQUIVALENT = "equivalent"
    NOT_RUN = "not_run"

    @property
    def is_caught(self) -> bool:
        """Whether a test noticed the mutant."""
        return self in (MutantOutcome.KILLED, MutantOutcome.TIMEOUT)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small change of a source file: the text `source[start:end]` replaced by `replacement`.

    Attributes:
        id: Stable for the same source: operator and occurrence.
        function: Qualified name of the innermost function that holds it; empty at module or class level.
        first, last: Lines it touches.
        diff: The changed lines as `-` and `+` lines, a few at most.
    """

    id: str
    path: str
    operator: str
    function: str
    first: int
    last: int
    start: int
    end: int
    replacement: str
    diff: str


@dataclass(frozen=True, slots=True)
class MutantVerdict:
    """A mutant's outcome and, where it was killed, the test that killed it."""

    mutant: Mutant
    outcome: MutantOutcome
    killed_by: str | None = None


@dataclass(frozen=True, slots=True)
class MutationResult:
    """Verdicts on a set of mutants, `sampled_from` many of which there were before sampling.

    Attributes:
        notes: Sentences for a person on how it was measured: tests left out, forks that were not possible.
    """

    verdicts: tuple[MutantVerdict, ...] = ()
    sampled_from: int = 0
    notes: tuple[str, ...] = ()

    def count(self, outcome: MutantOutcome) -> int:
        """Return how many mutants had this outcome."""
        return sum(verdict.outcome is outcome for verdict in self.verdicts)

    @property
    def caught(self) -> int:
        """How many mutants were killed or timed out."""
        return sum(verdict.outcome.is_caught for verdict in self.verdicts)

    @property
    def judged(self) -> int:
        """How many mutants the score stands on: those that were run, or that no test reaches, and are competent."""
        return self.caught + self.count(MutantOutcome.SURVIVED)

    @property
    def score(self) -> float | None:
        """Caught of judged mutants, as a fraction; None without any (METHODS 1.6)."""
        return self.caught / self.judged if self.judged else None

    @property
    def survivors(self) -> tuple[Mutant, ...]:
        """The mutants that no test killed."""
        return tuple(v.mutant for v in self.verdicts if v.outcome is MutantOutcome.SURVIVED)

    def kills(self) -> Mapping[str, tuple[str, ...]]:
        """Return, by test, the ids of the mutants it was the one to kill."""
        found: dict[str, list[str]] = {}
        for verdict in self.verdicts:
            if verdict.killed_by is not None:
                found.setdefault(verdict.killed_by, []).append(verdict.mutant.id)
        return {test: tuple(ids) for test, ids in found.items()}


def spread(mutants: Iterable[Mutant], most: int) -> tuple[Mutant, ...]:
    """Return at most so many mutants in their order: one of every function in turn, and in it one of every line in turn.

    One line of many constants would otherwise take all the places of its function.
    """
    given = tuple(mutants)
    lines = [
        _in_turns(_grouped(group, lambda place: given[place].first))
        for group in _grouped(range(len(given)), lambda place: given[place].function)
    ]
    return tuple(given[place] for place in sorted(_in_turns(lines)[:most]))


def _grouped(places: Iterable[int], key: Callable[[int], object]) -> list[list[int]]:
    groups: dict[object, list[int]] = {}
    for place in places:
        groups.setdefault(key(place), []).append(place)
    return list(groups.values())


def _in_turns(groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the first of every group, then the second of every group, and so on."""
    turns = max((len(group) for group in groups), default=0)
    return [group[turn] for turn in range(turns) for group in groups if turn < len(group)]
