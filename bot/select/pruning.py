"""Taking tests out of a file: functions, methods, emptied classes, cases of tables, and what only they used."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import libcst as cst

from bot.select.inlining import inlined
from bot.select.nodes import Spot
from bot.select.tables import Outline, Table, arguments, outline, product_row
from bot.select.unused import without_unused


@dataclass(frozen=True, slots=True)
class Pruned:
    """A file with tests taken out.

    Attributes:
        content: The file; empty if no test is left.
        moved: Where each remaining test is written now.
        casualties: Tests that were not to go but went, because their table cannot be cut.
    """

    content: str
    moved: Mapping[Spot, Spot]
    casualties: frozenset[Spot] = frozenset()


@dataclass(slots=True)
class _Plan:
    """What is to be done to a file's syntax."""

    functions: set[str] = field(default_factory=set)
    cuts: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    multiplied: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    casualties: set[Spot] = field(default_factory=set)
    gone: set[Spot] = field(default_factory=set)


def prune(source: str, tests: Collection[Spot], must: Collection[Spot], may: Collection[Spot] = ()) -> Pruned:
    """Take tests out of a file; of a table that this leaves with one row, a plain test is made where it can be.

    Args:
        source: The file.
        tests: All its tests.
        must: Those that have to go. Where one cannot be cut out of its table, the whole function goes.
        may: Those that are better gone; they stay where that would cost another test.
    """
    must, may = set(must), set(may)
    if not must and not may:
        return Pruned(without_unused(source, source), {spot: spot for spot in tests})
    plan_ = _plan(outline(source), tests, must, may)
    left = [spot for spot in tests if spot not in plan_.gone]
    if not left:
        return Pruned("", {}, frozenset(plan_.casualties))
    shape = outline(source)
    edited = shape.module.visit(_Edit(shape, plan_))
    code, plain = inlined(edited.code, {owner for owner, _ in plan_.cuts} & shape.functions.keys())
    moved = {spot: _moved(shape, plan_, spot) for spot in left}
    moved = {old: replace(new, rows=()) if new.function in plain else new for old, new in moved.items()}
    return Pruned(without_unused(code, source), moved, frozenset(plan_.casualties))


# ---------------------------------------------------------------- deciding


def _plan(shape: Outline, tests: Collection[Spot], must: set[Spot], may: set[Spot]) -> _Plan:
    plan = _Plan()
    rejected = must | may
    groups: dict[str, list[Spot]] = {}
    for spot in sorted(tests):
        groups.setdefault(shape.definition(spot.function) or spot.function, []).append(spot)
    for function, group in groups.items():
        if all(spot in rejected for spot in group):
            plan.functions.add(function)
            plan.gone.update(group)
    _cut_class_tables(shape, plan, groups, rejected)
    for function, group in groups.items():
        if function not in plan.functions:
            _cut_own_tables(shape, plan, function, group, rejected)
            stuck = [spot for spot in group if spot in must and spot not in plan.gone]
            if stuck:
                plan.functions.add(function)
                plan.cuts = {key: rows for key, rows in plan.cuts.items() if key[0] != function}
                plan.multiplied.pop(function, None)
                plan.casualties.update(spot for spot in group if spot not in rejected)
                plan.gone.update(group)
    return plan


def _cut_class_tables(
    shape: Outline, plan: _Plan, groups: Mapping[str, list[Spot]], rejected: Collection[Spot]
) -> None:
    """Cut the rows of tables on classes that no test of the class needs."""
    for owner in sorted(shape.tables):
        if owner not in shape.classes:
            continue
        members = [
            spot
            for function, group in groups.items()
            if function.startswith(f"{owner}::") and function not in plan.functions
            for spot in group
        ]
        if not members or not all(len(spot.rows) == len(shape.tables_of(spot.function)) for spot in members):
            continue
        for table in shape.tables[owner]:
            if table.cuttable:
                _cut_rows(shape, plan, table, members, rejected)


def _cut_own_tables(
    shape: Outline, plan: _Plan, function: str, group: Sequence[Spot], rejected: Collection[Spot]
) -> None:
    own = shape.tables.get(function, ())
    group = [spot for spot in group if spot not in plan.gone]
    if not own or any(len(spot.rows) < len(own) for spot in group):
        return
    for table in own:
        if table.cuttable:
            _cut_rows(shape, plan, table, group, rejected)
    left = [spot for spot in group if spot not in plan.gone]
    if len(own) > 1 and all(table.plain and table.rows for table in own) and any(s in rejected for s in left):
        _multiply(plan, own, function, group, rejected)


def _cut_rows(
    shape: Outline, plan: _Plan, table: Table, members: Sequence[Spot], rejected: Collection[Spot]
) -> None:
    by_row: dict[int, list[Spot]] = {}
    for spot in members:
        by_row.setdefault(spot.rows[shape.tables_of(spot.function).index(table)], []).append(spot)
    rows = {row for row, spots in by_row.items() if all(spot in rejected for spot in spots)}
    if rows and len(rows) < len(table.rows or ()):
        plan.cuts[(table.owner, table.position)] = rows
        plan.gone.update(spot for row in rows for spot in by_row[row])


def _multiply(
    plan: _Plan, own: Sequence[Table], function: str, group: Sequence[Spot], rejected: Collection[Spot]
) -> None:
    """Turn stacked tables into one, so that single combinations can be left out."""
    combinations = list(product(*(range(len(table.rows or ())) for table in own)))
    by_cell: dict[tuple[int, ...], list[Spot]] = {}
    for spot in group:
        by_cell.setdefault(spot.rows[: len(own)], []).append(spot)
    gone = {cell for cell, spots in by_cell.items() if all(spot in rejected for spot in spots)}
    plan.multiplied[function] = [cell for cell in combinations if cell not in gone]
    plan.gone.update(spot for cell in gone for spot in by_cell[cell])
    for table in own:
        plan.cuts.pop((table.owner, table.position), None)


def _moved(shape: Outline, plan: _Plan, spot: Spot) -> Spot:
    """Return where a test that stays is written afterwards."""
    if not spot.rows:
        return spot
    tables = shape.tables_of(spot.function)
    rows = list(spot.rows)
    for index, table in enumerate(tables):
        cut = plan.cuts.get((table.owner, table.position), set())
        rows[index] -= sum(row < rows[index] for row in cut)
    cells = plan.multiplied.get(spot.function)
    if cells is not None:
        own = len(shape.tables[spot.function])
        rows[:own] = [cells.index(spot.rows[:own])]
    return replace(spot, rows=tuple(rows))


# ---------------------------------------------------------------- editing


class _Edit(cst.CSTTransformer):
    """Carries out a plan."""

    def __init__(self, shape: Outline, plan: _Plan) -> None:
        self.shape = shape
        self.plan = plan
        self.stack: list[str] = []
        uses = _Uses()
        shape.module.visit(uses)
        self.in_place: dict[str, set[int]] = {}
        for tables in shape.tables.values():
            for table in tables:
                rows = plan.cuts.get((table.owner, table.position))
                if rows and table.constant and uses.names.count(table.constant) == 2:  # bound once, used once
                    self.in_place[table.constant] = rows

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802 - libcst's name
        self.stack.append(node.name.value)

    def leave_ClassDef(  # noqa: N802 - libcst's name
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef | cst.RemovalSentinel:
        name = "::".join(self.stack)
        self.stack.pop()
        before = [function for function in self.shape.functions if function.startswith(f"{name}::")]
        gone = [function for function in before if function in self.plan.functions]
        tests = [function for function in before if function.rpartition("::")[2].startswith("test")]
        if gone and all(function in self.plan.functions for function in tests):
            if not self._inherited(original_node.name.value):
                return cst.RemoveFromParent()
            if not _has_statement(updated_node):
                empty = cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()])])
                updated_node = updated_node.with_changes(body=empty)
        return updated_node.with_changes(decorators=self._decorators(name, updated_node.decorators))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:  # noqa: N802 - libcst's name
        self.stack.append(node.name.value)
        return False

    def leave_FunctionDef(  # noqa: N802 - libcst's name
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef | cst.RemovalSentinel:
        name = "::".join(self.stack)
        self.stack.pop()
        if name in self.plan.functions:
            return cst.RemoveFromParent()
        if name in self.plan.multiplied:
            return updated_node.with_changes(decorators=self._one_table(name, original_node.decorators))
        return updated_node.with_changes(decorators=self._decorators(name, updated_node.decorators))

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:  # noqa: N802, ARG002
        target = updated_node.targets[0].target
        rows = self.in_place.get(target.value) if isinstance(target, cst.Name) and not self.stack else None
        return updated_node.with_changes(value=_without(updated_node.value, rows)) if rows else updated_node

    def leave_AnnAssign(  # noqa: N802 - libcst's name
        self,
        original_node: cst.AnnAssign,  # noqa: ARG002
        updated_node: cst.AnnAssign,
    ) -> cst.AnnAssign:
        target = updated_node.target
        rows = self.in_place.get(target.value) if isinstance(target, cst.Name) and not self.stack else None
        if rows and updated_node.value is not None:
            return updated_node.with_changes(value=_without(updated_node.value, rows))
        return updated_node

    def _inherited(self, name: str) -> bool:
        return any(
            isinstance(base.value, cst.Name) and base.value.value == name
            for node in self.shape.classes.values()
            for base in node.bases
        )

    def _decorators(self, owner: str, decorators: Sequence[cst.Decorator]) -> list[cst.Decorator]:
        """Return decorators with the rows of the plan cut out of their tables."""
        result = list(decorators)
        for table in self.shape.tables.get(owner, ()):
            rows = self.plan.cuts.get((owner, table.position))
            if rows:
                result[table.position] = self._cut(table, result[table.position], rows)
        return result

    def _cut(self, table: Table, decorator: cst.Decorator, rows: set[int]) -> cst.Decorator:
        call = decorator.decorator
        given = arguments(decorator)
        if given is None or not isinstance(call, cst.Call):
            return decorator
        constant = self.shape.constants.get(table.constant or "")
        changed: list[cst.Arg] = []
        for argument in call.args:
            value = argument.value
            if argument is given["argvalues"] and table.constant not in self.in_place:
                value = _without(constant or value, rows)
            elif argument is given.get("ids"):
                value = _without(value, rows)
            changed.append(argument.with_changes(value=value))
        return decorator.with_changes(decorator=call.with_changes(args=changed))

    def _one_table(self, owner: str, decorators: Sequence[cst.Decorator]) -> list[cst.Decorator]:
        """Return decorators with the function's tables multiplied out into the lowest of them."""
        own = self.shape.tables[owner]
        names = ", ".join(f'"{name}"' for table in own for name in table.argnames)
        rows = [product_row(self.shape.module, own, self.shape, cell) for cell in self.plan.multiplied[owner]]
        table = cst.parse_expression(f"[{', '.join(rows)}]")
        result: list[cst.Decorator] = []
        for position, decorator in enumerate(decorators):
            if position == own[0].position and isinstance(decorator.decorator, cst.Call):
                arguments_ = [cst.Arg(cst.parse_expression(f"({names})")), cst.Arg(table)]
                result.append(
                    decorator.with_changes(decorator=decorator.decorator.with_changes(args=arguments_))
                )
            elif all(position != other.position for other in own):
                result.append(decorator)
        return result


class _Uses(cst.CSTVisitor):
    """Collects every name in a module, once for each place."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_Name(self, node: cst.Name) -> None:  # noqa: N802 - libcst's name
        self.names.append(node.value)


def _has_statement(node: cst.ClassDef) -> bool:
    return bool(node.body.body)


def _without(value: cst.BaseExpression, rows: Collection[int]) -> cst.BaseExpression:
    """Return a list or tuple without some elements, its layout kept."""
    if not isinstance(value, (cst.List, cst.Tuple)):
        return value
    kept = [element for index, element in enumerate(value.elements) if index not in rows]
    if kept:
        kept[-1] = kept[-1].with_changes(comma=value.elements[-1].comma)
    if isinstance(value, cst.Tuple) and len(kept) == 1 and not isinstance(kept[0].comma, cst.Comma):
        kept[0] = kept[0].with_changes(comma=cst.Comma())
    return value.with_changes(elements=kept)
