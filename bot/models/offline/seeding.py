"""The zero-shot suite: what a module's source and documentation say by themselves, before anything is run."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterable, Iterator

from bot.models.offline import outline as outlines
from bot.models.offline import style as styles
from bot.models.offline.doc_examples import documented
from bot.models.offline.guards import guarded
from bot.models.offline.outline import Entry, Outline, Parameter
from bot.models.offline.reading import Assignment
from bot.models.offline.samples import sample
from bot.models.offline.scenario import Check, Scenario, Then
from bot.models.offline.words import snake
from bot.models.offline.writing import Written, write

_MOST = 60
_RESERVED = frozenset({*dir(builtins), *keyword.kwlist})


def suite(task: Assignment) -> Written:
    """Write the suite that the source alone supports; its content is empty if the source says nothing testable."""
    outline = outlines.read(task.source)
    found = scenarios(task, outline)
    if not found:
        return Written("")
    return write(found, task.module, outline, styles.read(task.examples, task.module, task.source))


def scenarios(task: Assignment, outline: Outline) -> tuple[Scenario, ...]:
    """Return documented examples, early exits, and attributes that constructors store, for what was changed."""
    wanted = [entry for entry in outline.entries if entry.public and _is_wanted(entry, task)]
    found: dict[tuple[str, ...], Scenario] = {}
    for scenario in _all(wanted, outline):
        found.setdefault((*scenario.given, scenario.when), scenario)
    return tuple(found.values())[:_MOST]


def _is_wanted(entry: Entry, task: Assignment) -> bool:
    if task.changed is None:
        return True
    first, last = entry.node.lineno, entry.node.end_lineno or entry.node.lineno
    return any(first <= line <= last for line in task.changed)


def _all(entries: Iterable[Entry], outline: Outline) -> Iterator[Scenario]:
    for entry in entries:
        yield from documented(entry, outline)
    for entry in entries:
        yield from guarded(entry, outline)
    for entry in entries:
        yield from _stored_attributes(entry)


def _stored_attributes(entry: Entry) -> Iterator[Scenario]:
    """Yield a scenario for a class whose constructor stores its parameters under their own names."""
    node = entry.node
    if not isinstance(node, ast.ClassDef) or not entry.parameters:
        return
    if any(parameter.starred for parameter in entry.parameters):
        return
    stored = _stored(node, entry.parameters)
    values: dict[str, str] = {}
    for parameter in entry.parameters:
        if parameter.required:
            values[parameter.name] = sample(parameter)
    checks = [
        Check(f"{_variable(entry)}.{name}", Then("value", text))
        for name, text in values.items()
        if name in stored
    ]
    if not checks:
        return
    given = {p.name: p for p in entry.parameters}
    arguments = ", ".join(
        f"{name}={text}" if given[name].keyword_only else text for name, text in values.items()
    )
    yield Scenario(
        subject=entry.qualname,
        when=f"{_variable(entry)} = {entry.qualname}({arguments})",
        then=None,
        checks=tuple(checks),
        names=(entry.qualname.partition(".")[0],),
        args=tuple(values.items()),
        is_statement=True,
    )


def _variable(entry: Entry) -> str:
    name = snake(entry.name)
    return f"new_{name}" if name == entry.name or name in _RESERVED else name


def _stored(node: ast.ClassDef, parameters: Iterable[Parameter]) -> frozenset[str]:
    """Return the parameters that are kept unchanged as public attributes."""
    names = {parameter.name for parameter in parameters if not parameter.name.startswith("_")}
    computed = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
    init = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)
    if init is None:
        return frozenset(names - computed)
    kept: set[str] = set()
    for statement in init.body:
        if (
            isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Name)
            and ast.unparse(statement.targets[0]) == f"self.{statement.value.id}"
        ):
            kept.add(statement.value.id)
    return frozenset((names & kept) - computed)
