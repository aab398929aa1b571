"""Mutants of a source file: cosmic-ray's standard operators, from the text alone.

Nothing of the repository is imported. Mutants that can make no difference, and those whose text is no Python, are
told apart here, so that none of them costs a run.
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bot.domain import Mutant
from bot.measure.exclusions import excluded_lines
from bot.measure.splices import Splice, splices
from bot.sandbox.guest.units import Module

_LINE = re.compile(r"\r\n|\r|\n")
_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
_DIFF_LINES = 4


@dataclass(frozen=True, slots=True)
class MutantSet:
    """The mutants of one file that are to be judged, and those that need no judging.

    Attributes:
        mutants: To be judged, in file order of cosmic-ray's listing; a sample if there were more than the limit.
        total: How many there were to judge before sampling.
        equivalent: Mutants whose compiled code equals the original's; all of them, never sampled.
        incompetent: Mutants that are no valid Python, or that cosmic-ray's operator crashes on; all of them.
        excluded: How many are left out since the repository is configured so.
        decided: False if the source does not compile under this Python: equivalent and incompetent mutants are then
            still among `mutants`, and the guest, which runs the repository's Python, tells them apart.
    """

    path: str
    mutants: tuple[Mutant, ...] = ()
    total: int = 0
    equivalent: tuple[Mutant, ...] = ()
    incompetent: tuple[Mutant, ...] = ()
    decided: bool = True
    excluded: int = 0


def generate(
    path: str,
    source: str,
    *,
    lines: frozenset[int] | None = None,
    limit: int | None = None,
    seed: int = 0,
    exclude: Collection[str] = (),
) -> MutantSet:
    """Return the mutants that `cosmic-ray init` would list for a file.

    Args:
        path: The file's path, relative to the repository's root.
        source: Its text, line ends as in the file.
        lines: Only mutants that touch one of these lines; None is the whole file.
        limit: Above so many, a sample is drawn, from each function in proportion to its mutants.
        seed: Decides the sample.
        exclude: Kinds of code to leave out, see `exclusions.py`.
    """
    text = _Text(source)
    touching = [
        s for s in splices(source) if lines is None or not lines.isdisjoint(range(s.first, s.last + 1))
    ]
    excluded = excluded_lines(source, exclude)
    chosen = [s for s in touching if not any(begin <= s.first and s.last <= end for begin, end in excluded)]
    try:
        module = Module(source)
    except _NOT_PYTHON:
        module = None
    sorted_out: dict[str, list[Mutant]] = defaultdict(list)
    for splice in chosen:
        sorted_out[_kind(module, splice)].append(text.mutant(path, splice))
    mutants = sorted_out["runnable"]
    return MutantSet(
        path,
        tuple(_sample(mutants, limit, seed)),
        len(mutants),
        tuple(sorted_out["equivalent"]),
        tuple(sorted_out["incompetent"]),
        module is not None,
        len(touching) - len(chosen),
    )


def _kind(module: Module | None, splice: Splice) -> str:
    if splice.crashes:
        return "incompetent"
    if module is None:
        return "runnable"
    try:
        change = (splice.start, splice.end, splice.replacement)
        return "equivalent" if module.is_equivalent(splice.first, splice.last, change) else "runnable"
    except _NOT_PYTHON:
        return "incompetent"


def _sample(mutants: Sequence[Mutant], limit: int | None, seed: int) -> list[Mutant]:
    """Draw `limit` mutants, from each function its share (largest remainders first), in their order."""
    if limit is None or len(mutants) <= limit:
        return list(mutants)
    strata: dict[str, list[int]] = defaultdict(list)
    for position, mutant in enumerate(mutants):
        strata[mutant.function].append(position)
    exact = {name: limit * len(members) / len(mutants) for name, members in strata.items()}
    quota = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(strata, key=lambda name: (quota[name] - exact[name], name))
    for name in by_remainder[: limit - sum(quota.values())]:
        quota[name] += 1
    kept = [p for name in sorted(strata) for p in Random(f"{seed} {name}").sample(strata[name], quota[name])]
    return [mutants[position] for position in sorted(kept)]


@dataclass
class _Text:
    """A source text, to describe changes of it to a person."""

    source: str
    _starts: list[int] = field(init=False)
    _functions: list[tuple[int, int, str]] = field(init=False)

    def __post_init__(self) -> None:
        import parso

        self._starts = [0, *(match.end() for match in _LINE.finditer(self.source))]
        self._functions = []
        self._find_functions(parso.parse(self.source), "")

    def mutant(self, path: str, splice: Splice) -> Mutant:
        return Mutant(
            id=f"{splice.operator}:{splice.occurrence}",
            path=path,
            operator=splice.operator,
            function=self._function_of(splice.first, splice.last),
            first=splice.first,
            last=splice.last,
            start=splice.start,
            end=splice.end,
            replacement=splice.replacement,
            diff=self._diff(splice),
        )

    def _diff(self, splice: Splice) -> str:
        """Return the lines that change, as `-` and `+` lines without their common ones, long ones cut short."""
        first = bisect.bisect_right(self._starts, splice.start) - 1
        last = bisect.bisect_right(self._starts, max(splice.start, splice.end - 1)) - 1
        begin = self._starts[first]
        end = self._starts[last + 1] if last + 1 < len(self._starts) else len(self.source)
        before = self.source[begin:end].splitlines()
        after = (
            self.source[begin : splice.start] + splice.replacement + self.source[splice.end : end]
        ).splitlines()
        while before and after and before[0] == after[0]:
            del before[0], after[0]
        while before and after and before[-1] == after[-1]:
            del before[-1], after[-1]
        return "\n".join([*_signed("-", before), *_signed("+", after)])

    def _function_of(self, first: int, last: int) -> str:
        holding = [f for f in self._functions if f[0] <= first and last <= f[1]]
        return max(holding, default=(0, 0, ""))[2]

    def _find_functions(self, node: Any, prefix: str) -> None:
        for child in getattr(node, "children", ()):
            if child.type not in ("funcdef", "classdef"):
                self._find_functions(child, prefix)
                continue
            name = prefix + child.name.value
            if child.type == "funcdef":
                self._functions.append((_first_line(child), _last_line(child), name))
            self._find_functions(child, name + (".<locals>." if child.type == "funcdef" else "."))


def _first_line(definition: Any) -> int:
    """Return a parso definition's first line, its decorators and `async` included."""
    node = definition
    while node.parent is not None and node.parent.type in ("decorated", "async_stmt", "async_funcdef"):
        node = node.parent
    line: int = node.start_pos[0]
    return line


def _last_line(definition: Any) -> int:
    line, column = definition.end_pos
    last: int = line - (column == 0)
    return last


def _signed(sign: str, lines: Sequence[str]) -> list[str]:
    shown = [sign + line for line in lines[:_DIFF_LINES]]
    if len(lines) > _DIFF_LINES:
        shown.append(f"{sign}[... {len(lines) - _DIFF_LINES} more lines ...]")
    return shown
