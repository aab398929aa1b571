"""Tests whose table has one row left, written as plain tests: the row's values stand where its names stood."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection

import libcst as cst

from bot.select.constancy import Names, bound, is_constant
from bot.select.statements import FUNCTIONS
from bot.select.substitution import Function, Value, find, needs_name, with_values
from bot.select.tables import Outline, Table, arguments, countable, elements, outline

_PYTEST_FIXTURES = frozenset(
    ("caplog", "capfd", "capsys", "monkeypatch", "recwarn", "tmp_path", "tmp_path_factory", "tmpdir")
)
_REFLECTIVE = frozenset(("locals", "vars", "eval", "exec", "dir", "globals", "inspect", "request"))
"""Names with which a test can see its own parameters."""


def inlined(source: str, functions: Collection[str]) -> tuple[str, frozenset[str]]:
    """Turn parametrised tests with one case into plain ones, where that cannot change what they do.

    Args:
        source: The file.
        functions: The tests that may be rewritten, as `TestA::test_b`.

    Returns:
        The file, and the tests that have no table any more.
    """
    done: set[str] = set()
    for function in sorted(functions):
        changed = _rewritten(source, function)
        if changed is not None:
            source = changed
            done.add(function)
    return source, frozenset(done)


def _rewritten(source: str, function: str) -> str | None:
    """Return the file with one test written plainly; None where its table has to stay."""
    shape = outline(source)
    tables = shape.tables_of(function)
    if function not in shape.functions or len(tables) != 1 or tables[0].owner != function:
        return None
    row = _row(shape, tables[0])
    try:
        tree = ast.parse(source)
        node = find(tree, function)
        if row is None or node is None:
            return None
        values = {
            name: Value(text, ast.parse(f"({text}\n)", mode="eval").body)
            for name, text in zip(tables[0].argnames, row, strict=True)
        }
        names = Names(tree)
        if not _separable(shape, tables[0], tree, node) or not all(
            is_constant(value.node, names, node) for value in values.values()
        ):
            return None
        assigned = {name for name, value in values.items() if needs_name(node, name, value)}
        for chosen in (assigned, set(values)):
            body = with_values(source, function, values, chosen)
            changed = None if body is None else _without_table(body, function, tables[0])
            if changed is not None and _compiles_quietly(changed):
                return changed
    except SyntaxError:
        return None
    return None


# ---------------------------------------------------------------- reading the table


def _row(shape: Outline, table: Table) -> tuple[str, ...] | None:
    """Return the text of each value of a table's only row; None if there is another row, a mark or an `ids`."""
    given = arguments(shape.functions[table.owner].decorators[table.position])
    if given is None or set(given) != {"argnames", "argvalues"} or len(table.rows or ()) != 1:
        return None
    if len(set(table.argnames)) != len(table.argnames) or not table.argnames:
        return None
    spelled, row = given["argnames"].value, elements(shape, table)[0].value
    alone = len(table.argnames) == 1 and isinstance(
        spelled, cst.SimpleString
    )  # then rows are values themselves
    if alone and "," in shape.module.code_for_node(spelled):
        return None
    values: list[cst.BaseExpression]
    if isinstance(row, cst.Call) and shape.module.code_for_node(row.func) == "pytest.param":
        options = [argument for argument in row.args if argument.keyword is not None]
        plain = all(o.keyword and o.keyword.value == "id" for o in options) and not any(
            argument.star for argument in row.args
        )
        if not plain or not all(isinstance(option.value, cst.SimpleString) for option in options):
            return None
        values = [argument.value for argument in row.args if argument.keyword is None]
    elif alone:
        values = [row]
    elif isinstance(row, (cst.Tuple, cst.List)) and countable(row):
        values = [element.value for element in row.elements]
    else:
        return None
    if len(values) != len(table.argnames):
        return None
    return tuple(shape.module.code_for_node(value) for value in values)


# ---------------------------------------------------------------- whether it is safe


def _separable(shape: Outline, table: Table, tree: ast.Module, node: Function) -> bool:
    """Whether a test's parameters are seen by its own body alone, and are never given another value."""
    given, names = node.args, set(table.argnames)
    taken = [argument.arg for argument in given.args]
    if given.posonlyargs or given.vararg or given.kwonlyargs or given.kwarg or given.defaults:
        return False
    if not names <= set(taken) or "#" in shape.module.code_for_node(shape.functions[table.owner].params):
        return False
    others = [d for index, d in enumerate(node.decorator_list) if index != table.position]
    if any(not _is_mark(decorator, names) for decorator in others) or node.body[0].lineno == node.lineno:
        return False
    inside = [part for statement in node.body for part in ast.walk(statement)]
    if any(name in names for part in inside for name in bound(part)):
        return False
    spoken = {part.id for part in inside if isinstance(part, ast.Name)} | set(taken)
    if spoken & _REFLECTIVE:
        return False
    fixtures = [
        part
        for part in ast.walk(tree)
        if isinstance(part, FUNCTIONS) and any("fixture" in ast.unparse(d) for d in part.decorator_list)
    ]
    if any(names & _wanted(fixture) or _asks_for_case(fixture) for fixture in fixtures):
        return False
    known = _PYTEST_FIXTURES | {fixture.name for fixture in fixtures}
    own = taken[1:] if "::" in table.owner else taken
    if not set(own) <= names | known:
        return False
    return not any(_refers(part, node.name) for part in ast.walk(tree))


def _is_mark(decorator: ast.expr, names: Collection[str]) -> bool:
    """Whether a decorator is another mark of pytest that has nothing to do with these parameters."""
    text = ast.unparse(decorator)
    spoken = {part.value for part in ast.walk(decorator) if isinstance(part, ast.Constant)}
    return text.startswith("pytest.mark.") and "parametrize" not in text and not spoken & set(names)


def _wanted(fixture: Function) -> set[str]:
    """Return the names under which a fixture is known, and those it asks for."""
    strings = {
        part.value
        for decorator in fixture.decorator_list
        for part in ast.walk(decorator)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    return {fixture.name, *(argument.arg for argument in fixture.args.args), *strings}


def _asks_for_case(fixture: Function) -> bool:
    """Whether a fixture may look at the test that it serves, its name or its parameters."""
    looks = {part.attr for part in ast.walk(fixture) if isinstance(part, ast.Attribute)}
    return not looks.isdisjoint(("node", "getfixturevalue", "fixturenames"))


def _refers(part: ast.AST, name: str) -> bool:
    return (isinstance(part, ast.Name) and part.id == name) or (
        isinstance(part, ast.Attribute) and part.attr == name
    )


# ---------------------------------------------------------------- writing the head


def _without_table(source: str, function: str, table: Table) -> str:
    """Return the file with a table's decorator and parameters gone."""
    shape = outline(source)
    node = shape.functions[function]
    parameters = [p for p in node.params.params if p.name.value not in table.argnames]
    if parameters:
        parameters[-1] = parameters[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    decorators = [d for index, d in enumerate(node.decorators) if index != table.position]
    plain = node.with_changes(
        decorators=decorators,
        params=node.params.with_changes(params=parameters),
        whitespace_before_params=cst.SimpleWhitespace(""),
    )
    changed = shape.module.deep_replace(node, plain)
    return changed.code if isinstance(changed, cst.Module) else source


def _compiles_quietly(source: str) -> bool:
    """Whether a file compiles without a warning (`5 is 5`, `assert (1, 2)`, `(1, 2)()`)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compile(source, "<test>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, Warning):
        return False
    return True
