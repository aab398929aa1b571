"""What of a module was changed: its lines, the functions that hold them, and those that lead there."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from .programs import Op

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKERS = ("__init__", "__new__", "__post_init__")


class Focus:
    """Where a search spends itself.

    Attributes:
        whole: Whether the whole module counts.
        lines: The changed lines; faults are made on these only.
        inside: Those lines, and all of the functions that hold them or read what changed outside of functions.
        holding: The qualified names of these functions.
        leading: Simple names of functions, and of classes by their constructors, that may call them.
        assigned: Public attributes that changed lines assign (`self.name = ...`).
    """

    def __init__(self, tree: ast.Module, lines: Sequence[int] | None) -> None:
        self.lines = frozenset(lines or ())
        functions = list(_functions(tree, ""))
        names = self._names_changed(tree)
        held = [
            (name, node)
            for name, node in functions
            if self.lines & set(_lines_of(node)) or (names and names & _read(node))
        ]
        self.whole = lines is None or not held
        self.holding = frozenset(name for name, _ in held)
        spans = (range(node.lineno, (node.end_lineno or node.lineno) + 1) for _, node in held)
        self.inside = self.lines.union(*spans)
        self.bodies = frozenset(
            line
            for _, node in held
            for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
        )
        self.leading = _closure({_called_as(name) for name in self.holding}, functions)
        self.assigned = frozenset(_assigned(tree, self.lines))

    def _names_changed(self, tree: ast.Module) -> frozenset[str]:
        """Return the names that changed statements outside of functions bind."""
        found: set[str] = set()
        for node in _outside(tree.body):
            span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and self.lines & set(span):
                found.update(
                    n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                )
        return frozenset(found)

    def reached(self, lines: Collection[int]) -> bool:
        """Whether these lines show anything of what was changed."""
        return self.whole or not self.bodies.isdisjoint(lines)

    def holds(self, op: Op) -> bool:
        """Whether an operation's own code was changed."""
        return self.whole or op.first in self.inside

    def leads(self, op: Op) -> bool:
        """Whether an operation may call what was changed, going by names."""
        return self.holds(op) or op.subject.rpartition(".")[2] in self.leading


def _functions(node: Any, prefix: str) -> Iterable[tuple[str, Any]]:
    """Yield functions and methods, with the names of the classes around them; what is inside a function is part of it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.stmt):
            yield from _functions(child, prefix)


def _outside(body: Sequence[ast.stmt]) -> Iterable[ast.stmt]:
    """Yield the statements of a module and of its classes, without those of functions."""
    for node in body:
        if isinstance(node, _FUNCTIONS):
            continue
        yield node
        for name in ("body", "orelse", "finalbody"):
            yield from _outside(getattr(node, name, []))


def _lines_of(node: Any) -> range:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return range(first, (node.end_lineno or node.lineno) + 1)


def _called_as(name: str) -> str:
    """Return the name by which others call a function: for a constructor, its class's."""
    owner, _, last = name.rpartition(".")
    return owner.rpartition(".")[2] if last in _MAKERS else last


def _read(node: Any) -> frozenset[str]:
    """Return the names and attributes that a function reads."""
    return frozenset(
        n.id if isinstance(n, ast.Name) else n.attr
        for n in ast.walk(node)
        if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load)
    )


def _closure(names: set[str], functions: Sequence[tuple[str, Any]]) -> frozenset[str]:
    """Return these names with those of all functions that read one of them, directly or by another."""
    reads = [(_called_as(name), _read(node)) for name, node in functions]
    found = set(names)
    while True:
        more = {name for name, read in reads if name not in found and found & read}
        if not more:
            return frozenset(found)
        found |= more


def _assigned(tree: ast.Module, lines: frozenset[int]) -> Iterable[str]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and node.lineno in lines
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
            and not node.attr.startswith("_")
        ):
            yield node.attr
