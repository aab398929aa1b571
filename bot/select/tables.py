"""Parametrised tables of a test file, read from its syntax: which cases there are and which can be cut out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst


@dataclass(frozen=True, slots=True)
class Table:
    """One `pytest.mark.parametrize` decorator.

    Attributes:
        owner: Name of the function or class it decorates, `TestA::test_b`.
        position: Its index among the owner's decorators, from the top.
        argnames: The names it gives values to.
        rows: The source text of its cases; None if they cannot be counted (a comprehension, a call).
        cuttable: Whether single cases can be taken out of it.
        plain: Whether it holds bare values only, so that it can be multiplied out with another table.
        constant: The module-level name that holds the cases, where they are not written in the decorator.
    """

    owner: str
    position: int
    argnames: tuple[str, ...]
    rows: tuple[str, ...] | None
    cuttable: bool
    plain: bool
    constant: str | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """Functions, classes and tables of a test file, by name (`TestA::test_b`)."""

    module: cst.Module
    functions: Mapping[str, cst.FunctionDef]
    classes: Mapping[str, cst.ClassDef]
    constants: Mapping[str, cst.List | cst.Tuple]
    tables: Mapping[str, tuple[Table, ...]]

    @property
    def tests(self) -> tuple[str, ...]:
        """The functions that pytest takes for tests by their names."""
        return tuple(name for name in self.functions if name.rpartition("::")[2].startswith("test"))

    def definition(self, function: str) -> str | None:
        """Return the name under which a test's function is written: its own, or that of a base class in the file."""
        if function in self.functions:
            return function
        owner, _, name = function.rpartition("::")
        seen: set[str] = set()
        queue = [owner] if owner else []
        while queue:
            current = queue.pop(0)
            node = self.classes.get(current)
            if current in seen or node is None:
                continue
            seen.add(current)
            if f"{current}::{name}" in self.functions:
                return f"{current}::{name}"
            queue.extend(base.value.value for base in node.bases if isinstance(base.value, cst.Name))
        return None

    def tables_of(self, function: str) -> tuple[Table, ...]:
        """Return the tables of a test in the order pytest multiplies them: its own from the bottom, then its classes'."""
        found = list(self.tables.get(function, ()))
        owner = function.rpartition("::")[0]
        while owner:
            found.extend(self.tables.get(owner, ()))
            owner = owner.rpartition("::")[0]
        return tuple(found)


def outline(source: str) -> Outline:
    """Read a test file's structure. Raises SyntaxError if it does not parse."""
    try:
        module = cst.parse_module(source)
    except cst.ParserSyntaxError as error:
        raise SyntaxError(error.message) from error
    walk = _Walk()
    module.visit(walk)
    constants = _constants(module)
    owners: dict[str, cst.FunctionDef | cst.ClassDef] = {**walk.functions, **walk.classes}
    tables = {
        owner: tuple(
            table
            for position in range(len(node.decorators) - 1, -1, -1)
            if (table := _table(module, owner, position, node.decorators[position], constants)) is not None
        )
        for owner, node in owners.items()
    }
    return Outline(module, walk.functions, walk.classes, constants, {k: v for k, v in tables.items() if v})


class _Walk(cst.CSTVisitor):
    def __init__(self) -> None:
        self.stack: list[str] = []
        self.functions: dict[str, cst.FunctionDef] = {}
        self.classes: dict[str, cst.ClassDef] = {}

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802 - libcst's name
        self.stack.append(node.name.value)
        self.classes["::".join(self.stack)] = node

    def leave_ClassDef(self, original_node: cst.ClassDef) -> None:  # noqa: ARG002, N802 - libcst's name
        self.stack.pop()

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:  # noqa: N802 - libcst's name
        self.functions["::".join([*self.stack, node.name.value])] = node
        return False


def _constants(module: cst.Module) -> dict[str, cst.List | cst.Tuple]:
    """Return the module-level names bound once to a list or tuple written out."""
    found: dict[str, cst.List | cst.Tuple] = {}
    again: set[str] = set()
    for line in module.body:
        if not isinstance(line, cst.SimpleStatementLine):
            continue
        for statement in line.body:
            if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
                target, value = statement.targets[0].target, statement.value
            elif isinstance(statement, cst.AnnAssign) and statement.value is not None:
                target, value = statement.target, statement.value
            else:
                continue
            if isinstance(target, cst.Name) and isinstance(value, (cst.List, cst.Tuple)):
                if target.value in found:
                    again.add(target.value)
                found[target.value] = value
    return {name: value for name, value in found.items() if name not in again and countable(value)}


def countable(value: cst.BaseExpression) -> bool:
    """Whether an expression is a list or tuple whose elements are all written out."""
    return isinstance(value, (cst.List, cst.Tuple)) and not any(
        isinstance(element, cst.StarredElement) for element in value.elements
    )


def arguments(decorator: cst.Decorator) -> Mapping[str, cst.Arg] | None:
    """Return the arguments of a parametrize decorator by name (`argnames`, `argvalues`, ...); None if it is another."""
    call = decorator.decorator
    if not isinstance(call, cst.Call):
        return None
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else getattr(call.func, "value", "")
    if name != "parametrize":
        return None
    names = ("argnames", "argvalues", "indirect", "ids", "scope")
    found: dict[str, cst.Arg] = {}
    for index, argument in enumerate(call.args):
        if argument.star or index >= len(names):
            return None
        found[argument.keyword.value if argument.keyword else names[index]] = argument
    return found if {"argnames", "argvalues"} <= found.keys() else None


def _table(
    module: cst.Module,
    owner: str,
    position: int,
    decorator: cst.Decorator,
    constants: Mapping[str, cst.List | cst.Tuple],
) -> Table | None:
    """Read one decorator; None if it is not a parametrize mark."""
    given = arguments(decorator)
    if given is None:
        return None
    argnames = _argnames(given["argnames"].value)
    if argnames is None:
        return Table(owner, position, (), None, cuttable=False, plain=False)
    values = given["argvalues"].value
    constant = values.value if isinstance(values, cst.Name) else None
    if constant is not None and constant in constants:
        values = constants[constant]
    if not isinstance(values, (cst.List, cst.Tuple)) or not countable(values):
        return Table(owner, position, argnames, None, cuttable=False, plain=False)
    rows = tuple(module.code_for_node(element.value) for element in values.elements)
    ids = given["ids"].value if "ids" in given else None
    ids_fit = (
        ids is None
        or not isinstance(ids, (cst.Name, cst.List, cst.Tuple))
        or ids_match(ids, len(rows), constants)
    )
    return Table(
        owner,
        position,
        argnames,
        rows,
        cuttable=ids_fit,
        plain=set(given) == {"argnames", "argvalues"}
        and all(_bare(e.value, len(argnames)) for e in values.elements),
        constant=constant,
    )


def ids_match(ids: cst.BaseExpression, size: int, constants: Mapping[str, cst.List | cst.Tuple]) -> bool:
    """Whether an `ids` argument can be cut along with its cases: a list as long as they are, or a function."""
    if isinstance(ids, cst.Name):
        return ids.value not in constants
    return isinstance(ids, (cst.List, cst.Tuple)) and countable(ids) and len(ids.elements) == size


def _argnames(value: cst.BaseExpression) -> tuple[str, ...] | None:
    if isinstance(value, cst.SimpleString) and isinstance(value.evaluated_value, str):
        return tuple(name.strip() for name in value.evaluated_value.split(",") if name.strip())
    if isinstance(value, (cst.List, cst.Tuple)):
        names: list[str] = []
        for element in value.elements:
            text = element.value.evaluated_value if isinstance(element.value, cst.SimpleString) else None
            if not isinstance(text, str):
                return None
            names.append(text)
        return tuple(names)
    return None


def _bare(row: cst.BaseExpression, width: int) -> bool:
    """Whether a case is a value (or a tuple of `width` values) without marks or an id of its own."""
    if width > 1:
        return isinstance(row, (cst.Tuple, cst.List)) and countable(row) and len(row.elements) == width
    return not (isinstance(row, cst.Call) and _called(row).endswith("param"))


def _called(call: cst.Call) -> str:
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else getattr(call.func, "value", "")


def product_row(
    module: cst.Module, tables: Sequence[Table], outline_: Outline, indices: Sequence[int]
) -> str:
    """Return the source of one case of several plain tables multiplied out, as a tuple."""
    parts: list[str] = []
    for table, index in zip(tables, indices, strict=True):
        row = elements(outline_, table)[index].value
        if len(table.argnames) == 1:
            parts.append(module.code_for_node(row))
        elif isinstance(row, (cst.Tuple, cst.List)):
            parts.extend(module.code_for_node(element.value) for element in row.elements)
    return f"({', '.join(parts)})"


def elements(outline_: Outline, table: Table) -> Sequence[cst.BaseElement]:
    """Return the elements of a table that can be counted."""
    if table.constant is not None and table.constant in outline_.constants:
        return outline_.constants[table.constant].elements
    owner = outline_.functions.get(table.owner) or outline_.classes[table.owner]
    given = arguments(owner.decorators[table.position])
    values = given["argvalues"].value if given else None
    return values.elements if isinstance(values, (cst.List, cst.Tuple)) else ()
