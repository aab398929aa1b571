"""Examples in a source file's docstrings: calls and the results that the documentation promises."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """One `>>>` example of a docstring.

    Attributes:
        function: Qualified name of what it documents; empty for the module.
        setup: The statements of the same docstring before it.
        call: The expression.
        expected: The result's text, a Python expression.
    """

    function: str
    setup: tuple[str, ...]
    call: str
    expected: str


def examples(source: str) -> tuple[Example, ...]:
    """Return the examples of a file whose results are Python expressions, in file order."""
    found: list[Example] = []
    for name, docstring in _docstrings(ast.parse(source)):
        try:
            written = doctest.DocTestParser().get_examples(docstring)
        except ValueError:
            continue
        setup: list[str] = []
        for example in written:
            call, expected = example.source.strip(), example.want.strip()
            if expected and _is_expression(call) and _is_expression(expected) and not example.options:
                found.append(Example(name, tuple(setup), call, expected))
            setup.append(example.source)
    return tuple(found)


def _docstrings(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(tree, ast.Module):
        text = ast.get_docstring(tree)
        if text:
            yield "", text
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            text = ast.get_docstring(node)
            if text:
                yield prefix + node.name, text
            yield from _docstrings(node, f"{prefix}{node.name}.")


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True
