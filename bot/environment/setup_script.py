"""What a `setup.py` passes to `setup()`, read from its syntax tree: the script is never run for this."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SetupScript:
    """The arguments that are literals, or names of literals assigned once at the top of the script."""

    requires_python: str = ""
    dependencies: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read(path: Path) -> SetupScript:
    """Return what a script says; an empty answer if there is none or it does not parse."""
    try:
        module = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return SetupScript()
    known: dict[str, ast.expr] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            known[statement.targets[0].id] = statement.value
    arguments: dict[str, object] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _called(node) == "setup":
            for keyword in node.keywords:
                value = known.get(keyword.value.id) if isinstance(keyword.value, ast.Name) else keyword.value
                if keyword.arg and value is not None:
                    arguments[keyword.arg] = _literal(value)
    extras = arguments.get("extras_require")
    return SetupScript(
        requires_python=str(arguments.get("python_requires") or ""),
        dependencies=_texts(arguments.get("install_requires")),
        tests=_texts(arguments.get("tests_require")),
        extras={str(name): _texts(lines) for name, lines in extras.items()}
        if isinstance(extras, dict)
        else {},
    )


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(line.strip() for line in value.splitlines() if line.strip())
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, (list, tuple)) else ()
