"""Early exits that can be read off a function: a condition on one parameter, then a raise or a constant.

Conditions are worked out here by hand on plain values; nothing of the repository is executed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bot.models.offline.outline import Entry, Outline
from bot.models.offline.samples import sample
from bot.models.offline.scenario import Scenario, Then

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_TYPES = {
    "str": str,
    "int": int,
    "float": float,
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "bytes": bytes,
    "bool": bool,
}
_CANDIDATES: tuple[Any, ...] = (None, "", 0, -1, [], 1, "text", 100, 1.5, b"", {})


class _UnknownError(Exception):
    """A condition that cannot be worked out from literals."""


def guarded(entry: Entry, outline: Outline) -> Iterator[Scenario]:
    """Yield what a function of the module does for the inputs that its first statements turn away."""
    node = entry.node
    if not isinstance(node, ast.FunctionDef) or entry.owner or entry.decorators:
        return
    if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node)):
        return
    values: dict[str, Any] = {p.name: ast.literal_eval(sample(p)) for p in entry.parameters if p.required}
    for parameter in entry.parameters:
        if parameter.default:
            try:
                values[parameter.name] = ast.literal_eval(parameter.default)
            except (ValueError, SyntaxError):
                return
    for name in [p.name for p in entry.parameters if p.required]:
        told: set[int] = set()
        for candidate in sorted(_CANDIDATES, key=lambda value: type(value) is not type(values[name])):
            tried = {**values, name: candidate}
            exit_ = _first_exit(node.body, tried)
            if exit_ is not None and _by_this(exit_[0], name) and exit_[1].lineno not in told:
                told.add(exit_[1].lineno)
                yield from _told(entry, outline, tried, exit_[1])


def _by_this(test: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(test))


def _first_exit(body: list[ast.stmt], values: Mapping[str, Any]) -> tuple[ast.expr, ast.stmt] | None:
    """Return the condition and the statement that end the function for these values; None if that is not plain."""
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if not isinstance(statement, ast.If):
            return None
        try:
            holds = bool(_value(statement.test, values))
        except (_UnknownError, TypeError, ValueError):
            return None
        if holds:
            last = statement.body[0]
            return (statement.test, last) if isinstance(last, ast.Raise | ast.Return) else None
        if statement.orelse:
            return None
    return None


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """Work out an expression of literals and parameters. Raises _UnknownError for anything else."""
    if isinstance(node, ast.Name):
        if node.id in values:
            return values[node.id]
        raise _UnknownError
    if isinstance(node, ast.BoolOp):
        parts = (_value(part, values) for part in node.values)
        return all(parts) if isinstance(node.op, ast.And) else any(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _value(node.operand, values)
    if isinstance(node, ast.Compare):
        return _compared(node, values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _called(node.func.id, node.args, values)
    try:
        return ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError) as error:
        raise _UnknownError from error


def _compared(node: ast.Compare, values: Mapping[str, Any]) -> bool:
    left = _value(node.left, values)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = _value(comparator, values)
        if not _COMPARISONS[type(op)](left, right):
            return False
        left = right
    return True


def _called(function: str, arguments: list[ast.expr], values: Mapping[str, Any]) -> Any:
    if function == "len" and len(arguments) == 1:
        return len(_value(arguments[0], values))
    if function == "isinstance" and len(arguments) == 2:
        named = arguments[1].elts if isinstance(arguments[1], ast.Tuple) else [arguments[1]]
        kinds = [_TYPES.get(ast.unparse(kind)) for kind in named]
        if None in kinds:
            raise _UnknownError
        return isinstance(_value(arguments[0], values), tuple(kind for kind in kinds if kind is not None))
    raise _UnknownError


def _told(entry: Entry, outline: Outline, values: Mapping[str, Any], last: ast.stmt) -> Iterator[Scenario]:
    then = _outcome(last, values)
    if then is None:
        return
    given = [p for p in entry.parameters if p.required]
    args = tuple((p.name, repr(values[p.name])) for p in given)
    called = ", ".join(
        f"{p.name}={text}" if p.keyword_only else text for p, (_, text) in zip(given, args, strict=True)
    )
    names = (entry.name, then.type) if then.type in outline.names else (entry.name,)
    yield Scenario(entry.qualname, f"{entry.name}({called})", then, names=names, args=args)


def _outcome(last: ast.stmt, values: Mapping[str, Any]) -> Then | None:
    if isinstance(last, ast.Raise):
        error = last.exc
        message = ""
        if isinstance(error, ast.Call):
            if (
                error.args
                and isinstance(error.args[0], ast.Constant)
                and isinstance(error.args[0].value, str)
            ):
                message = error.args[0].value
            error = error.func
        return Then("raises", type=error.id, message=message) if isinstance(error, ast.Name) else None
    if isinstance(last, ast.Return):
        try:
            return Then("value", repr(_value(last.value, values) if last.value is not None else None))
        except (_UnknownError, TypeError, ValueError):
            return None
    return None
