"""Import statements of a test file: what they bind, and how more are added to those that are there."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from bot.select.statements import DEFINITIONS, is_text


@dataclass(frozen=True, slots=True)
class Imported:
    """One name bound by an import.

    Attributes:
        name: The name bound in the file.
        module: The module imported, or imported from, with leading dots where it is relative.
        attribute: What is taken from the module; empty for `import module`.
        alias: The name after `as`; empty if there is none.
    """

    name: str
    module: str
    attribute: str = ""
    alias: str = ""


def bindings(node: ast.stmt) -> tuple[Imported, ...]:
    """Return the names an import statement binds; none for another statement, or a star."""
    if isinstance(node, ast.Import):
        return tuple(
            Imported(alias.asname or alias.name.split(".")[0], alias.name, "", alias.asname or "")
            for alias in node.names
        )
    if isinstance(node, ast.ImportFrom) and node.module != "__future__":
        module = "." * node.level + (node.module or "")
        return tuple(
            Imported(alias.asname or alias.name, module, alias.name, alias.asname or "")
            for alias in node.names
            if alias.name != "*"
        )
    return ()


def import_text(items: Sequence[Imported]) -> str:
    """Return one import statement for names of one module; without a module's attribute, for the first alone."""
    first = items[0]
    if not first.attribute:
        return f"import {first.module}{f' as {first.alias}' if first.alias else ''}\n"
    names = ", ".join(item.attribute + (f" as {item.alias}" if item.alias else "") for item in items)
    return f"from {first.module} import {names}\n"


def with_imports(source: str, wanted: Sequence[Imported]) -> str:
    """Return a file in which these names are imported: statements that import from the same module get more names."""
    tree = ast.parse(source)
    statements = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    present = {item for node in statements for item in bindings(node)}
    missing = [item for item in dict.fromkeys(wanted) if item not in present]
    lines = source.splitlines(keepends=True)
    edits: list[tuple[int, int, str]] = []
    groups: dict[tuple[str, bool], list[Imported]] = {}
    for item in missing:
        groups.setdefault((item.module, bool(item.attribute)), []).append(item)
    fresh: list[str] = []
    for (module, has_attributes), items in groups.items():
        home = _extendable(statements, lines, module) if has_attributes else None
        if home is not None:
            edits.append((home.lineno - 1, home.end_lineno or home.lineno, _extended(home, lines, items)))
        elif has_attributes:
            fresh.append(import_text(items))
        else:
            fresh.extend(import_text([item]) for item in items)
    for text in sorted(fresh, key=_order, reverse=True):  # what is put in last stands first
        edits.append(_placed(tree, statements, text))
    for start, end, text in sorted(edits, key=lambda edit: (-edit[0], -edit[1])):
        lines[start:end] = [text]
    return "".join(lines)


def _extendable(
    statements: Sequence[ast.Import | ast.ImportFrom], lines: Sequence[str], module: str
) -> ast.ImportFrom | None:
    """Return the statement that imports from a module and can take more names: no comments in it, no star."""
    for node in statements:
        if not isinstance(node, ast.ImportFrom) or "." * node.level + (node.module or "") != module:
            continue
        text = "".join(lines[node.lineno - 1 : node.end_lineno])
        single = node.col_offset == 0 and ";" not in text and "#" not in text and "\\" not in text
        if single and all(alias.name != "*" for alias in node.names):
            return node
    return None


def _extended(node: ast.ImportFrom, lines: Sequence[str], items: Sequence[Imported]) -> str:
    """Return a from-import with more names, sorted if it was, over several lines if it was or has to be."""
    names = [alias.name + (f" as {alias.asname}" if alias.asname else "") for alias in node.names]
    added = [item.attribute + (f" as {item.alias}" if item.alias else "") for item in items]
    orders = (_by_kind, str.lower, str)
    order = next((key for key in orders if sorted(names, key=key) == names), None)
    names = sorted([*names, *added], key=order) if order else [*names, *added]
    head = f"from {'.' * node.level}{node.module or ''} import "
    text = "".join(lines[node.lineno - 1 : node.end_lineno])
    one = f"{head}{', '.join(names)}\n"
    longest = max([88, *(len(line.rstrip("\r\n")) for line in lines)])
    if text.count("\n") <= 1 and len(one.rstrip("\n")) <= min(longest, 120):
        return one
    indent = next(
        (line[: len(line) - len(line.lstrip())] for line in text.split("\n")[1:] if line.strip(" )")), "    "
    )
    return f"{head}(\n" + "".join(f"{indent or '    '}{name},\n" for name in names) + ")\n"


def _by_kind(name: str) -> tuple[int, str]:
    """Order names as isort does: CONSTANTS, Classes, functions."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name


def _placed(
    tree: ast.Module, statements: Sequence[ast.Import | ast.ImportFrom], text: str
) -> tuple[int, int, str]:
    """Return where a new import statement goes, as an edit: after the last of its kind, else after all imports."""
    wanted = ast.parse(text).body[0]
    assert isinstance(wanted, (ast.Import, ast.ImportFrom))
    kind, name = _section(wanted)
    leading = _leading(tree)
    block = [node for node in statements if node in leading]
    before = [node for node in block if _section(node) <= (kind, name)]
    if before:
        line = before[-1].end_lineno or before[-1].lineno
        gap = "" if _section(before[-1])[0] == kind else "\n"
        return line, line, gap + text
    if block:
        line = block[0].lineno - 1
        return line, line, text + ("" if _section(block[0])[0] == kind else "\n")
    body = tree.body
    documented = body and is_text(body[0])
    line = (body[0].end_lineno or 1) if documented else 0
    return line, line, f"\n{text}" if documented else f"{text}\n\n"


def _order(text: str) -> tuple[int, str]:
    node = ast.parse(text).body[0]
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    return _section(node)


def _leading(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements up to the last import before any definition."""
    found: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, DEFINITIONS):
            break
        found.append(node)
    return found


def _section(node: ast.Import | ast.ImportFrom) -> tuple[int, str]:
    """Return which block of imports a statement belongs to, and its module: future, standard library, other, relative."""
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return 4, node.module or ""
        module = node.module or ""
    else:
        module = node.names[0].name
    top = module.split(".")[0]
    if top == "__future__":
        return 0, module
    return (1 if top in sys.stdlib_module_names else 2), module
