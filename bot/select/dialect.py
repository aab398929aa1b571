"""The names under which a test file knows what it imports, for tests that are added to it."""

from __future__ import annotations

import ast

from bot.select.imports import bindings


def as_imported(existing: ast.Module, addition: str) -> str:
    """Return an addition that says `TestCase` for `unittest.TestCase` where the existing file imports `TestCase` so.

    Args:
        existing: The file that is extended.
        addition: The tests to add. A module that they import whole, and of which the existing file imports by name
            everything they use, is no longer imported whole; all else stays.
    """
    tree = ast.parse(addition)
    known = {
        (item.module, item.attribute): item.name
        for node in existing.body
        for item in bindings(node)
        if item.attribute
    }
    whole = {item.name for node in existing.body for item in bindings(node) if not item.attribute}
    stored = {
        part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    stored |= {part.arg for part in ast.walk(tree) if isinstance(part, ast.arg)}
    lines = addition.splitlines(keepends=True)
    edits: list[tuple[int, int, int, str]] = []
    for node in tree.body:
        names = bindings(node)
        if not isinstance(node, ast.Import) or len(names) != 1 or names[0].name in whole | stored:
            continue
        module = names[0].name
        uses = [part for part in ast.walk(tree) if isinstance(part, ast.Name) and part.id == module]
        taken = [
            part
            for part in ast.walk(tree)
            if isinstance(part, ast.Attribute)
            and isinstance(part.value, ast.Name)
            and part.value.id == module
        ]
        spoken = [known.get((names[0].module, part.attr), "") for part in taken]
        if any(part.lineno != part.end_lineno for part in taken):
            continue
        if not uses or len(taken) != len(uses) or not all(spoken) or stored & set(spoken):
            continue
        edits.append((node.lineno, 0, len(lines[node.lineno - 1].encode()), ""))
        edits.extend(
            (part.lineno, part.col_offset, part.end_col_offset or 0, name)
            for part, name in zip(taken, spoken, strict=True)
        )
    for line, start, end, text in sorted(edits, reverse=True):
        raw = lines[line - 1].encode()
        lines[line - 1] = (raw[:start] + text.encode() + raw[end:]).decode()
    return "".join(lines)
