"""Which lines of functions read what a module or a class defines once: whoever executes these may show a fault in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any


class Constants:
    """The constants of a module and of its classes: names that plain statements bind while it is imported."""

    def __init__(self, tree: ast.Module) -> None:
        self._bound: list[tuple[int, int, set[str], set[str]]] = []
        self._read: dict[str, set[int]] = {}
        self._readers: dict[int, frozenset[int]] = {}
        self._outside(tree.body)

    def readers(self, line: int) -> frozenset[int]:
        """Return the lines, within functions, of statements that read what the statement on a line binds.

        Constants made from it are followed.
        """
        if line not in self._readers:
            self._readers[line] = self._found(line)
        return self._readers[line]

    def _found(self, line: int) -> frozenset[int]:
        names: set[str] = set()
        for first, last, bound, _ in self._bound:
            if first <= line <= last:
                names |= bound
        before = -1
        while len(names) > before:
            before = len(names)
            for _, _, bound, used in self._bound:
                if used & names:
                    names |= bound
        return frozenset().union(*(self._read.get(name, set()) for name in names))

    def _outside(self, body: list[Any]) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                self._outside(node.body)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._inside(node.body)
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                for part in (node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])):
                    self._outside(part)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                bound = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
                used = set(_names(node.value)) if node.value is not None else set()
                self._bound.append((node.lineno, node.end_lineno or node.lineno, bound, used))

    def _inside(self, body: list[Any]) -> None:
        for node in body:
            for _, value in ast.iter_fields(node):
                parts = value if isinstance(value, list) else [value]
                statements = [part for part in parts if isinstance(part, ast.stmt)]
                self._inside(statements)
                for part in parts:
                    if isinstance(part, ast.ExceptHandler):
                        self._inside(part.body)
                    elif isinstance(part, ast.AST) and not isinstance(part, ast.stmt):
                        for name in _names(part):
                            self._read.setdefault(name, set()).add(node.lineno)


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names and attributes that an expression reads, in lambdas and comprehensions too."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
