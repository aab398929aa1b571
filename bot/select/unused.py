"""What a test file no longer needs once tests are gone: imports, helpers, fixtures and constants."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from bot.select.statements import DEFINITIONS, is_autouse

_KEPT = re.compile(r"test|Test|pytest|setup|teardown|setUp|tearDown|__|load_tests")
"""Names that a test runner finds by itself: they need no reference."""


def without_unused(source: str, original: str) -> str:
    """Remove imports that nothing uses, and definitions that were used in `original` and no longer are."""
    while True:
        drop = _unused(source, original)
        if not drop:
            return source
        module = cst.parse_module(source)
        body = [kept for line in module.body if (kept := _trimmed(module, line, drop)) is not None]
        smaller = module.with_changes(body=body).code
        if smaller == source:
            return source
        source = smaller


def _unused(source: str, original: str) -> set[str]:
    """Return the names bound at module level that can go."""
    tree = ast.parse(source)
    drop: set[str] = set()
    once_used: set[str] | None = None
    for index, statement in enumerate(tree.body):
        others = [other for position, other in enumerate(tree.body) if position != index]
        for name in _bound(statement):
            if any(name in references(other) for other in others):
                continue
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                drop.add(name)
            elif not _KEPT.match(name) and not is_autouse(statement):
                if once_used is None:
                    once_used = _used_elsewhere(original)
                if name in once_used:
                    drop.add(name)
    return drop


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a removable statement of a module binds."""
    if isinstance(statement, ast.Import):
        yield from (alias.asname or alias.name.split(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        if statement.module != "__future__":
            yield from (alias.asname or alias.name for alias in statement.names if alias.name != "*")
    elif isinstance(statement, DEFINITIONS):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        if (
            len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
            and _quiet(statement.value)
        ):
            yield statement.targets[0].id
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id


def _quiet(value: ast.expr) -> bool:
    """Whether evaluating an expression matters only for its value (`pytest.importorskip` skips the module)."""
    return not any(
        isinstance(node, ast.Attribute) and node.attr == "importorskip" for node in ast.walk(value)
    )


def references(statement: ast.AST) -> frozenset[str]:
    """Return all names a statement may refer to: names, parameters (fixtures), and whole strings (`usefixtures`)."""
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
        if isinstance(node, ast.arg):
            found.add(node.arg)
        if isinstance(node, (ast.arg, ast.AnnAssign)):
            found.update(_in_annotation(node.annotation))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.update(_in_annotation(node.returns))
    return frozenset(found)


def _in_annotation(annotation: ast.expr | None) -> Iterator[str]:
    """Yield the names in the strings of an annotation (`"Node | None"`)."""
    for node in ast.walk(annotation) if annotation is not None else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"[A-Za-z_]\w*", node.value)


def _used_elsewhere(source: str) -> set[str]:
    """Return the module-level names of a file that a statement other than their own refers to."""
    body = ast.parse(source).body
    found = [references(statement) for statement in body]
    return {
        name
        for index, statement in enumerate(body)
        for name in _bound(statement)
        if any(name in other for position, other in enumerate(found) if position != index)
    }


_Line = cst.SimpleStatementLine | cst.BaseCompoundStatement


def _trimmed(module: cst.Module, line: _Line, drop: set[str]) -> _Line | None:
    """Return a statement of a module without the names to drop; None if nothing of it is left."""
    if isinstance(line, (cst.FunctionDef, cst.ClassDef)):
        return None if line.name.value in drop else line
    if not isinstance(line, cst.SimpleStatementLine):
        return line
    if line.trailing_whitespace.comment is not None and "noqa" in line.trailing_whitespace.comment.value:
        return line
    body = [kept for part in line.body if (kept := _trimmed_part(module, part, drop)) is not None]
    return line.with_changes(body=body) if body else None


def _trimmed_part(
    module: cst.Module, part: cst.BaseSmallStatement, drop: set[str]
) -> cst.BaseSmallStatement | None:
    if isinstance(part, (cst.Import, cst.ImportFrom)) and not isinstance(part.names, cst.ImportStar):
        names = [alias for alias in part.names if _alias_name(module, alias) not in drop]
        if not names:
            return None
        if len(names) == len(part.names):
            return part
        names[-1] = names[-1].with_changes(comma=part.names[-1].comma)
        return part.with_changes(names=names)
    if isinstance(part, cst.Assign) and len(part.targets) == 1:
        target: cst.BaseExpression = part.targets[0].target
        return None if isinstance(target, cst.Name) and target.value in drop else part
    if isinstance(part, cst.AnnAssign):
        return None if isinstance(part.target, cst.Name) and part.target.value in drop else part
    return part


def _alias_name(module: cst.Module, alias: cst.ImportAlias) -> str:
    if alias.asname is not None:
        return module.code_for_node(alias.asname.name).strip()
    return module.code_for_node(alias.name).split(".")[0].strip()
