"""The constants that code holds, and their neighbours, as texts to try: what it compares with first."""

from __future__ import annotations

import ast
import re
from typing import Any

from . import values

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)


def constants_of(node: Any, deep: bool = True) -> list[str]:
    """Return texts of the constants a function's code holds, and their neighbours; numbers that it compares first."""
    compared: list[str] = []
    others: list[str] = []
    docs = set()
    nodes = ast.walk(node) if deep else _shallow(node)
    for child in nodes:
        body = getattr(child, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            docs.add(id(body[0].value))
        if isinstance(child, ast.Compare):
            for side in [child.left, *child.comparators]:
                for leaf in ast.walk(side):
                    if isinstance(leaf, ast.Constant):
                        compared.extend(_around(leaf.value))
        elif (
            isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "isinstance"
        ):
            for leaf in ast.walk(child):
                if isinstance(leaf, ast.Name) and leaf.id in values.NAMED:
                    compared.extend(values.NAMED[leaf.id][:3])
        elif isinstance(child, ast.Constant) and id(child) not in docs:
            others.extend(_around(child.value))
    return values.unique([*compared, *others])[: 60 if deep else 200]


def _shallow(tree: ast.Module) -> list[ast.AST]:
    """Return the nodes of a module's own statements: tables, and calls that fill them."""
    found: list[ast.AST] = []
    for node in tree.body:
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not text and not isinstance(node, _DEFINITIONS):
            found.extend(ast.walk(node))
    return found


def _around(value: Any) -> list[str]:
    if isinstance(value, bool) or value is None or value is Ellipsis:
        return []
    if isinstance(value, int):
        if abs(value) > 10**12:
            return [str(value)]
        return [str(value), str(value - 1), str(value + 1)]
    if isinstance(value, float):
        return [repr(value)]
    if isinstance(value, str) and len(value) <= 24 and "\n" not in value:
        return [repr(value)]
    if isinstance(value, bytes) and len(value) <= 24:
        return [repr(value)]
    return []


def plain_first(texts: list[str]) -> list[str]:
    """Return the texts with words and numbers before strings that look like patterns or formats."""
    return sorted(texts, key=lambda text: bool(re.search(r"[\\^$*+?()|{}%]", text)))


def in_case_forms(texts: list[str]) -> list[str]:
    """Return the texts, each lower-case word followed by its capitalised form."""
    found: list[str] = []
    for text in texts:
        found.append(text)
        if re.fullmatch(r"'[a-z]{2,}'", text):
            found.append(text[0] + text[1].upper() + text[2:])
    return found
