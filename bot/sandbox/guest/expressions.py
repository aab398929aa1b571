"""Mutants seen as one expression in place of another, and expressions rewritten so that evaluating them does nothing.

A rewritten expression calls an operation of `purity.py` wherever the original might call code of the repository's. It
gets the values of all its variables, since it stands outside of their function.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Optional, cast

from . import purity
from .units import Module

PREFIX = "_testforge_"
OPERATIONS: dict[str, object] = {
    PREFIX + name: getattr(purity, name)
    for name in [
        *(
            "added",
            "attribute",
            "compared",
            "contained",
            "item",
            "judged",
            "length",
            "method",
            "number",
            "same",
        ),
        *("span", "whole"),
    ]
}
"""What rewritten expressions call, by name."""
_CLOSED = tuple(
    getattr(ast, name)
    for name in ("JoinedStr", "TemplateStr", "match_case", "type_param")
    if hasattr(ast, name)
)
"""Syntax in which a part cannot be exchanged for a call, or does not know where it stands."""
_ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)
_ALWAYS_SMALL = range(-5, 257)  # numbers of which the interpreter has one object each


class OpaqueError(Exception):
    """An expression holds something that cannot be evaluated without an effect, or not outside of its function."""


@dataclass(frozen=True)
class Exchange:
    """An expression that a mutant exchanges for another.

    Attributes:
        node: The original, in the tree that was looked through.
        names: The variables of both.
        plain: The original, rewritten.
        mutated: What the mutant has in its place, rewritten.
    """

    node: ast.expr
    names: tuple[str, ...]
    plain: ast.expr
    mutated: ast.expr


def exchange(module: Module, body: Sequence[ast.stmt], splice: tuple[int, int, str]) -> Optional[Exchange]:
    """Return the largest expression around a mutation that can be evaluated unnoticed; None if there is none.

    Args:
        body: The statements of the function that the mutant lies in, where they stand in the module.
    """
    start, end, text = splice
    source = module.source
    if source[start:end] == text:
        return None
    path = _path(module, ast.Module(list(body), []), start, end)
    expressions = [place for place, node in enumerate(path) if isinstance(node, ast.expr)]
    for place in expressions:
        node = cast("ast.expr", path[place])
        if not isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
            continue
        first, last = module.place(node)
        try:
            mutated = _parsed(source[first:start] + text + source[end:last])
            whole = cast("ast.expr", path[expressions[0]])
            begin, stop = module.place(whole)
            if _differ_there(whole, _parsed(source[begin:start] + text + source[end:stop]), node, mutated):
                return _rewritten(node, mutated, is_condition=_is_condition(path[place - 1], node))
        except (OpaqueError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _rewritten(node: ast.expr, mutated: ast.expr, *, is_condition: bool) -> Exchange:
    before, after = _Rewriter(), _Rewriter()
    plain = before.condition(node) if is_condition else before.value(node)
    other = after.condition(mutated) if is_condition else after.value(mutated)
    if not after.names <= before.names:
        raise OpaqueError
    return Exchange(node, tuple(sorted(before.names)), plain, other)


def _path(module: Module, node: ast.AST, start: int, end: int) -> list[ast.AST]:
    """Return what holds a part of the text, from the innermost statement inward."""
    for child in _children(node):
        if isinstance(child, _CLOSED):
            continue
        below: list[ast.AST]
        if hasattr(child, "lineno"):
            first, last = module.place(cast("ast.expr", child))
            if first <= start and end <= last:
                below = _path(module, child, start, end)
                inner = any(isinstance(each, ast.stmt) for each in below)
                return below if inner else [child, *below]
        else:
            below = _path(module, child, start, end)
            if below:
                return below if isinstance(below[0], ast.stmt) else [child, *below]
    return []


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for field, value in ast.iter_fields(node):
        if field == "annotation":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _parsed(text: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(f"({text})", mode="eval").body


def _differ_there(one: object, other: object, node: ast.expr, mutated: ast.expr) -> bool:
    """Whether two pieces of syntax are the same, but that the second has `mutated` where the first has `node`."""
    if one is node:
        return ast.dump(cast("ast.expr", other)) == ast.dump(mutated)
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        return all(
            _differ_there(value, getattr(other, field, None), node, mutated)
            for field, value in ast.iter_fields(one)
        )
    if isinstance(one, list):
        others = cast("list[object]", other)
        return len(one) == len(others) and all(
            _differ_there(each, others[place], node, mutated) for place, each in enumerate(one)
        )
    return one == other


def _is_condition(parent: ast.AST, node: ast.expr) -> bool:
    """Whether nothing of an expression's value matters but whether it is true."""
    if isinstance(parent, ast.comprehension):
        return node in parent.ifs
    return isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)) and parent.test is node


class _Rewriter:
    """Rewrites one expression; `names` are the variables met.

    Raises:
        OpaqueError: By all its methods.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()

    def value(self, node: ast.expr) -> ast.expr:
        """Return what gives the same value."""
        rewrite = getattr(self, f"_{type(node).__name__.lower()}", None)
        if rewrite is None:
            raise OpaqueError
        return cast("ast.expr", rewrite(node))

    def condition(self, node: ast.expr) -> ast.expr:
        """Return what gives a truth value that is the original's."""
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(node.op, [self.condition(each) for each in node.values])
        if isinstance(node, ast.Compare):
            return self.value(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.UnaryOp(ast.Not(), self.condition(node.operand))
        return ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), self._through("judged", node)))

    def _through(self, operation: str, *nodes: ast.expr) -> ast.expr:
        return _call(operation, [self.value(node) for node in nodes])

    def _constant(self, node: ast.Constant) -> ast.expr:
        return node

    def _name(self, node: ast.Name) -> ast.expr:
        if node.id.startswith(("__", PREFIX)):
            raise OpaqueError
        self.names.add(node.id)
        return ast.Name(node.id, ast.Load())

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr.startswith("__"):  # a class may give it another name
            raise OpaqueError
        return _call("attribute", [self.value(node.value), ast.Constant(node.attr)])

    def _subscript(self, node: ast.Subscript) -> ast.expr:
        return self._through("item", node.value, node.slice)

    def _slice(self, node: ast.Slice) -> ast.expr:
        return self._through(
            "span", *(each or ast.Constant(None) for each in (node.lower, node.upper, node.step))
        )

    def _tuple(self, node: ast.Tuple) -> ast.expr:
        return ast.Tuple([self.value(each) for each in node.elts], ast.Load())

    def _list(self, node: ast.List) -> ast.expr:
        return ast.List([self.value(each) for each in node.elts], ast.Load())

    def _unaryop(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return ast.UnaryOp(ast.Not(), self.condition(node.operand))
        guard = "whole" if isinstance(node.op, ast.Invert) else "number"
        return ast.UnaryOp(node.op, self._through(guard, node.operand))

    def _binop(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.Add):
            return self._through("added", node.left, node.right)
        if not isinstance(node.op, _ARITHMETIC):  # powers and shifts may take forever
            raise OpaqueError
        return ast.BinOp(self._through("number", node.left), node.op, self._through("number", node.right))

    def _boolop(self, node: ast.BoolOp) -> ast.expr:
        *others, last = node.values
        return ast.BoolOp(node.op, [*(self._through("judged", each) for each in others), self.value(last)])

    def _ifexp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(self.condition(node.test), self.value(node.body), self.value(node.orelse))

    def _compare(self, node: ast.Compare) -> ast.expr:
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            if len(node.ops) > 1:
                raise OpaqueError
            found = self._through("contained", node.left, node.comparators[0])
            return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)
        operands = [node.left, *node.comparators]
        rewritten = []
        for place, operand in enumerate(operands):
            around = node.ops[max(0, place - 1) : place + 1]
            by_identity = [isinstance(op, (ast.Is, ast.IsNot)) for op in around]
            if any(by_identity) and not _is_one_object(operand):
                raise OpaqueError
            rewritten.append(self.value(operand) if all(by_identity) else self._through("compared", operand))
        return ast.Compare(rewritten[0], node.ops, rewritten[1:])

    def _call(self, node: ast.Call) -> ast.expr:
        if node.keywords:
            raise OpaqueError
        function = node.func
        if isinstance(function, ast.Name) and function.id == "len" and len(node.args) == 1:
            return self._through("length", function, node.args[0])
        if not isinstance(function, ast.Attribute) or function.attr not in purity.STRING_METHODS:
            raise OpaqueError
        arguments = [self.value(each) for each in node.args]
        return _call("method", [self.value(function.value), ast.Constant(function.attr), *arguments])


def _call(operation: str, arguments: Sequence[ast.expr]) -> ast.expr:
    return ast.Call(ast.Name(PREFIX + operation, ast.Load()), list(arguments), [])


def _is_one_object(node: ast.expr) -> bool:
    """Whether evaluating an expression elsewhere gives the very object that it gives in its place."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return False
    if isinstance(node, ast.UnaryOp):
        return _is_one_object(node.operand) and not isinstance(node.operand, ast.Constant)
    if not isinstance(node, ast.Constant):
        return True
    value = node.value
    if isinstance(value, str):
        return len(value) < 2 or (value.isascii() and value.isidentifier())
    return value in (None, True, False, ...) or (type(value) is int and value in _ALWAYS_SMALL)
