"""Default arguments: a mutant of one is put in place without importing its module anew."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Optional, Union

from .sameness import FunctionNode
from .units import Module, Unit


@dataclass(frozen=True)
class Default:
    """A default argument's new value.

    Attributes:
        place: Its place among the positional defaults, or the name of a keyword-only argument.
    """

    place: Union[int, str]
    value: object

    def put(self, attribute: Any) -> Any:
        """Return a function's `__defaults__` or `__kwdefaults__` with this value in it."""
        if isinstance(self.place, str):
            return {**(attribute or {}), self.place: self.value}
        return (*attribute[: self.place], self.value, *attribute[self.place + 1 :])

    @property
    def attribute(self) -> str:
        """The name of the function's attribute that holds it."""
        return "__kwdefaults__" if isinstance(self.place, str) else "__defaults__"


def changed_default(module: Module, unit: Unit, splice: tuple[int, int, str]) -> Optional[Default]:
    """Return the default argument that a mutant changes, if it does no more than that.

    Only plain constants of functions that nothing has looked at when they were defined: without decorators, and in no
    class whose making might.

    Raises:
        SyntaxError: The mutant does not compile (ValueError, RecursionError, MemoryError likewise).
    """
    if not unit.function or any(header.endswith("(_):") for _, header in unit.outer):
        return None
    old, new = (function_of(ast.parse(module.text(unit, each)), unit) for each in (None, splice))
    if old is None or new is None or old.decorator_list:
        return None
    before, after = _defaults(old), _defaults(new)
    if list(before) != list(after):
        return None
    changed = [place for place in before if ast.dump(before[place]) != ast.dump(after[place])]
    if len(changed) != 1 or not _is_constant(before[changed[0]]) or not _is_constant(after[changed[0]]):
        return None
    return Default(changed[0], ast.literal_eval(after[changed[0]]))


def function_of(tree: ast.Module, unit: Unit) -> Optional[Union[ast.FunctionDef, ast.AsyncFunctionDef]]:
    """Return the function of a unit that was parsed alone; None if the unit is none."""
    body = tree.body
    for _ in unit.outer:
        body = body[0].body  # type: ignore[attr-defined]
    node = body[0]
    return node if isinstance(node, FunctionNode) else None


def _defaults(node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> dict[Union[int, str], ast.expr]:
    found: dict[Union[int, str], ast.expr] = dict(enumerate(node.args.defaults))
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults):  # noqa: B905 - Python 3.9
        if default is not None:
            found[argument.arg] = default
    return found


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
    return isinstance(node, ast.Constant)
