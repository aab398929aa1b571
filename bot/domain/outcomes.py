"""What running tests shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bot.domain.coverage import FileCoverage


class Outcome(StrEnum):
    """What became of one test (one pytest node id) in one run."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    TIMED_OUT = "timed out"

    @property
    def is_red(self) -> bool:
        """Whether the test did not do what it is there for; one that was skipped or expected to fail is not red."""
        return self in (Outcome.FAILED, Outcome.ERROR, Outcome.TIMED_OUT)


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
    """A test file that could not be collected; `message` is all that pytest says of it, a traceback often."""

    path: str
    message: str

    @property
    def reason(self) -> str:
        """The line of the message that says what is wrong: the exception of a traceback, otherwise the last line."""
        lines = [line.strip() for line in self.message.splitlines() if line.strip()]
        errors = [line.removeprefix("E ").strip() for line in lines if line.startswith("E ")]
        return (errors or lines or [""])[-1]


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """One run of pytest: every result by exact node id, in the order run, with coverage where it was asked for.

    Attributes:
        crash: Why pytest itself did not finish (`timed out after 60 s`, `exited with 139`); empty if it did.
        unsafe: Why none of this is believed (something else than the tests decided on it); no test has passed then.
        output: The end of what pytest printed, for a person to look at; nothing is ever parsed from it.
    """

    results: tuple[TestResult, ...] = ()
    collection_errors: tuple[CollectionError, ...] = ()
    coverage: Mapping[str, FileCoverage] = field(default_factory=dict)
    crash: str = ""
    unsafe: str = ""
    output: str = ""
    duration_s: float = 0.0

    def ids(self, *outcomes: Outcome) -> tuple[str, ...]:
        """Return the node ids with one of these outcomes, in the order run."""
        return tuple(result.id for result in self.results if result.outcome in outcomes)

    @property
    def passed(self) -> tuple[str, ...]:
        """Node ids of the tests that passed."""
        return self.ids(Outcome.PASSED)

    @property
    def red(self) -> tuple[str, ...]:
        """Node ids of the tests that failed, ended in an error or timed out."""
        return tuple(result.id for result in self.results if result.outcome.is_red)
