"""How a test file spells the names of the module under test: as they are, or behind the module's name."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from bot.models.offline.tables import Table


def spelled(table: Table, spell: Callable[[str], str]) -> Table:
    """Return a table with every piece of code spelled anew."""
    then = table.then
    if then is not None:
        then = replace(
            then,
            text=spell(then.text),
            type=spell(then.type) if then.kind == "raises" else then.type,
            warning=spell(then.warning),
        )
    return replace(
        table,
        given=tuple(spell(text) for text in table.given),
        when=spell(table.when),
        then=then,
        checks=tuple(
            replace(
                check,
                expression=spell(check.expression),
                then=replace(check.then, text=spell(check.then.text)),
            )
            for check in table.checks
        ),
        rows=tuple(tuple(spell(cell) for cell in row) for row in table.rows),
    )


def qualified(text: str, names: frozenset[str], alias: str) -> str:
    """Return code in which each of the names is an attribute of `alias`."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    read = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    places = sorted((starts[n.lineno - 1] + n.col_offset for n in read if n.id in names), reverse=True)
    data = text.encode()
    for place in places:
        data = data[:place] + f"{alias}.".encode() + data[place:]
    return data.decode()
