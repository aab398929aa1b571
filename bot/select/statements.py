"""Statements of a test file by their kind."""

from __future__ import annotations

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)


def is_text(node: ast.stmt) -> bool:
    """Return whether a statement is a bare constant: a docstring, `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_autouse(node: ast.stmt) -> bool:
    """Return whether a statement defines a fixture that reaches every test of its file."""
    return isinstance(node, FUNCTIONS) and any(
        isinstance(decorator, ast.Call) and any(keyword.arg == "autouse" for keyword in decorator.keywords)
        for decorator in node.decorator_list
    )
