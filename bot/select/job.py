"""What selection is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.domain import (
    CoverageDeltas,
    Judgement,
    MutationDelta,
    MutationResult,
    Suite,
    SuiteRun,
    SuspectedBug,
    Target,
)
from bot.measure.baseline import Baseline
from bot.measure.mutants import MutantSet
from bot.sandbox import Interpreter, Sandboxes
from bot.select.placement import Placement
from bot.select.stability import SLOW_S

_MOST_COMPANIONS = 400
"""So many existing tests at most run together with a new file."""


def _silent(text: str) -> None:
    """Tell nobody."""
    del text


@dataclass(frozen=True, slots=True)
class SelectionJob:
    """One candidate suite to be judged.

    Attributes:
        tree: The repository at head; only read.
        base_tree: The repository at base; None where there is no base.
        candidate: The suite as the agent left it; it is judged at `placement.suite_path`.
        baseline: What the existing tests do.
        mutants: The faults to detect.
        note: Told what is being done, in short sentences.
        before: Verdicts of the existing tests on these mutants, where they are known already.
        judged: Verdicts of the existing tests and all passing tests of the candidate, where they are known already:
            good enough to choose by, since what is delivered is measured again.
        dismissed: What tests do that nobody wants to see again, as hashes (`bot.select.behaviour`).
        slow_s: A test that takes longer is rejected, in seconds.
        timeout_s: Limit for one run of tests, in seconds.
    """

    sandboxes: Sandboxes
    tree: Path
    base_tree: Path | None
    interpreter: Interpreter
    target: Target
    placement: Placement
    candidate: Suite
    baseline: Baseline
    mutants: MutantSet
    seed: int = 0
    note: Callable[[str], None] = _silent
    before: MutationResult | None = None
    judged: MutationResult | None = None
    dismissed: frozenset[str] = frozenset()
    slow_s: float = SLOW_S
    timeout_s: float = 120.0

    @property
    def green(self) -> tuple[str, ...]:
        """The existing tests that pass."""
        return tuple(self.baseline.green)

    @property
    def companions(self) -> tuple[str, ...]:
        """Existing test files that run together with the new one: those about the target, then others, up to a limit."""
        if self.baseline.problem:
            return ()
        about = self.baseline.coverage(self.target)
        sizes: dict[str, int] = {}
        near: set[str] = set()
        for test in self.baseline.green:
            path = test.partition("::")[0]
            sizes[path] = sizes.get(path, 0) + 1
            if about is not None and about.lines_by_test.get(test, frozenset()) - about.import_lines:
                near.add(path)
        chosen: set[str] = set()
        room = _MOST_COMPANIONS
        for path in sorted(sizes, key=lambda path: (path not in near, path)):
            if sizes[path] <= room or not chosen:
                chosen.add(path)
                room -= sizes[path]
        return tuple(path for path in sizes if path in chosen)

    @property
    def patience_s(self) -> float:
        """Limit for a run together with existing tests, in seconds."""
        return self.timeout_s + 3 * self.baseline.run.duration_s


@dataclass(frozen=True, slots=True)
class Selection:
    """What became of a candidate.

    Attributes:
        suite: The file to deliver, byte for byte what was measured; None if no test was kept.
        ledger: Every test of the candidate with its verdict.
        run: Existing tests about the target and kept tests, with coverage.
    """

    suite: Suite | None
    ledger: tuple[Judgement, ...]
    run: SuiteRun
    coverage: CoverageDeltas
    mutation: MutationDelta
    suspected_bugs: tuple[SuspectedBug, ...] = ()
