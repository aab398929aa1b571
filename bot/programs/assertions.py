"""Assertions about a function, taken out of what a model wrote: a call, and what should be true of its value.

They are cut by syntax tree: TiCoder's static mutation (METHODS 2.2).
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST = 100_000
"""Characters of a model's text that are looked at."""
_TRIES = 60
"""Lines, one after another from the end, without which a text is tried; each try reads all of it."""
VALUE = "_"
"""The name under which a predicate sees the value of its call."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A test of a function: `assert <predicate over _>` with the call in place of `_`.

    Attributes:
        call: An expression, such as `f([1, 2])`.
        predicate: An expression over `_`, such as `_ == 3`.
    """

    call: str
    predicate: str

    @classmethod
    def of_value(cls, call: str, value: str) -> Assertion:
        """Return the assertion that a call gives a value, as a person would write it."""
        return cls(call, f"{VALUE} {'is' if value == 'None' else '=='} {value}")

    @property
    def expected(self) -> str | None:
        """The expression that the value should equal; None if the predicate is no plain equality."""
        match ast.parse(self.predicate, mode="eval").body:
            case ast.Compare(left=ast.Name(id=left), ops=[ast.Eq() | ast.Is()], comparators=[other]) if (
                left == VALUE
            ):
                return ast.unparse(other)
        return None

    @property
    def text(self) -> str:
        """The assertion as it would stand in a test."""
        whole = _Replace({VALUE: ast.parse(self.call, mode="eval").body}).visit(
            ast.parse(self.predicate, mode="eval")
        )
        return f"assert {ast.unparse(whole)}"


def split(text: str, function: str) -> tuple[Assertion, ...]:
    """Return the assertions about a function in a text, in order, without repetitions.

    Args:
        text: What a model wrote; what follows the longest prefix that parses is left out.
        function: The function's name. An assertion that does not call it says nothing of it and is left out.
    """
    found: dict[Assertion, None] = {}
    for statement in _statements(text[:_LONGEST]):
        for node in ast.walk(statement):
            if isinstance(node, ast.Assert):
                made = _assertion(node.test, function)
                if made is not None:
                    found[made] = None
    return tuple(found)


def _statements(text: str) -> Iterator[ast.stmt]:
    """Yield the top-level statements of the longest prefix of whole lines that parses."""
    lines = text.splitlines()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        low, high = 0, len(lines)
        # The whole text mostly parses; otherwise the last complete statement is looked for from the end.
        for end in range(high, max(low, high - _TRIES), -1):
            try:
                yield from ast.parse("\n".join(lines[:end])).body
                return
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                line = getattr(error, "lineno", None)
                if isinstance(line, int) and line < end - 50:
                    yield from _statements("\n".join(lines[: line - 1]))
                    return


def _assertion(test: ast.expr, function: str) -> Assertion | None:
    """Return an assertion for the expression of an assert statement; None if it does not call the function."""
    calls = [node for node in ast.walk(test) if _is_call(node, function)]
    if not calls:
        return None
    try:
        if len(calls) == 1 and not _within_a_scope(test, calls[0]):
            call = calls[0]
            predicate = ast.unparse(_Swap(call, ast.Name(VALUE, ast.Load())).visit(test))
            return Assertion(ast.unparse(call), _turned(predicate))
        return Assertion(f"not not ({ast.unparse(test)})", VALUE)  # all of it at once
    except (RecursionError, ValueError):
        return None


def _turned(predicate: str) -> str:
    """Return a predicate with the value on the left of an equality."""
    match ast.parse(predicate, mode="eval").body:
        case ast.Compare(left=other, ops=[ast.Eq() as op], comparators=[ast.Name(id="_") as value]):
            return ast.unparse(ast.Compare(value, [op], [other]))
    return predicate


def _is_call(node: ast.AST, function: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function


def _within_a_scope(test: ast.expr, call: ast.AST) -> bool:
    """Return whether a call stands in a comprehension or lambda, whose names it may use."""
    scopes = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda
    return any(
        isinstance(node, scopes) and any(inner is call for inner in ast.walk(node)) for node in ast.walk(test)
    )


class _Swap(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.expr) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


class _Replace(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, names: dict[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._names.get(node.id, node)
