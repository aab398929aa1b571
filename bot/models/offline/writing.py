"""Scenarios written down as a pytest file that reads as if a colleague had written it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from bot.models.offline import layout, naming
from bot.models.offline.assertions import Dialect, PytestDialect, UnittestDialect
from bot.models.offline.caseids import case_ids
from bot.models.offline.imports import Imports
from bot.models.offline.outline import Outline
from bot.models.offline.probe.contexts import INSIDE, looks_inside
from bot.models.offline.scenario import Scenario
from bot.models.offline.setups import Setups
from bot.models.offline.spelling import qualified, spelled
from bot.models.offline.style import Style
from bot.models.offline.tables import Table, affordable, gather

_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Placed:
    """A test of the file: its name, with the class that holds it if any, and what it was written from."""

    name: str
    table: Table

    def scenarios(self, case: str) -> tuple[Scenario, ...]:
        """Return what the case of this id was written from; everything, for no or an unknown case."""
        if not case or not self.table.columns:
            return self.table.scenarios
        ids = case_ids(self.table.columns, self.table.rows)
        found = tuple(s for s, i in zip(self.table.scenarios, ids, strict=True) if i == case)
        return found or self.table.scenarios


@dataclass(frozen=True, slots=True)
class Written:
    """A test file and where each scenario went in it."""

    content: str
    tests: tuple[Placed, ...] = ()

    def scenarios_of(self, node_id: str) -> tuple[Scenario, ...]:
        """Return the scenarios behind a pytest node id (`tests/test_a.py::test_b[1-2]`)."""
        name, _, case = node_id.partition("::")[2].partition("[")
        placed = next((test for test in self.tests if test.name == name), None)
        return placed.scenarios(case.removesuffix("]")) if placed else ()


@dataclass(frozen=True, slots=True)
class Rest:
    """Tests by another hand that stay: their imports, and their definitions as text."""

    imports: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()


@lru_cache(maxsize=64)
def write(
    scenarios: tuple[Scenario, ...],
    module: str,
    outline: Outline,
    style: Style,
    rest: Rest | None = None,
    *,
    limit: int = 100,
) -> Written:
    """Write a test file. The latest files are remembered, since each reply goes through the history again.

    Args:
        scenarios: What was observed; those of one shape become a table.
        module: The dotted path that the tests import.
        outline: The module under test.
        style: The repository's.
        rest: Tests of the suite as it stood that stay as they are.
        limit: The most tests there may be; those that reach and tell the least are left out.
    """
    rest = rest or Rest()
    if style.grouping == "unittest":
        scenarios = tuple(scenario for scenario in scenarios if not _patches(scenario.given))
    writer = _Writer(module, outline, style)
    gathered = affordable(gather(scenarios, outline, style.quote), limit)
    tables = [_complete(table, outline) for table in gathered]
    setups = Setups.of(tables, style.grouping)
    placed, bodies = writer.tests(tables, setups, set(rest.names))
    code = writer.assembled(placed, bodies)
    head = [*setups.helpers(style.quote), *writer.fixtures(setups)]
    blocks = [*head, *rest.blocks, *code]
    body = "\n\n\n".join(blocks)
    imports = writer.imports(tables, rest).used_by(body).lines()
    text = "\n".join(imports) + "\n\n\n" + body if imports else body
    return Written(text.rstrip("\n") + "\n", tuple(placed))


def _complete(table: Table, outline: Outline) -> Table:
    """Add the exception that a test names to what it imports, if the module under test has it."""
    root = table.then.type.partition(".")[0] if table.then and table.then.kind == "raises" else ""
    if not root or root not in outline.names or root in _BUILTINS:
        return table
    scenarios = tuple(
        s
        if root in s.names or any(root in line for line in s.imports)
        else replace(s, names=(*s.names, root))
        for s in table.scenarios
    )
    return replace(table, scenarios=scenarios)


@dataclass
class _Writer:
    module: str
    outline: Outline
    style: Style

    @property
    def dialect(self) -> Dialect:
        if self.style.grouping == "unittest":
            return UnittestDialect(self.style.quote)
        return PytestDialect(self.style.quote)

    def tests(
        self, tables: Sequence[Table], setups: Setups, taken: set[str]
    ) -> tuple[list[Placed], dict[str, list[str]]]:
        """Name and render the tests; one that cannot be told apart from the others by words is left out."""
        placed: list[Placed] = []
        bodies: dict[str, list[str]] = {}
        for table in tables:
            holder = self._class_of(table)
            inside = self._owner(table) if holder else ""
            name = naming.name_for(table, self.outline, taken, in_class=inside)
            if name is None:
                continue
            whole = f"{holder}::{name}" if holder else name
            placed.append(Placed(whole, table))
            bodies[whole] = self._test(name, table, setups, 4 if holder else 0)
        return placed, bodies

    def _owner(self, table: Table) -> str:
        entry = self.outline.find(table.subject)
        if entry is not None and entry.is_class:
            return table.subject
        return table.subject.rpartition(".")[0]

    def _class_of(self, table: Table) -> str:
        if self.style.grouping == "functions":
            return ""
        about = self._owner(table) or table.subject
        camel = "".join(part[:1].upper() + part[1:] for part in about.replace(".", "_").split("_"))
        return self.style.holder.format(camel) if self.style.grouping == "unittest" else f"Test{camel}"

    def assembled(self, placed: Sequence[Placed], bodies: dict[str, list[str]]) -> list[str]:
        """Return the file's top-level blocks: functions, or classes that hold them."""
        if self.style.grouping == "functions":
            return ["\n".join(bodies[test.name]) for test in placed]
        holders: dict[str, list[list[str]]] = {}
        for test in placed:
            holders.setdefault(test.name.partition("::")[0], []).append(bodies[test.name])
        base = "(unittest.TestCase)" if self.style.grouping == "unittest" else ""
        return [
            f"class {name}{base}:\n" + "\n\n".join("\n".join(lines) for lines in members)
            for name, members in holders.items()
        ]

    def fixtures(self, setups: Setups) -> list[str]:
        """Return the fixtures for setups that several tests share."""
        found: list[str] = []
        for name, lines in setups.fixtures.items():
            given = [
                line
                for text in lines
                for line in layout.statement(self._spelled(text, setups.names[lines]), 4, self.style.quote)
            ]
            found.append("\n".join(["@pytest.fixture", f"def {name}():", *given, f"    return {name}"]))
        return found

    def imports(self, tables: Sequence[Table], rest: Rest) -> Imports:
        """Return every import the file may need."""
        imports = Imports(self.module.partition(".")[0])
        for line in (*rest.imports, "import pytest", "import re", "import math", "import unittest"):
            imports.add(line)
        if self.style.alias:
            imports.add(self.style.import_line)
        for scenario in (scenario for table in tables for scenario in table.scenarios):
            for line in scenario.imports:
                imports.add(line)
            imports.add_members(self.module, [n for n in scenario.names if not self.style.spells(n)])
        return imports

    def _spelled(self, text: str, names: Iterable[str]) -> str:
        """Return a text with the module's names spelled as the file imports them."""
        told = frozenset(name for name in names if self.style.spells(name))
        return qualified(text, told, self.style.alias) if told else text

    def _test(self, name: str, table: Table, setups: Setups, indent: int) -> list[str]:
        names = {name for scenario in table.scenarios for name in scenario.names}
        fixture, given = setups.remaining(table)
        table = spelled(replace(table, given=given), lambda text: self._spelled(text, names))
        if self.style.grouping == "unittest":
            return self._unittest(name, table, indent)
        fixtures = [*([fixture] if fixture else []), *(["monkeypatch"] if _patches(given) else [])]
        arguments = [*(["self"] if indent else []), *fixtures, *table.columns]
        lines = parametrize(table, indent, self.style.quote)
        lines += _signature(name, arguments, indent)
        return [*lines, *self._body(table, indent + 4)]

    def _unittest(self, name: str, table: Table, indent: int) -> list[str]:
        margin = " " * indent
        head = _signature(name, ["self"], indent)
        if not table.columns:
            return [*head, *self._body(table, indent + 4)]
        rows = ast.parse(f"[{', '.join(_row(row) for row in table.rows)}]", mode="eval").body
        cases = layout.laid_out(rows, indent + 4, self.style.quote, lead="cases = ")
        shown = ", ".join(f"{column}={column}" for column in table.columns[: table.inputs])
        subtest = ast.parse(f"self.subTest({shown})", mode="eval").body
        loop = [
            f"{margin}    for {', '.join(table.columns)} in cases:",
            *layout.laid_out(subtest, indent + 8, self.style.quote, lead="with ", trail=":"),
        ]
        return [*head, *cases, *loop, *self._body(table, indent + 12)]

    def _body(self, table: Table, indent: int) -> list[str]:
        quote = self.style.quote
        lines = [line for text in table.given for line in layout.statement(text, indent, quote)]
        act, checks = self._act(table, indent), table.checks
        if checks and checks[0].expression == INSIDE and looks_inside(table.when):
            act, checks = self._inside(table, indent), checks[1:]
        after = [
            line for check in checks for line in self.dialect.check(check.expression, check.then, indent)
        ]
        apart = len(lines) > 2 or (len(lines) > 1 and len(act) + len(after) > 3)
        if apart and lines[-1]:
            lines.append("")
        return [*lines, *act, *after]

    def _inside(self, table: Table, indent: int) -> list[str]:
        """Return a `with` statement that holds what it looks at to what that gave, instead of binding it."""
        *head, look = layout.statement(table.when, indent, self.style.quote)
        expression = look.partition(f"{INSIDE} = ")[2]
        return [*head, *self.dialect.check(expression, table.checks[0].then, indent + 4)]

    def _act(self, table: Table, indent: int) -> list[str]:
        then = table.then
        if then is not None and then.kind == "raises":
            inner = layout.statement(_entering(table.when), indent + 4, self.style.quote)
            return self.dialect.raising(inner, then, indent)
        silent = then is None or table.is_statement or (table.checks and then.text == "None")
        if then is None or silent:
            return layout.statement(table.when, indent, self.style.quote)
        if then.warning:
            return self.dialect.warning(self.dialect.check(table.when, then, indent + 4), then, indent)
        return self.dialect.check(table.when, then, indent)


def _entering(when: str) -> str:
    """Return a `with` statement that is not expected to get inside without what it would look at there."""
    return f"{when.partition(' as entered:')[0]}:\n    pass" if f"{INSIDE} = entered" in when else when


def _patches(given: Iterable[str]) -> bool:
    """Whether statements need pytest's `monkeypatch`."""
    return any(line.startswith("monkeypatch.") for line in given)


def _signature(name: str, arguments: Sequence[str], indent: int) -> list[str]:
    margin = " " * indent
    line = f"{margin}def {name}({', '.join(arguments)}):"
    if len(line) <= layout.WIDTH:
        return [line]
    inner = f"{margin}    {', '.join(arguments)}"
    if len(inner) <= layout.WIDTH and len(arguments) > 1:
        return [f"{margin}def {name}(", inner, f"{margin}):"]
    return [f"{margin}def {name}(", *(f"{margin}    {argument}," for argument in arguments), f"{margin}):"]


def parametrize(table: Table, indent: int, quote: str) -> list[str]:
    """Return the decorator's lines of a table; none for a plain test."""
    if not table.columns:
        return []
    margin = " " * indent
    if len(table.columns) == 1:
        names = layout.quoted(table.columns[0], quote)
        flat = f"{margin}@pytest.mark.parametrize({names}, [{', '.join(row[0] for row in table.rows)}])"
        if layout.width(flat) <= layout.WIDTH:
            return [flat]
    else:
        names = f"({', '.join(layout.quoted(column, quote) for column in table.columns)})"
    lines = [f"{margin}@pytest.mark.parametrize(", f"{margin}    {names},", f"{margin}    ["]
    for row in table.rows:
        node = ast.parse(_row(row), mode="eval").body
        lines += layout.laid_out(node, indent + 8, quote, trail=",")
    return [*lines, f"{margin}    ],", f"{margin})"]


def _row(cells: Sequence[str]) -> str:
    return cells[0] if len(cells) == 1 else f"({', '.join(cells)})"
