"""Every state the suite has been in, and which verified one is the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bot.agent.fingerprints import fingerprints, test_name
from bot.domain import FileCoverage, MutationResult, SuiteRun

FINALISTS = 4


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The suite at one moment.

    Attributes:
        iteration: When it was first seen; 0 is the seed.
        verified: Whether it was run.
        collected: Whether pytest ran at least one test of it.
        failed: Ids of tests that failed, by an error or by time as well.
        coverage: Of the target, by this suite alone; None if not verified or not measurable.
        caught: Ids of the mutants that it, with the existing tests, killed or timed out; None if not asked for.
        score: The mutation score of the suite together with the existing tests; None if not asked for.
    """

    content: str
    iteration: int
    verified: bool = False
    collected: bool = False
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    coverage: FileCoverage | None = None
    caught: frozenset[str] | None = None
    score: float | None = None

    @property
    def lines(self) -> frozenset[int]:
        """Lines that its passing tests cover; none without a passing test."""
        if self.coverage is None or not self.passed:
            return frozenset()
        return self.coverage.lines(self.passed)

    @property
    def evidence(self) -> frozenset[tuple[str, str]]:
        """Its passing tests, each with a mark of its text: equal pairs prove the same."""
        marks = fingerprints(self.content)
        return frozenset((test, marks.get(test_name(test), self.content)) for test in self.passed)

    def with_mutation(self, result: MutationResult) -> Snapshot:
        """Return this snapshot with what is known of its mutants."""
        caught = frozenset(v.mutant.id for v in result.verdicts if v.outcome.is_caught)
        return replace(self, caught=caught, score=result.score)


@dataclass(slots=True)
class Snapshots:
    """The states of one suite in the order they appeared, each text once."""

    target_path: str
    _found: dict[str, Snapshot] = field(default_factory=dict)

    def record(
        self, content: str, iteration: int, run: SuiteRun | None, mutation: MutationResult | None
    ) -> Snapshot:
        """Take in the suite as it stands, with what is known about it; a text seen before becomes the latest again."""
        snapshot = self._found.pop(content, None) or Snapshot(content, iteration)
        if run is not None:
            coverage = run.coverage.get(self.target_path)
            snapshot = replace(
                snapshot,
                verified=True,
                collected=bool(run.results),
                passed=run.passed,
                failed=run.red,
                coverage=coverage,
            )
        if mutation is not None:
            snapshot = snapshot.with_mutation(mutation)
        self._found[content] = snapshot
        return snapshot

    def all(self) -> tuple[Snapshot, ...]:
        """Return the snapshots, the latest last."""
        return tuple(self._found.values())

    def best(self, judged: Callable[[Snapshot], Snapshot]) -> Snapshot | None:
        """Return the best verified snapshot; None if no test was ever collected.

        Most mutants caught wins, then most lines covered, most passing tests, fewest failing ones, the latest. A
        snapshot whose passing tests all stand unchanged in a later one cannot beat that, so that mostly one is left
        and nothing has to be judged; of the others the FINALISTS that cover most are.

        Args:
            judged: Returns a snapshot with its mutants judged, or as it was if that cannot be done.
        """
        rivals = _undominated([each for each in self.all() if each.collected])
        if len(rivals) > 1:
            finalists = sorted(rivals, key=_coverage_rank)[-FINALISTS:]
            rivals = [judged(each) if each.caught is None else each for each in rivals if each in finalists]
        ranked = sorted(rivals, key=lambda each: (len(each.caught or ()), *_coverage_rank(each)))
        return ranked[-1] if ranked else None


def _coverage_rank(snapshot: Snapshot) -> tuple[int, int, int]:
    return len(snapshot.lines), len(snapshot.passed), -len(snapshot.failed)


def _undominated(snapshots: list[Snapshot]) -> list[Snapshot]:
    """Leave out each snapshot whose evidence another holds too.

    Between equals the one with fewer failing tests stays, then the later one.
    """
    evidence = {each.content: each.evidence for each in snapshots}
    order = sorted(snapshots, key=lambda each: (len(evidence[each.content]), -len(each.failed)))
    kept: list[str] = []
    for each in reversed(order):
        if not any(evidence[each.content] <= evidence[other] for other in kept):
            kept.append(each.content)
    return [each for each in snapshots if each.content in kept]
