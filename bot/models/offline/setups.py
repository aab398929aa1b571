"""Setups that several tests share: fixtures for objects made the same way, helper functions at the top of the file."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.models.offline import layout
from bot.models.offline.tables import Table

_SHARED_BY = 3
_FEWEST_LINES = 2


@dataclass
class Setups:
    """What is lifted out of the tests.

    Attributes:
        fixtures: The given statements that a fixture holds, by its name (the variable they make).
        names: Names of the module under test that each fixture's statements read, by those statements.
        functions: Helper functions by name.
    """

    fixtures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    names: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, tables: Sequence[Table], grouping: str) -> Setups:
        """Find what the tests share; `unittest` classes get helper functions only."""
        setups = cls()
        for table in tables:
            for line in table.given:
                name = _function_name(line)
                if name:
                    setups.functions.setdefault(name, line)
        if grouping != "unittest":
            setups._find_fixtures(tables)
        return setups

    def _find_fixtures(self, tables: Sequence[Table]) -> None:
        sharing: dict[tuple[str, ...], list[Table]] = {}
        for table in tables:
            given = self._own_lines(table)
            for length in range(_FEWEST_LINES, len(given) + 1):
                if _makes_one_object(given[:length], table):
                    sharing.setdefault(given[:length], []).append(table)
        ranked = sorted(sharing.items(), key=lambda item: (-len(item[1]) * len(item[0]), item[0]))
        for lines, users in ranked:
            name = _bound(lines[0])
            if len(users) >= _SHARED_BY and name not in self.fixtures:
                self.fixtures[name] = lines
                self.names[lines] = frozenset(n for t in users for s in t.scenarios for n in s.names)

    def _own_lines(self, table: Table) -> tuple[str, ...]:
        return tuple(line for line in table.given if self.functions.get(_function_name(line)) != line)

    def remaining(self, table: Table) -> tuple[str, tuple[str, ...]]:
        """Return the fixture a test asks for, empty if none fits, and the statements left in its body."""
        given = self._own_lines(table)
        for name, lines in self.fixtures.items():
            if given[: len(lines)] == lines:
                return name, given[len(lines) :]
        return "", given

    def helpers(self, quote: str) -> list[str]:
        """Return the helper functions' texts, by name."""
        return [
            "\n".join(layout.statement(self.functions[name], 0, quote)) for name in sorted(self.functions)
        ]


def _function_name(line: str) -> str:
    """Return the name of the function that a statement defines; empty for others."""
    if not line.startswith(("def ", "async def ", "class ")):
        return ""
    node = ast.parse(line).body[0]
    return getattr(node, "name", "")


def _bound(line: str) -> str:
    name, equals, _ = line.partition(" = ")
    return name if equals and name.isidentifier() else ""


def _makes_one_object(lines: Sequence[str], table: Table) -> bool:
    """Whether the statements bind one variable, in the first of them, and use no column of the table."""
    first = _bound(lines[0])
    if not first or first in table.columns:
        return False
    nodes = [node for line in lines for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Name)]
    stored = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    return stored == {first} and not any(node.id in table.columns for node in nodes)
