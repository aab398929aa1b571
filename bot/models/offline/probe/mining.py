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
from typing import Any

MOST_FILES = 80
MOST_PROGRAMS = 1500
MOST_TEXTS = 60
LONGEST_PROGRAM = 1200
_LONGEST_FILE = 400_000
_LONGEST_TEXT = 3000
_MOST_ROWS = 12
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
_Rows = Sequence[dict[str, ast.expr]]


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
        constants = [node for node in tree.body if isinstance(node, ast.Assign) and _short(node)]
        fixtures = {
            node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and _is_fixture(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                for row in list(parametrised(node))[:_MOST_ROWS] or [{}]:
                    given = [s for a in node.args.args if a.arg in fixtures for s in _made(fixtures[a.arg])]
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
                for more in _unrolled(statement):
                    self._body(statement.body, list(before), {**row, **more}, imports)
            elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Assert, ast.Delete)):
                filled = substituted(statement, row)
                for expression in _looked_at(filled):
                    self._take(expression, before, imports)
                if not isinstance(filled, ast.Assert):
                    before.append(filled)

    def _take(self, expression: ast.expr, before: Sequence[ast.stmt], imports: dict[str, str]) -> None:
        """Keep an expression with what it needs, if all its names are known."""
        steps = needed(before, expression)
        bound = {name for step in steps for name in _bound(step)}
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
        steps, expression = _inlined(steps, expression)
        given = tuple(_as_pair(step) for step in steps)
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


def plain(tree: ast.Module) -> ast.Module:
    """Return the tree with its strings told without the old `u` before them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None
    return tree


def _is_fixture(node: ast.FunctionDef) -> bool:
    """Whether a function is a fixture that depends on nothing and is one way only."""
    plain = [
        d
        for d in node.decorator_list
        if ast.unparse(d).startswith("pytest.fixture") and "params" not in ast.unparse(d)
    ]
    return bool(plain) and not node.args.args


def _made(fixture: ast.FunctionDef) -> list[ast.stmt]:
    """Return what a fixture does, with its result bound to its name."""
    last = fixture.body[-1]
    value = last.value if isinstance(last, (ast.Return, ast.Expr)) else None
    if isinstance(value, ast.Yield):
        value = value.value
    if value is None:
        return []
    bound = ast.Assign([ast.Name(fixture.name, ast.Store())], value, lineno=last.lineno, col_offset=0)
    return [*fixture.body[:-1], bound]


def _looked_at(statement: ast.stmt) -> list[ast.expr]:
    """Return the expressions whose value a statement of a test is about."""
    if isinstance(statement, ast.Assert):
        test = statement.test
        if isinstance(test, ast.UnaryOp):
            test = test.operand
        sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        name = ast.unparse(call.func).rpartition(".")[2]
        sides = list(call.args[:2]) if name.lower().startswith(("assert", "print")) else [call]
    elif isinstance(statement, ast.Assign):
        sides = [statement.value]
    else:
        return []
    return [
        side
        for side in sides
        if not isinstance(side, ast.Lambda)
        and any(isinstance(n, (ast.Call, ast.Attribute)) for n in ast.walk(side))
    ]


def _unrolled(loop: ast.For) -> _Rows:
    """Return what a loop over a written-out table binds in each round."""
    names = [loop.target] if isinstance(loop.target, ast.Name) else getattr(loop.target, "elts", [])
    if not isinstance(loop.iter, (ast.List, ast.Tuple)) or not all(isinstance(n, ast.Name) for n in names):
        return [{}]
    rows = []
    for item in loop.iter.elts[:_MOST_ROWS]:
        cells = [item] if isinstance(loop.target, ast.Name) else list(getattr(item, "elts", []))
        if len(cells) == len(names):
            rows.append({name.id: cell for name, cell in zip(names, cells)})  # noqa: B905 - Python 3.9 has no strict
    return rows


def _inlined(steps: list[ast.stmt], expression: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    """Put short constants that are bound to a name and used once where they are used."""
    uses: dict[str, int] = {}
    for node in [*steps, expression]:
        for n in ast.walk(node):
            if isinstance(n, ast.Name):
                uses[n.id] = uses.get(n.id, 0) + 1
    values: dict[str, ast.expr] = {}
    left: list[ast.stmt] = []
    functions = {step.targets[0].id: step.value for step in steps if _is_lambda(step)}  # type: ignore[attr-defined]
    steps = [_applied(step, functions) for step in steps if not _is_lambda(step)]
    expression = _applied(ast.Expr(expression), functions).value
    for step in steps:
        names = _bound(step)
        if isinstance(step, ast.Assign) and len(names) == 1 and uses[names[0]] == 2 and _short(step):
            values[names[0]] = step.value
        else:
            left.append(substituted(step, values))
    return left, substituted(ast.Expr(expression), values).value


def _is_lambda(step: ast.stmt) -> bool:
    """Whether a statement gives a name to a function of plain arguments."""
    if not isinstance(step, ast.Assign) or not isinstance(step.value, ast.Lambda):
        return False
    args = step.value.args
    plain_args = not (args.defaults or args.kwonlyargs or args.vararg or args.kwarg)
    return plain_args and len(step.targets) == 1 and isinstance(step.targets[0], ast.Name)


def _applied(statement: Any, functions: dict[str, Any]) -> Any:
    """Return a statement with the calls of these lambdas replaced by what they do."""
    if not functions:
        return statement

    class Apply(ast.NodeTransformer):
        def visit_Call(self, call: ast.Call) -> Any:
            self.generic_visit(call)
            made = functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
            names = [a.arg for a in made.args.args] if made is not None else []
            if made is None or call.keywords or len(names) != len(call.args):
                return call
            return substituted(ast.Expr(made.body), dict(zip(names, call.args))).value  # noqa: B905

    copy = ast.parse(ast.unparse(statement)).body[0]
    return ast.fix_missing_locations(Apply().visit(copy))


def _short(step: ast.Assign) -> bool:
    try:
        ast.literal_eval(step.value)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return False
    return len(ast.unparse(step.value)) <= 200


def _bound(statement: ast.stmt) -> list[str]:
    names = [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    defined = isinstance(statement, (ast.FunctionDef, ast.ClassDef))
    return [*names, statement.name] if defined else names  # type: ignore[attr-defined]


def _as_pair(statement: ast.stmt) -> tuple[str, str]:
    """Return a statement as the one name that it binds and the expression, or as a text without a name."""
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    ):
        return statement.targets[0].id, ast.unparse(statement.value)
    return "", ast.unparse(statement)


def needed(before: Sequence[ast.stmt], value: ast.AST) -> list[ast.stmt]:
    """Return the statements before that a value depends on, in order."""
    local = {name for statement in before for name in _bound(statement)}
    wanted = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} & local
    kept: list[ast.stmt] = []
    for statement in reversed(before):
        binds = set(_bound(statement))
        names = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
        reads = {
            n.id for n in names if isinstance(n.ctx, ast.Load) or isinstance(statement, ast.AugAssign)
        } & local
        effect = not binds and bool(reads & wanted) and not _is_idle(statement)
        if binds & wanted or effect:
            kept.append(statement)
            if isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
                wanted -= binds  # what was bound to these names before does not matter
            wanted |= reads
    return kept[::-1]


def _is_idle(statement: ast.stmt) -> bool:
    """Whether a statement only names, prints or calculates something."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    call = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    return call == "print" or isinstance(value, (ast.Name, ast.Constant, ast.Compare, ast.Subscript))


def parametrised(node: Any) -> Iterator[dict[str, ast.expr]]:
    """Yield what each row of a test's `parametrize` tables binds, one table after another."""
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call) or not ast.unparse(decorator.func).endswith("parametrize"):
            continue
        if len(decorator.args) < 2 or not isinstance(decorator.args[1], (ast.List, ast.Tuple)):
            continue
        first = decorator.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            names = [name.strip() for name in first.value.split(",")]
        elif isinstance(first, (ast.List, ast.Tuple)):
            names = [str(e.value) for e in first.elts if isinstance(e, ast.Constant)]
        else:
            continue
        for row in decorator.args[1].elts:
            if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
                cells = list(row.args)
            elif len(names) == 1:
                cells = [row]
            elif isinstance(row, (ast.Tuple, ast.List)):
                cells = list(row.elts)
            else:
                continue
            if len(cells) == len(names):
                yield dict(zip(names, cells))  # noqa: B905 - Python 3.9 has no strict


def substituted(node: Any, row: dict[str, ast.expr]) -> Any:
    """Return a copy of a statement or expression with the names of a row replaced by what they stand for."""
    if not row:
        return node

    class Fill(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> Any:
            return row.get(name.id, name) if isinstance(name.ctx, ast.Load) else name

    copy = ast.parse(ast.unparse(node)).body[0]
    filled = ast.fix_missing_locations(Fill().visit(copy))
    return filled if isinstance(node, ast.stmt) else filled.value
