"""The nouns of testforge, frozen: what flows down the pipeline (see CONTRIBUTING.md for the story).

Lines are 1-based numbers in a file, paths are POSIX paths relative to the repository's root, times are seconds,
money is USD, and fractions lie between 0 and 1. `None` for a measure means "could not be measured", never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

# ---------------------------------------------------------------- the request and the change


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for.

    Attributes:
        root: A directory inside the repository.
        base: The ref the change is measured from; None for `generate`, where the whole file counts as changed.
        head: The ref to review; None is the working tree, uncommitted changes included.
        whole_file: For `generate`: the one source file, relative to the repository's root.
        only: Limits the review to targets at or below these paths.
        budget_usd: Upper limit of what model calls may cost.
    """

    root: Path
    base: str | None = None
    head: str | None = None
    whole_file: str | None = None
    only: tuple[str, ...] = ()
    model: str = "testforge/offline"
    sandbox: str = "auto"
    max_iterations: int = 25
    budget_usd: float | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method of a source file; `first` counts its decorators, `body` is the first statement's line."""

    qualname: str
    first: int
    body: int
    last: int


@dataclass(frozen=True, slots=True)
class Target:
    """One changed source file with its changed lines and the functions that hold them.

    Attributes:
        module: The dotted import path, as the repository's tests would import it.
        source: The file's text at head, decoded, line ends as in the file.
        base_source: Its text at base; None if it did not exist there.
        base_path: Where it lay at base (differs from `path` after a rename); None if it did not exist.
        functions: Functions and methods that hold a changed line, in file order.
        whole_file: Every line counts as changed.
    """

    path: str
    module: str
    source: str
    changed_lines: frozenset[int]
    functions: tuple[Function, ...] = ()
    base_source: str | None = None
    base_path: str | None = None
    whole_file: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """A changed file with nothing to test, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """A diff, read: `base` and `head` are commit ids, `head` None is the working tree, `base` None is no commit."""

    root: Path
    base: str | None
    head: str | None
    targets: tuple[Target, ...] = ()
    skipped: tuple[Skipped, ...] = ()


# ---------------------------------------------------------------- what running tests shows


class Outcome(StrEnum):
    """What became of one test (one pytest node id) in one run."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test in one run.

    Attributes:
        message: The last line of the error, such as `AssertionError: assert 3 == 4`; empty when it passed.
        detail: A short traceback with the asserted values and `path:line` of the test file.
        assertion: Whether it failed by an assertion (and not by another exception).
        function: The test function's name within the file, classes included (`TestA::test_b`), without parameters.
        case: For a parametrised test, the index of the case by parametrize mark, as `{argname: index}`.
    """

    __test__ = False
    id: str
    outcome: Outcome
    duration_s: float = 0.0
    message: str = ""
    detail: str = ""
    assertion: bool = False
    function: str = ""
    case: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CollectionError:
    """A test file that could not be collected."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """Line and branch coverage of one file, by test.

    Attributes:
        statements: Executable lines.
        import_lines: Lines executed while modules were imported, by no test in particular.
        lines_by_test: Lines each test executed, its fixtures' included.
        branches: Possible branches as (from line, to line); a negative `to` leaves the function.
        import_branches, branches_by_test: As for lines.
    """

    path: str
    statements: frozenset[int]
    import_lines: frozenset[int]
    lines_by_test: Mapping[str, frozenset[int]]
    branches: frozenset[tuple[int, int]] = frozenset()
    import_branches: frozenset[tuple[int, int]] = frozenset()
    branches_by_test: Mapping[str, frozenset[tuple[int, int]]] = field(default_factory=dict)

    def lines(self, tests: Iterable[str] | None = None) -> frozenset[int]:
        """Return the statements executed by import or by the given tests (all, if None)."""
        chosen = self.lines_by_test if tests is None else tests
        reached = self.import_lines.union(*(self.lines_by_test.get(test, frozenset()) for test in chosen))
        return reached & self.statements

    def taken(self, tests: Iterable[str] | None = None) -> frozenset[tuple[int, int]]:
        """Return the branches taken by import or by the given tests (all, if None)."""
        chosen = self.branches_by_test if tests is None else tests
        reached = self.import_branches.union(
            *(self.branches_by_test.get(test, frozenset()) for test in chosen)
        )
        return reached & self.branches


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """One run of pytest: every result by exact node id, in the order run, with coverage where it was asked for.

    Attributes:
        crash: Why pytest itself did not finish (`timed out after 60 s`, `exited with 139`); empty if it did.
        output: The end of what pytest printed, for a person to look at; nothing is ever parsed from it.
    """

    results: tuple[TestResult, ...] = ()
    collection_errors: tuple[CollectionError, ...] = ()
    coverage: Mapping[str, FileCoverage] = field(default_factory=dict)
    crash: str = ""
    output: str = ""
    duration_s: float = 0.0

    def ids(self, *outcomes: Outcome) -> tuple[str, ...]:
        """Return the node ids with one of these outcomes, in the order run."""
        return tuple(result.id for result in self.results if result.outcome in outcomes)

    @property
    def passed(self) -> tuple[str, ...]:
        """Node ids of the tests that passed."""
        return self.ids(Outcome.PASSED)


# ---------------------------------------------------------------- mutants


class MutantOutcome(StrEnum):
    """What became of one mutant (METHODS 1.6)."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"
    INCOMPETENT = "incompetent"
    EQUIVALENT = "equivalent"
    NOT_RUN = "not_run"


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
    def score(self) -> float | None:
        """(killed + timed out) / (all that were run and are competent); None without any (METHODS 1.6)."""
        caught = self.count(MutantOutcome.KILLED) + self.count(MutantOutcome.TIMEOUT)
        judged = caught + self.count(MutantOutcome.SURVIVED)
        return caught / judged if judged else None

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


# ---------------------------------------------------------------- suites and their judgement


@dataclass(frozen=True, slots=True)
class Suite:
    """A proposed test file: `is_new` says whether it is to be created or replaces what is there."""

    path: str
    content: str
    is_new: bool = True


class Reason(StrEnum):
    """Why a test was rejected (DESIGN section 2)."""

    FAILS = "fails"
    ERRORS = "errors"
    FLAKY = "flaky"
    SLOW = "slow"
    HOLLOW = "hollow"
    ADDS_NOTHING = "adds-nothing"
    DUPLICATE = "duplicate"
    TOUCHES_SOURCE = "touches-source"
    UNSAFE = "unsafe"
    DISMISSED = "dismissed"
    SUSPECTED_BUG = "suspected-bug"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One row of the ledger: a generated test, its verdict and its evidence. `reason` None means kept.

    Attributes:
        id: Its node id in the delivered file if kept, otherwise in the candidate suite.
        on_base: Its outcome on the base commit: `passed`, `failed`, `error`; None if not run there.
    """

    id: str
    reason: Reason | None
    note: str = ""
    lines_gained: tuple[int, ...] = ()
    mutants_killed: tuple[str, ...] = ()
    on_base: str | None = None
    runs: int = 0
    duration_s: float = 0.0

    @property
    def kept(self) -> bool:
        """Whether the test is proposed."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class SuspectedBug:
    """A test that fails on head by assertion where the code contradicts what its documentation says."""

    test: str
    function: str
    expected: str
    observed: str


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
    """Tokens and USD spent on model calls."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.cost_usd + other.cost_usd,
        )


@dataclass(frozen=True, slots=True)
class TargetReport:
    """All that a run found out about one target."""

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
    """One run, start to finish: `status` as DESIGN section 2 lists them."""

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


def ranges(lines: Iterable[int]) -> Sequence[tuple[int, int]]:
    """Return sorted lines as inclusive ranges: {1, 2, 5} gives [(1, 2), (5, 5)]."""
    found: list[tuple[int, int]] = []
    for line in sorted(lines):
        if found and line == found[-1][1] + 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return found
