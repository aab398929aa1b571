"""Mutants that change no value in any test: they need not be run.

Where a mutant exchanges one expression for another and both can be evaluated without an effect, one run of the tests
without mutants tells whether the two ever differ: each evaluation of the original evaluates the mutants beside it. A
mutant whose values never differ does what the original does, and survives. (Weak mutation: Howden, "Weak mutation
testing and completeness of test sets", 1982, here as a sufficient condition for survival only.)
"""

from __future__ import annotations

import ast
import mmap
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FunctionType
from typing import Any

from .defaults import function_of
from .expressions import OPERATIONS, PREFIX, Exchange, exchange
from .plan import Case
from .purity import same
from .swapping import CannotSwapError, Changes, Functions
from .units import Module, Unit

_WORTH_A_RUN = 12
_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
_BLANK = f"{PREFIX}blank"
_MARK = "testforge watches here: "


class Infection:
    """Watches mutants' expressions in functions.

    Args:
        mutants: How many there are in the job.

    Attributes:
        watched: The numbers of the mutants that are watched.
        changes: What gives the functions their watching code.
    """

    def __init__(self, module: Module, cases: Sequence[Case], functions: Functions, mutants: int) -> None:
        self._moved = mmap.mmap(-1, mutants + 1)
        self._mutants = mutants
        self.watched: set[int] = set()
        self.changes: Changes = []
        by_unit: dict[Unit, list[Case]] = defaultdict(list)
        for case in cases if len(cases) >= _WORTH_A_RUN else ():
            by_unit[case.unit].append(case)
        for unit, group in by_unit.items():
            try:
                self._add(module, unit, group, functions)
            except (CannotSwapError, *_NOT_PYTHON):
                continue

    @property
    def is_worth_a_run(self) -> bool:
        """Whether so many mutants are watched that a run of the tests may well save more than it costs."""
        return len(self.watched) >= _WORTH_A_RUN

    def give_up(self) -> None:
        """Take it that every mutant has changed something: code has run that is not watched."""
        self._moved[self._mutants] = 1

    def unmoved(self) -> frozenset[int]:
        """Return the mutants that were watched and have changed nothing."""
        if self._moved[self._mutants]:
            return frozenset()
        return frozenset(number for number in self.watched if not self._moved[number])

    def _add(self, module: Module, unit: Unit, cases: Sequence[Case], functions: Functions) -> None:
        tree = ast.parse(module.text(unit))
        function = function_of(tree, unit)
        if function is None:
            return
        sites: dict[ast.expr, list[tuple[int, Exchange]]] = defaultdict(list)
        for case in cases:
            found = exchange(module, function.body, case.splice)
            if found is not None:
                sites[found.node].append((case.number, found))
        # A site within another is not evaluated any more.
        inner = {below for site in sites for below in ast.walk(site) if below is not site and below in sites}
        outer = {node: group for node, group in sites.items() if node not in inner}
        if not outer:
            return
        watchers = [self._watcher(group) for group in outer.values()]
        calls = {
            node: _call_of(place, group[0][1].names) for place, (node, group) in enumerate(outer.items())
        }
        code = module.compiled_tree(_Caller(calls).visit(tree))
        self.changes.extend(functions.exchanged(module, unit, _with_watchers(code, watchers)))
        self.watched.update(number for group in outer.values() for number, _ in group)

    def _watcher(self, group: Sequence[tuple[int, Exchange]]) -> Callable[..., Any]:
        """Return the function that is called in place of an expression, with the values of its variables.

        It gives the expression's value, as long as all its mutants give the same; otherwise they are looked at one by
        one, and what has differed is not evaluated any more.
        """
        first = group[0][1]
        original, plain = (_function(first.names, node) for node in (first.node, first.plain))
        living = {number: _function(first.names, found.mutated) for number, found in group}

        def look(*values: Any) -> Any:
            try:
                value = plain(*values)
            except Exception:
                differing = [*living]
            else:
                differing = [
                    number for number, mutated in living.items() if not _gives(mutated, values, value)
                ]
            for number in differing:
                self._moved[number] = 1
                living.pop(number, None)
            watch.__code__ = code()
            return original(*values)

        def code() -> CodeType:
            mutants = [found.mutated for number, found in group if number in living]
            return _at_once(first, mutants, look).__code__ if mutants else original.__code__

        watch = _at_once(first, [found.mutated for _, found in group], look)
        return watch


class _Caller(ast.NodeTransformer):
    """Puts calls in the places of expressions."""

    def __init__(self, calls: dict[ast.expr, ast.Call]) -> None:
        self._calls = calls

    def visit(self, node: ast.AST) -> Any:
        call = self._calls.get(node)  # type: ignore[call-overload]
        return super().visit(node) if call is None else ast.copy_location(call, node)


def _call_of(place: int, names: Sequence[str]) -> ast.Call:
    """Return the call of a constant, which becomes a watcher once it is compiled."""
    return ast.Call(ast.Constant(f"{_MARK}{place}"), [ast.Name(name, ast.Load()) for name in names], [])


def _with_watchers(code: CodeType, watchers: Sequence[Callable[..., Any]]) -> CodeType:
    constants: list[object] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(_with_watchers(constant, watchers))
        elif isinstance(constant, str) and constant.startswith(_MARK):
            constants.append(watchers[int(constant[len(_MARK) :])])
        else:
            constants.append(constant)
    return code.replace(co_consts=tuple(constants))


def _gives(mutated: Callable[..., Any], values: Sequence[Any], value: Any) -> bool:
    try:
        return same(value, mutated(*values))
    except Exception:
        return False


def _at_once(first: Exchange, mutants: Iterable[ast.expr], look: Callable[..., Any]) -> FunctionType:
    """Return a function that gives an expression's value if all its mutants give the same, and otherwise what `look` gives."""
    parts = [
        f"(({PREFIX}other := {_BLANK}) is {PREFIX}value or {PREFIX}same({PREFIX}value, {PREFIX}other))"
        for _ in mutants
    ]
    names = ", ".join(first.names)
    tree = ast.parse(
        f"def watch({names}):\n try:\n  {PREFIX}value = {_BLANK}\n  if {' and '.join(parts)}:\n   return {PREFIX}value\n"
        f" except Exception:\n  pass\n return {PREFIX}look({names})\n"
    )
    blanks = _Blanks([first.plain, *mutants])
    namespace: dict[str, Any] = {**OPERATIONS, f"{PREFIX}look": look}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(
            compile(ast.fix_missing_locations(blanks.visit(tree)), "<watched>", "exec", dont_inherit=True),
            namespace,
        )
    function: FunctionType = namespace["watch"]
    return function


class _Blanks(ast.NodeTransformer):
    """Puts expressions in the places of a name, in their order."""

    def __init__(self, expressions: Iterable[ast.expr]) -> None:
        self._expressions = iter(expressions)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return next(self._expressions) if node.id == _BLANK else node


def _function(names: Sequence[str], node: ast.expr) -> FunctionType:
    """Return a function of some variables that evaluates a (rewritten) expression."""
    parameters = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(parameters, node)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function: FunctionType = eval(compile(tree, "<watched>", "eval", dont_inherit=True), dict(OPERATIONS))
    return function
