"""Functions that fill containers of the module, as registries are filled: tried on containers that hold little."""

from __future__ import annotations

import ast
import contextlib
from typing import Any

from .names import Names
from .programs import Arg, Case, Op, Step
from .signatures import params_of

_CHANGERS = frozenset(
    ["append", "extend", "insert", "add", "update", "setdefault", "remove", "discard", "pop", "clear"]
)
_EMPTY: dict[type, str] = {list: "[]", dict: "{}", set: "set()"}
_SHORT = 60
_MOST_CALLS = 16
"""Calls of one function that are tried."""


class Registries:
    """Makes a case of each call, at the import of the module, of a function that changes the module's containers."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self.module = names.module
        self.tree = tree
        self.names = names

    def cases(self) -> list[Case]:
        """Return the cases: each container is replaced by a small one, and looked at after the call."""
        if not self.names.home:
            return []
        found: list[Case] = []
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                changed = self._changed_by(node)
                value = vars(self.module).get(node.name)
                params = params_of(value, node, bound=False) if changed and callable(value) else None
                if params is not None:
                    op = Op(node.name, node.name + "({*})", params, node, statement=True)
                    given = tuple(self._replaced(name) for name in changed)
                    found += [Case(node.name, given, call, "example") for call in self._calls(op)]
        return found

    def _changed_by(self, node: ast.FunctionDef) -> list[str]:
        """Return the names of the module's containers that a function changes, in their order."""
        own = {arg.arg for arg in ast.walk(node) if isinstance(arg, ast.arg)}
        names: dict[str, None] = {}
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                changed: Any = part.func.value if part.func.attr in _CHANGERS else None
            elif isinstance(part, ast.Subscript) and isinstance(part.ctx, (ast.Store, ast.Del)):
                changed = part.value
            else:
                continue
            if isinstance(changed, ast.Name) and changed.id not in own and changed.id in self.names.defined:
                names[changed.id] = None
        space = vars(self.module)
        return [name for name in space if name in names and type(space[name]) in _EMPTY]

    def _replaced(self, name: str) -> Step:
        """Return the step that puts a small container in the place of one: of a list, its last two items if they are short."""
        value = vars(self.module)[name]
        small = _EMPTY[type(value)]
        if isinstance(value, list):
            told = repr(value[-2:])
            with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                if len(told) <= _SHORT and ast.literal_eval(told) == value[-2:]:
                    small = told
        return Step(f'monkeypatch.setattr({self.names.home}, "{name}", {small})', statement=True)

    def _calls(self, op: Op) -> list[Step]:
        """Return the calls of a function that the module makes while it is imported, with plain positional arguments."""
        found: list[Step] = []
        for node in self.tree.body:
            call = node.value if isinstance(node, ast.Expr) else None
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id == op.subject
                and not call.keywords
                and len(call.args) <= len(op.params)
                and not any(isinstance(arg, ast.Starred) for arg in call.args)
            ):
                args = tuple(Arg(param, ast.unparse(arg)) for param, arg in zip(op.params, call.args))  # noqa: B905
                found.append(Step(op.form, args, op, statement=True))
        return found[:_MOST_CALLS]
