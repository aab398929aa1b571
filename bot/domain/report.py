"""What a run gives back: measures before and after, what it cost, and all that was found out about each target."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.change import Skipped, Target
from bot.domain.mutants import MutationResult
from bot.domain.suites import Judgement, Suite, SuspectedBug


@dataclass(frozen=True, slots=True)
class Delta:
    """A measure before and after the proposed suite; None where it could not be measured."""

    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True)
class CoverageDeltas:
    """Line coverage of the file and of its changed lines, and branch coverage of the file, as fractions."""

    file: Delta = Delta()
    changed: Delta = Delta()
    branch: Delta = Delta()


@dataclass(frozen=True, slots=True)
class MutationDelta:
    """Mutation results before and after the proposed suite, on the same mutants."""

    before: MutationResult
    after: MutationResult


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and USD spent on model calls; `is_unpriced` says that of some nobody knows the price."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    cost_usd: float = 0.0
    is_unpriced: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.cost_usd + other.cost_usd,
            self.is_unpriced or other.is_unpriced,
        )


@dataclass(frozen=True, slots=True)
class TargetReport:
    """All that a run found out about one target; `is_broken` says that a sandbox broke under it."""

    target: Target
    status: str
    reason: str = ""
    suite: Suite | None = None
    ledger: tuple[Judgement, ...] = ()
    coverage: CoverageDeltas = CoverageDeltas()
    mutation_changed: MutationDelta | None = None
    mutation_file: MutationDelta | None = None
    suspected_bugs: tuple[SuspectedBug, ...] = ()
    red_tests: tuple[str, ...] = ()
    iterations: int = 0
    usage: Usage = Usage()
    is_broken: bool = False

    @property
    def cost_usd(self) -> float:
        """What the model calls for this target cost, in USD."""
        return self.usage.cost_usd

    @property
    def kept(self) -> tuple[Judgement, ...]:
        """The tests that are proposed."""
        return tuple(row for row in self.ledger if row.kept)


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run, start to finish: `status` as DESIGN section 2 lists them.

    Attributes:
        is_broken: A sandbox broke under it, so that another try may find more.
    """

    status: str
    reason: str
    base: str | None
    head: str | None
    model: str
    sandbox: str
    wall_s: float = 0.0
    usage: Usage = Usage()
    targets: tuple[TargetReport, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    is_broken: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """A line of progress: a stage of the pipeline (`changes`, `seed`, `select` ...), for a target or the whole run.

    Attributes:
        state: `started`, `note`, `done` or `failed`.
    """

    stage: str
    state: str
    target: str = ""
    text: str = ""
