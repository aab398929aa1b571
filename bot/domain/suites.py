"""Proposed suites, and the verdicts on their tests."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
        behaviours: What a kept test does, as hashes that its name does not matter for: as it was written, and as it
            is delivered.
    """

    id: str
    reason: Reason | None
    note: str = ""
    lines_gained: tuple[int, ...] = ()
    mutants_killed: tuple[str, ...] = ()
    on_base: str | None = None
    runs: int = 0
    duration_s: float = 0.0
    behaviours: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether the test is proposed."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class SuspectedBug:
    """A test that fails on head by assertion where the code contradicts what its documentation says, or its author.

    Attributes:
        confirmed_by: The author who said that the test should hold; empty where the documentation says so.
        repair: The function's text as it would pass the test; empty if nobody wrote it so.
    """

    test: str
    function: str
    expected: str
    observed: str
    confirmed_by: str = ""
    repair: str = ""
