"""Expressions of a test file that mean the same wherever and whenever they are evaluated, and have no effect."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator

from bot.select.imports import bindings
from bot.select.statements import DEFINITIONS, FUNCTIONS

_BUILDERS = frozenset(
    (
        *("bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int"),
        *("list", "object", "range", "set", "str", "tuple"),
    )
)
_IMPORTED_BUILDERS = frozenset(
    (
        ("contextlib", "nullcontext"),
        ("datetime", "date"),
        ("datetime", "datetime"),
        ("datetime", "time"),
        ("datetime", "timedelta"),
        ("decimal", "Decimal"),
        ("fractions", "Fraction"),
        ("pathlib", "Path"),
        ("pathlib", "PurePath"),
        ("pathlib", "PurePosixPath"),
        ("pytest", "approx"),
        ("pytest", "raises"),
    )
)
"""What can be called anywhere and any number of times for the same value."""


class Names:
    """What the names of a file mean, wherever they stand in it.

    Attributes:
        count: How often each name is bound, in all scopes together.
        changed: Attributes that are assigned to.
        surroundings: The functions that are no tests: fixtures, helpers, set-up.
        top: The names that the top level binds for good.
        imported: The module and attribute behind an imported name.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.count = Counter(name for part in ast.walk(tree) for name in bound(part))
        self.changed = {
            part.attr
            for part in ast.walk(tree)
            if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load)
        }
        self.surroundings = [
            part
            for part in ast.walk(tree)
            if isinstance(part, FUNCTIONS) and not part.name.startswith("test")
        ]
        self.top: set[str] = set()
        self.imported: dict[str, tuple[str, str]] = {}
        for node in tree.body:
            self.top.update(bound(node))
            for item in bindings(node):
                self.imported[item.name] = (item.module, item.attribute)
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self.top.update(bound(node.targets[0]))

    def is_builtin(self, name: str) -> bool:
        """Whether a name is Python's own, and nothing in the file hides it."""
        return hasattr(builtins, name) and not self.count[name] and not name.startswith("__")

    def is_steady(self, name: str) -> bool:
        """Whether a name means the same thing from the collection of the tests on, in every place."""
        return self.is_builtin(name) or (self.count[name] == 1 and name in self.top)


def bound(part: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds, in whatever scope."""
    if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
        yield part.id
    elif isinstance(part, ast.arg):
        yield part.arg
    elif isinstance(part, DEFINITIONS):
        yield part.name
    elif isinstance(part, (ast.Import, ast.ImportFrom)):
        yield from (item.name for item in bindings(part))
    elif isinstance(part, (ast.Global, ast.Nonlocal)):
        yield from part.names
    elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        yield from [part.name] if part.name else []
    elif isinstance(part, ast.MatchMapping):
        yield from [part.rest] if part.rest else []


def is_constant(value: ast.expr, names: Names, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether an expression has no effect and gives in the test's body what it gave when tests were collected."""
    if not _is_plain(value, names):
        return False
    spoken = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
    if all(names.is_builtin(name) for name in spoken):
        return True
    parameters = {argument.arg for argument in node.args.args}
    return not (parameters & {"monkeypatch", "mocker"}) and not any(
        _replaces(part) for part in (node, *names.surroundings)
    )


def _replaces(function: ast.AST) -> bool:
    """Whether a function may give something outside of it another value."""
    text = ast.unparse(function)
    stored = any(
        isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load) for part in ast.walk(function)
    )
    return "patch" in text or "setattr" in text or stored


def _is_plain(value: ast.expr, names: Names) -> bool:
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.Name):
        return names.is_steady(value.id)
    if isinstance(value, ast.Attribute):
        whole = isinstance(value.value, (ast.Name, ast.Attribute)) and value.attr not in names.changed
        return whole and _is_plain(value.value, names)
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        return all(_is_plain(element, names) for element in value.elts)
    if isinstance(value, ast.Dict):
        return all(part is not None and _is_plain(part, names) for part in [*value.keys, *value.values])
    if isinstance(value, (ast.UnaryOp, ast.BinOp)):
        kinds = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)
        return all(isinstance(part, kinds) for part in ast.walk(value))
    if isinstance(value, ast.Call):
        given = [*value.args, *(keyword.value for keyword in value.keywords if keyword.arg)]
        whole = len(given) == len(value.args) + len(value.keywords)
        return whole and _is_builder(value.func, names) and all(_is_plain(part, names) for part in given)
    return False


def _is_builder(called: ast.expr, names: Names) -> bool:
    if isinstance(called, ast.Name):
        known = names.imported.get(called.id) if names.is_steady(called.id) else None
        return (called.id in _BUILDERS and names.is_builtin(called.id)) or known in _IMPORTED_BUILDERS
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        module, attribute = names.imported.get(called.value.id, ("", ""))
        whole = names.is_steady(called.value.id) and not attribute
        return whole and (module, called.attr) in _IMPORTED_BUILDERS
    return False
