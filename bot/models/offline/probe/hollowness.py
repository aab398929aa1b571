"""Cases that hold even when the functions they execute are emptied: as tests they would prove nothing and be refused.

`cache.clear()` leaves a cache empty, and so does a cache that never took anything. Such a case gets a further look at
its object that an emptied one does not stand: a size of 0 is not None.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from . import faults
from .judging import Judge, in_processes
from .outcomes import Then
from .programs import Case

_FINE = -1
_BARRED = -2
_SECONDS = 10
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Hollowness:
    """Empties the functions that a case executes, and tells whether that shows."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.runner = judge.runner
        tree = ast.parse(judge.woven.source)
        self.places = [(*_body_lines(node), (_name(node), _first_line(node))) for node, _ in _functions(tree)]
        self.codes = self._emptied_codes(tree)
        self.moving: set[str] = set()

    def learn(self, cases: Sequence[Case]) -> None:
        """Note which looks were often seen to change: they say more than what mostly stays as it was made."""
        times = Counter(expression for case in cases for expression, _ in case.outcome.checks)
        often = max(times.values(), default=0) / 10
        self.moving = {expression for expression, count in times.items() if count >= often}

    def barred(self, cases: Sequence[Case], asked: Sequence[int]) -> set[int]:
        """Return the indexes, of those asked about, of cases that are hollow whatever is looked at besides."""
        found = in_processes(asked, lambda index: self._needed(cases[index]), self.runner.guard, _SECONDS)
        needed = {asked[place]: look for place, look in found}
        return {index for index in asked if needed.get(index, _FINE) == _BARRED}

    def mend(self, cases: Sequence[Case]) -> None:
        """Give each case that is hollow, and need not be, the further look that it needs."""
        for place, look in in_processes(cases, self._needed, self.runner.guard, _SECONDS):
            if look >= 0:
                looks = self.runner.states(cases[place])
                cases[place].outcome.checks += looks[look : look + 1]

    def _needed(self, case: Case) -> int:
        """Return which of the possible looks makes a case hollow no more: its place, or that none is needed or helps."""
        if self._shows(case, []):
            return _FINE
        looks = self.runner.states(case)
        order = sorted(range(len(looks)), key=lambda place: self._weight(looks[place]))
        for place in order:
            if self._shows(case, [looks[place]]):
                return place
        return _BARRED

    def _shows(self, case: Case, looks: list[tuple[str, Then]]) -> bool:
        """Whether a case with these further looks fails with the functions emptied that it executes."""
        keys = {key for first, last, key in self.places if any(first <= n <= last for n in case.lines)}
        kept = list(self._empty(keys))
        checks = case.outcome.checks
        case.outcome.checks = [*checks, *looks]
        try:
            return self.runner.differs(case, case.outcome, case.steps * 8 + 3000)
        finally:
            case.outcome.checks = checks
            for function, old in kept:
                function.__code__ = old

    def _weight(self, look: tuple[str, Then]) -> tuple[bool, int]:
        """Return by what the best look is found: whether it stays as it is, and what it asks of its reader."""
        return look[0] not in self.moving, len(look[0]) + len(look[1].text)

    def _empty(self, keys: set[tuple[str, int]]) -> Iterator[tuple[FunctionType, CodeType]]:
        for key in keys:
            new = self.codes.get(key)
            for function in self.judge.living().get(key, ()) if new is not None else ():
                if new is not None and new.co_freevars == function.__code__.co_freevars:
                    yield function, function.__code__
                    function.__code__ = new

    def _emptied_codes(self, tree: ast.Module) -> dict[tuple[str, int], CodeType]:
        """Return emptied code by name and first line; those of each depth with the functions around them whole."""
        found: dict[tuple[str, int], CodeType] = {}
        for depth in sorted({at for _, at in _functions(tree)}):
            emptied = copy.deepcopy(tree)
            wanted = set()
            for node, at in list(_functions(emptied)):
                if at == depth:
                    wanted.add((_name(node), _first_line(node)))
                    _empty_body(node)
            code = compile(
                ast.fix_missing_locations(emptied),
                self.judge.woven.path,
                "exec",
                flags=self.judge.flags,
                dont_inherit=True,
            )
            found.update(
                (faults.code_key(each), each)
                for each in faults.codes(code)
                if faults.code_key(each) in wanted
            )
        return found


def _functions(tree: ast.AST, depth: int = 0) -> Iterator[tuple[Any, int]]:
    """Yield a tree's functions in order, each with the number of functions around it."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, _DEFINITIONS):
            yield child, depth
            yield from _functions(child, depth + 1)
        else:
            yield from _functions(child, depth)


def _empty_body(node: Any) -> None:
    """Let a function return None at once; what follows keeps a generator a generator."""
    kept = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
    node.body = [*kept, ast.copy_location(ast.Return(value=None), node.body[0]), *node.body[len(kept) :]]


def _body_lines(node: Any) -> tuple[int, int]:
    return node.body[0].lineno, node.end_lineno or node.lineno


def _name(node: Any) -> str:
    return str(node.name)


def _first_line(node: Any) -> int:
    return int(min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]))
