"""What each mutant needs: the way its code is put in place, the tests that reach it, and the order to try them in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .defaults import changed_default
from .units import Module, Unit

SWAP = "swap"
IMPORT = "import"
_CHUNK = 8
_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Case:
    """One mutant to run.

    Attributes:
        number: Its place in the job's list.
        way: `swap` (its function's code is exchanged in a fork of the collected suite) or `import` (a fork made
            before the tree was imported, which imports the mutated module).
        tests: Places, in the job's list of tests, of those that reach it, in the order to try them.
        group: Neighbours have the same group.
        without: Tests that it need not meet.
    """

    number: int
    splice: tuple[int, int, str]
    unit: Unit
    way: str
    tests: tuple[int, ...]
    group: str
    without: frozenset[int] = frozenset()


class Plan:
    """The cases of a job, and the verdicts that need no run.

    Args:
        job: As `engine.main` takes it.

    Raises:
        SyntaxError: The original does not compile (ValueError, RecursionError, MemoryError likewise).
    """

    def __init__(self, job: Mapping[str, Any]) -> None:
        self.module = Module(job["source"])
        self.cases: list[Case] = []
        self.settled: dict[int, str] = {}
        self._lines = [frozenset(job["lines"].get(test, ())) for test in job["tests"]]
        self._imported = frozenset(job["import_lines"])
        self._statements = frozenset(job["statements"])
        self._spawning = bool(job["spawning"])
        self._first = {test: rank for rank, test in enumerate(job["first"])}
        self._rank = self._ranks(job["tests"])
        for number, mutant in enumerate(job["mutants"]):
            outcome = self._settle(mutant, job["check"])
            if outcome:
                self.settled[number] = outcome
            else:
                self._add(number, mutant)

    def _settle(self, mutant: Mapping[str, Any], check: str) -> str:
        splice = (mutant["start"], mutant["end"], mutant["text"])
        try:
            if check == "compiles":
                self.module.compiled(self.module.unit(mutant["first"], mutant["last"]), splice)
            elif check == "equivalent" and self.module.is_equivalent(mutant["first"], mutant["last"], splice):
                return "equivalent"
        except _NOT_PYTHON:
            return "incompetent"
        return ""

    def _add(self, number: int, mutant: Mapping[str, Any]) -> None:
        unit = self.module.unit(mutant["first"], mutant["last"])
        first, last = self.module.header(mutant["first"], mutant["last"])
        lines = frozenset(range(first, last + 1))
        splice = (mutant["start"], mutant["end"], mutant["text"])
        if not (unit.function and mutant["first"] >= unit.body) and self._is_default(unit, splice):
            # It matters where the function is called, and nowhere else.
            lines = frozenset(range(unit.body, unit.last + 1))
            in_body = True
        else:
            in_body = unit.function and mutant["first"] >= unit.body
        if in_body and not lines & self._statements:
            # Coverage says nothing of a line that it is told to leave out, or that the compiler has folded away.
            lines = frozenset(range(unit.body, unit.last + 1))
        if in_body and not lines & self._imported:
            way = SWAP
            unknown = not lines & self._statements
            reaching = [test for test, reached in enumerate(self._lines) if unknown or reached & lines]
        else:
            way = IMPORT
            reaching = list(range(len(self._lines)))
        without = frozenset(mutant["without"])
        tests = tuple(sorted((test for test in reaching if test not in without), key=self._rank.__getitem__))
        if not tests and not (self._spawning and way == SWAP):
            self.settled[number] = "survived"
            return
        group = f"{way} {unit.first} {mutant['function']}"
        self.cases.append(Case(number, splice, unit, way, tests, group, without))

    def _is_default(self, unit: Unit, splice: tuple[int, int, str]) -> bool:
        try:
            return changed_default(self.module, unit, splice) is not None
        except _NOT_PYTHON:
            return False

    def _ranks(self, tests: Sequence[str]) -> list[tuple[int, int, str]]:
        """Rank tests: those asked for, then those that execute the most lines of the file, which kill the most.

        Seconds would be a key too, but they differ from run to run, and so would `killed_by`.
        """
        last = len(self._first)
        return [
            (self._first.get(test, last), -len(self._lines[place]), test) for place, test in enumerate(tests)
        ]


def chunks(cases: Sequence[Case]) -> list[list[Case]]:
    """Return cases in chunks that one worker judges in order, the longest first.

    A chunk holds neighbours only, and each has a history of its own: what kills a mutant depends on nothing that
    another worker does meanwhile.
    """
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in sorted(cases, key=lambda case: case.number):
        groups[case.group].append(case)
    parts = [group[at : at + _CHUNK] for group in groups.values() for at in range(0, len(group), _CHUNK)]
    return sorted(parts, key=lambda part: (-sum(len(case.tests) for case in part), part[0].number))


class History:
    """Which tests killed the mutants of a chunk so far, the latest first."""

    def __init__(self) -> None:
        self._killers: list[int] = []

    def order(self, tests: Sequence[int]) -> list[int]:
        """Return tests with those that killed neighbours in front."""
        reaching = set(tests)
        known = [test for test in self._killers if test in reaching]
        return [*known, *(test for test in tests if test not in set(known))]

    def add(self, killer: Optional[int]) -> None:
        if killer is not None:
            self._killers = [killer, *(test for test in self._killers if test != killer)]
