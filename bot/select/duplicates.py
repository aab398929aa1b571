"""Tests that say the same as another: the same body with the same inputs, whatever they are called."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from itertools import product

from bot.select.imports import bindings
from bot.select.nodes import Spot
from bot.select.statements import DEFINITIONS, FUNCTIONS, is_text
from bot.select.tables import Outline, outline

_LARGEST = 2_000
"""So many cases of one existing test are looked at; more are no table that a person wrote."""


def duplicates(source: str, tests: Sequence[Spot], existing: Mapping[str, str]) -> Mapping[Spot, str]:
    """Return the tests that repeat an earlier one, with the name of that one.

    Args:
        source: The file.
        tests: Its tests in file order.
        existing: Texts of existing test files by path; a test of theirs comes before all others.
    """
    seen: dict[str, str] = {}
    for path, text in existing.items():
        try:
            said = Sayings(text)
            written = [spot for function in said.shape.tests for spot in _spots(said.shape, function)]
        except (SyntaxError, ValueError):
            continue
        for spot in written:
            seen.setdefault(said.of(spot), f"{path}::{spot.function}")
    found: dict[Spot, str] = {}
    said = Sayings(source)
    for spot in tests:
        text = said.of(spot)
        if text in seen:
            found[spot] = seen[text]
        else:
            seen[text] = spot.function
    return found


def _spots(shape: Outline, function: str) -> list[Spot]:
    """Return the tests written as one function, as far as its tables can be counted."""
    sizes = [len(table.rows or ()) for table in shape.tables_of(function)]
    rows = list(product(*(range(size) for size in sizes)))
    return [Spot(function, row) for row in rows] if 0 < len(rows) <= _LARGEST else []


class Sayings:
    """What the tests of a file say, free of their names."""

    def __init__(self, source: str) -> None:
        self.shape = outline(source)
        self._tree = ast.parse(source)
        self._bound = _meanings(self._tree)
        self._classes = _classes(self._tree)
        self._bodies: dict[str, str] = {}

    def of(self, spot: Spot) -> str:
        """Return a text that is equal for tests with the same body and the same inputs."""
        function = self.shape.definition(spot.function) or spot.function
        if function not in self._bodies:
            self._bodies[function] = self._body(function)
        tables = self.shape.tables_of(spot.function)
        rows: list[str] = []
        if len(tables) == len(spot.rows):
            for table, row in zip(tables, spot.rows, strict=True):
                if table.rows is None:
                    rows.append(f"{table.argnames} {row}")
                else:
                    rows.append(f"{table.argnames} {_plain(table.rows[row])}")
        else:
            rows.append(repr(spot))
        return "\n".join([self._bodies[function], *sorted(rows), repr(spot.rest)])

    def _body(self, function: str) -> str:
        owner, _, name = function.rpartition("::")
        scope = self._classes.get(owner, self._tree)
        node = next(
            (n for n in ast.iter_child_nodes(scope) if getattr(n, "name", None) == name), ast.Module([], [])
        )
        if not isinstance(node, FUNCTIONS):
            return function  # defined under an `if`: equal to nothing
        body = node.body[1:] if len(node.body) > 1 and is_text(node.body[0]) else node.body
        parts = [ast.dump(node.args), *(ast.dump(statement) for statement in body)]
        parts += [ast.dump(d) for d in node.decorator_list if "parametrize" not in ast.dump(d)]
        used = {part.id for statement in body for part in ast.walk(statement) if isinstance(part, ast.Name)}
        used |= {argument.arg for argument in node.args.args}
        parts += [f"{name} is {self._bound[name]}" for name in sorted(used & self._bound.keys())]
        if isinstance(scope, ast.ClassDef):
            others = [
                n for n in scope.body if not getattr(n, "name", "").startswith("test") and not is_text(n)
            ]
            parts += [ast.dump(base) for base in scope.bases] + [ast.dump(other) for other in others]
        return "\n".join(parts)


def _meanings(tree: ast.Module) -> dict[str, str]:
    """Return what each name of a module's top level stands for, so that equal names in two files can be compared."""
    found: dict[str, str] = {}
    for node in tree.body:
        for item in bindings(node):
            found[item.name] = f"{item.module} {item.attribute}"
        if isinstance(node, DEFINITIONS):
            found[node.name] = ast.dump(node)
        elif isinstance(node, ast.Assign):
            found.update((t.id, ast.dump(node.value)) for t in node.targets if isinstance(t, ast.Name))
    return found


def _classes(tree: ast.AST, prefix: str = "") -> dict[str, ast.ClassDef]:
    found: dict[str, ast.ClassDef] = {}
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            found[prefix + node.name] = node
            found.update(_classes(node, f"{prefix}{node.name}::"))
    return found


def _plain(row: str) -> str:
    """Return a case's text without layout and without an id of its own."""
    try:
        node = ast.parse(row.strip(), mode="eval").body
    except SyntaxError:
        return row
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("param"):
        node.keywords = [keyword for keyword in node.keywords if keyword.arg != "id"]
        if not node.keywords:
            return ast.dump(node.args[0] if len(node.args) == 1 else ast.Tuple(node.args, ast.Load()))
    return ast.dump(node)
