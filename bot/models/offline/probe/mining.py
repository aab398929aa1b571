"""Programs that people wrote with the package: read from the repository's own tests and documentation.

A program is an expression that a test or an example looks at, with the statements before it that it needs.
"""

from __future__ import annotations

import ast
import doctest
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .statements import (
    MOST_ROWS,
    as_pair,
    bound_by,
    inlined,
    is_fixture,
    is_short,
    looked_at,
    made_by,
    needed,
    parametrised,
    plain,
    substituted,
    unrolled,
)

MOST_FILES = 80
MOST_PROGRAMS = 1500
MOST_TEXTS = 60
LONGEST_PROGRAM = 1200
_LONGEST_FILE = 400_000
_LONGEST_TEXT = 3000
_SKIPPED = frozenset(["node_modules", "site-packages", "build", "dist", "venv", "env", "__pycache__"])
_TEST_PLACES = frozenset(["test", "tests", "testing"])
_TEXT_ENDINGS = (
    ".sql",
    ".txt",
    ".toml",
    ".json",
    ".yaml",
    ".yml",
    ".ini",
    ".cfg",
    ".html",
    ".xml",
    ".csv",
    ".md",
    ".css",
)
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ()))


class Program:
    """Statements as (bound name, text) pairs, the expression looked at, and the import lines by the name they bind."""

    __slots__ = ("given", "imports", "when")

    def __init__(self, given: tuple[tuple[str, str], ...], when: ast.expr, imports: dict[str, str]) -> None:
        self.given = given
        self.when = when
        self.imports = imports


class Mine:
    """Reads a repository's tests and documents."""

    def __init__(self, root: Path, package: str, builtin: Iterable[str]) -> None:
        self.root = root
        self.package = package
        self.builtin = frozenset(builtin)
        self.programs: dict[tuple[str, ...], Program] = {}
        self.texts: dict[str, None] = {}

    def dig(self, target: str, without: str = "") -> None:
        """Read tests, those that name the target first, then documents, then small files of text beside the tests.

        Args:
            target: The last part of the module's name.
            without: A file that is left out.
        """
        tests, documents, data = self._files(without)
        read = [(path, text) for path, text in self._read(tests) if re.search(rf"\b{self.package}\b", text)]
        read.sort(key=lambda pair: (target not in Path(pair[0]).stem, target not in pair[1]))
        for _, text in read[:MOST_FILES]:
            self._python(text)
        for _, text in self._read(documents[:MOST_FILES]):
            self._document(text)
        self.texts.update(
            (text, None) for _, text in self._read(data[:MOST_TEXTS]) if len(text) <= _LONGEST_TEXT
        )

    def _files(self, without: str) -> tuple[list[str], list[str], list[str]]:
        """Return paths of tests, documents and data, each in order."""
        tests: list[str] = []
        documents: list[str] = []
        data: list[str] = []
        for place, directories, names in os.walk(self.root):
            directories[:] = sorted(d for d in directories if d not in _SKIPPED and not d.startswith("."))
            inside = Path(place).relative_to(self.root).parts
            testing = not _TEST_PLACES.isdisjoint(inside)
            for name in sorted(names):
                path = str(Path(place, name))
                if os.path.relpath(path, self.root) == without:
                    continue
                if name.endswith(".py"):
                    if testing or name.startswith("test_") or name.endswith("_test.py"):
                        tests.append(path)
                elif testing and name.endswith(_TEXT_ENDINGS):
                    data.append(path)
                elif name.endswith((".rst", ".md")) and (not inside or inside[0] in ("doc", "docs")):
                    documents.append(path)
        return tests, documents, data

    @staticmethod
    def _read(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        for path in paths:
            try:
                if Path(path).stat().st_size <= _LONGEST_FILE:
                    yield path, Path(path).read_text(encoding="utf-8")
            except (OSError, ValueError):
                continue

    # ------------------------------------------------------------ Python files

    def _python(self, text: str) -> None:
        try:
            tree = plain(ast.parse(text))
        except (SyntaxError, ValueError):
            return
        imports = self._imports(tree)
        constants = [node for node in tree.body if isinstance(node, ast.Assign) and is_short(node)]
        fixtures = {
            node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and is_fixture(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                for row in list(parametrised(node))[:MOST_ROWS] or [{}]:
                    given = [s for a in node.args.args if a.arg in fixtures for s in made_by(fixtures[a.arg])]
                    self._body(node.body, [*constants, *given], row, imports)

    def _imports(self, tree: ast.Module) -> dict[str, str]:
        """Return, by the name it binds, each import of the package or the standard library."""
        found: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    root = alias.name.partition(".")[0]
                    if self._known(root):
                        told = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
                        found.setdefault(alias.asname or root, told)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                if not self._known(node.module.partition(".")[0]) or node.module == "__future__":
                    continue
                for alias in node.names:
                    told = f"from {node.module} import {alias.name}"
                    told += f" as {alias.asname}" if alias.asname else ""
                    found.setdefault(alias.asname or alias.name, told)
        return found

    def _known(self, root: str) -> bool:
        return root == self.package or root in _STANDARD

    def _body(
        self,
        body: Sequence[ast.stmt],
        before: list[ast.stmt],
        row: dict[str, ast.expr],
        imports: dict[str, str],
    ) -> None:
        """Go through statements in order; `before` grows by those that a later expression may need."""
        for statement in body:
            if len(self.programs) >= MOST_PROGRAMS:
                return
            if isinstance(statement, ast.With):
                self._body(statement.body, before, row, imports)
            elif isinstance(statement, ast.For):
                for more in unrolled(statement):
                    self._body(statement.body, list(before), {**row, **more}, imports)
            elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Assert, ast.Delete)):
                filled = substituted(statement, row)
                for expression in looked_at(filled):
                    self._take(expression, before, imports)
                if not isinstance(filled, ast.Assert):
                    before.append(filled)

    def _take(self, expression: ast.expr, before: Sequence[ast.stmt], imports: dict[str, str]) -> None:
        """Keep an expression with what it needs, if all its names are known."""
        steps = needed(before, expression)
        bound = {name for step in steps for name in bound_by(step)}
        free = {
            n.id
            for node in [*steps, expression]
            for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        } - {
            a.arg
            for node in [*steps, expression]
            for n in ast.walk(node)
            if isinstance(n, ast.arguments)
            for a in n.args
        }
        wanted = {name for name in free - bound if name not in self.builtin}
        if not wanted <= imports.keys() or not any(self.package in imports[name] for name in wanted):
            return
        steps, expression = inlined(steps, expression)
        given = tuple(as_pair(step) for step in steps)
        told = ast.unparse(expression)
        if sum(len(text) for _, text in given) + len(told) > LONGEST_PROGRAM or len(given) > 6:
            return
        key = (*(f"{name} = {text}" for name, text in given), told)
        self.programs.setdefault(
            key, Program(given, expression, {name: imports[name] for name in sorted(wanted)})
        )

    # ------------------------------------------------------------ documents

    def _document(self, text: str) -> None:
        try:
            examples = doctest.DocTestParser().get_examples(text)
        except ValueError:
            return
        body: list[ast.stmt] = []
        for example in examples:
            try:
                body.extend(plain(ast.parse(example.source)).body)
            except SyntaxError:
                continue
        imports = self._imports(ast.Module(body, []))
        self._body(body, [], {}, {**imports, self.package: f"import {self.package}"})
