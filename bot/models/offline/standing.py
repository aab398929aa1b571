"""Tests of another hand: what stays of the suite as it stood once its failing tests are taken out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from bot.models.offline.reading import Failure
from bot.models.offline.writing import Rest

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def remaining(suite: str, failures: Iterable[Failure]) -> Rest:
    """Return a suite's imports and definitions without the tests that failed, a failing case with its whole test.

    A suite that does not parse, or could not be collected, leaves nothing.
    """
    failed = {failure.id.partition("::")[2].partition("[")[0] for failure in failures}
    try:
        tree = ast.parse(suite)
    except (SyntaxError, ValueError):
        return Rest()
    if "" in failed:
        return Rest()
    lines = suite.splitlines()
    imports: list[str] = []
    blocks: list[str] = []
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(ast.unparse(node))
            continue
        text = _block(node, lines, failed)
        if text:
            blocks.append(text)
            names.update(_names(node))
    if not any(
        name.startswith(("test", "Test")) or name.endswith(("Test", "Tests", "TestCase")) for name in names
    ):
        return Rest()
    return Rest(tuple(imports), tuple(_joined(blocks)), frozenset(names))


def _block(node: ast.stmt, lines: Sequence[str], failed: set[str]) -> str:
    """Return a top-level statement's text; empty if it is a failed test, or a class of which nothing is left."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ""
    if isinstance(node, _FunctionNode) and node.name in failed:
        return ""
    if not isinstance(node, ast.ClassDef):
        return _text(node, lines)
    gone = [member for member in node.body if _is_failed(member, node.name, failed)]
    left = [member for member in node.body if member not in gone]
    if gone and not any(
        isinstance(member, _FunctionNode) and member.name.startswith("test") for member in left
    ):
        return ""
    dropped = {line for member in gone for line in range(_first(member), (member.end_lineno or 0) + 1)}
    first, last = _first(node), node.end_lineno or node.lineno
    return "\n".join(lines[n - 1] for n in range(first, last + 1) if n not in dropped).rstrip()


def _is_failed(member: ast.stmt, owner: str, failed: set[str]) -> bool:
    return isinstance(member, _FunctionNode) and f"{owner}::{member.name}" in failed


def _first(node: ast.stmt) -> int:
    if not isinstance(node, _FunctionNode | ast.ClassDef):
        return node.lineno
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _text(node: ast.stmt, lines: Sequence[str]) -> str:
    return "\n".join(lines[_first(node) - 1 : node.end_lineno])


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, _FunctionNode | ast.ClassDef):
        members = node.body if isinstance(node, ast.ClassDef) else []
        return {node.name, *(member.name for member in members if isinstance(member, _FunctionNode))}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _joined(blocks: Sequence[str]) -> list[str]:
    """Keep assignments that follow each other together."""
    found: list[str] = []
    for block in blocks:
        plain = not block.startswith(("def ", "async def ", "class ", "@"))
        if plain and found and not found[-1].startswith(("def ", "async def ", "class ", "@")):
            found[-1] += f"\n{block}"
        else:
            found.append(block)
    return found
