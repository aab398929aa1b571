"""Verdicts of earlier runs, kept in a directory, each under what it depends on.

A verdict holds as long as neither the function that the mutant is in, nor the tests that made it, nor the environment
has changed: a kill while its killer is the same, a survival for every test that the mutant has met and that is the same.
A new test so meets only the mutants that are still alive.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.domain import Mutant, MutantOutcome, MutantVerdict, MutationResult, Target
from bot.errors import SandboxError
from bot.sandbox import Sandbox
from bot.sandbox.guest.units import Module

_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Known:
    """What earlier runs tell of mutants, as `mutation.judge` takes it.

    Attributes:
        verdicts: By mutant id; caught ones hold with the tests as they are now.
        met: Tests that a survivor has survived as they are now, by mutant id.
    """

    verdicts: Mapping[str, MutantVerdict] = field(default_factory=dict)
    met: Mapping[str, frozenset[str]] = field(default_factory=dict)


class Remembered:
    """The kept verdicts on one file's mutants in one environment.

    Args:
        directory: Where they are kept; made when needed.
        environment: What tells the environment from others, versions of the dependencies included.
        target: The file.
        marks: What tells each test's present state from others, by node id (`marks`).
    """

    def __init__(self, directory: Path, environment: str, target: Target, marks: Mapping[str, str]) -> None:
        self._file = directory / f"{_digest(str(_FORMAT), environment, target.path)}.json"
        self._marks = marks
        self._source = target.source
        try:
            self._module: Module | None = Module(target.source)
        except _NOT_PYTHON:
            self._module = None
        self._rows = self._read()

    def recall(self, mutants: Sequence[Mutant]) -> Known:
        """Return what is still true of mutants."""
        verdicts, met = {}, {}
        for mutant in mutants:
            row = self._rows.get(self._key(mutant))
            if row is None:
                continue
            outcome = MutantOutcome(row["outcome"])
            same = frozenset(test for test, mark in row["tests"].items() if self._marks.get(test) == mark)
            if outcome is MutantOutcome.SURVIVED:
                verdicts[mutant.id] = MutantVerdict(mutant, outcome)
                met[mutant.id] = same
            elif len(same) == len(row["tests"]):
                verdicts[mutant.id] = MutantVerdict(mutant, outcome, row["killer"])
        return Known(verdicts, met)

    def keep(self, result: MutationResult, tests: Iterable[str]) -> None:
        """Keep what a run has found, beside what is kept already.

        Args:
            result: Its verdicts; those that were not run are left out.
            tests: The tests that it was run with: survivors have survived all of them.
        """
        survived = {test: self._marks[test] for test in tests if test in self._marks}
        for verdict in result.verdicts:
            killer = verdict.killed_by
            if verdict.outcome is MutantOutcome.SURVIVED:
                met = survived
            elif verdict.outcome.is_caught and killer is not None and killer in self._marks:
                met = {killer: self._marks[killer]}
            else:
                continue
            self._rows[self._key(verdict.mutant)] = {
                "outcome": verdict.outcome.value,
                "killer": killer,
                "tests": met,
            }
        # Where nothing can be kept, the next run is slower, and nothing else.
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part = self._file.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(self._rows), encoding="utf-8")
            part.replace(self._file)

    def _key(self, mutant: Mutant) -> str:
        """Name a mutant by its function's text and its place in there; code outside of functions by the whole file."""
        text, start = self._source, 0
        if self._module is not None:
            unit = self._module.unit(mutant.first, mutant.last)
            if unit.function and mutant.first >= unit.body:
                start, end = self._module.span(unit)
                text = self._source[start:end]
        place = (str(mutant.start - start), str(mutant.end - start), mutant.replacement)
        return _digest(text, mutant.function, mutant.operator, *place)

    def _read(self) -> dict[str, Any]:
        try:
            rows = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return rows if isinstance(rows, dict) else {}


def marks(box: Sandbox, tests: Iterable[str]) -> dict[str, str]:
    """Return what tells each test's present state from others: its file's text and that of every conftest.py above it."""
    found: dict[str, str] = {}
    by_file: dict[str, str] = {}
    for test in tests:
        file = test.partition("::")[0]
        if file not in by_file:
            by_file[file] = _digest(*(_text(box, path) for path in _files_behind(file)))
        found[test] = by_file[file]
    return found


def _files_behind(file: str) -> list[str]:
    places, place = [file], posixpath.dirname(file)
    while True:
        places.append(posixpath.join(place, "conftest.py"))
        if not place:
            return places
        place = posixpath.dirname(place)


def _text(box: Sandbox, path: str) -> str:
    try:
        return box.read(path).decode("utf-8", errors="replace")
    except (OSError, SandboxError):
        return ""


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
