"""Which text stands behind each test of a suite, so that evidence on unchanged tests can be kept."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping


def fingerprints(source: str) -> Mapping[str, str]:
    """Return, by the name of each top-level test function or class, a hash of its text and of all it can rely on.

    What it can rely on is everything at the top level that is no test: imports, fixtures, constants, other helpers.
    A source that does not parse has none.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError):
        return {}
    lines = source.split("\n")
    tests: dict[str, str] = {}
    rest: list[str] = []
    for node in body:
        text = "\n".join(lines[_first(node) - 1 : node.end_lineno])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and is_test(node.name):
            tests[node.name] = text
        else:
            rest.append(text)
    around = "\n".join(rest)
    return {name: hashlib.sha256(f"{around}\0{text}".encode()).hexdigest() for name, text in tests.items()}


def test_name(node_id: str) -> str:
    """Return the top-level function or class of a node id: `tests/test_a.py::TestB::test_c[1]` gives `TestB`."""
    _, _, inner = node_id.partition("::")
    return inner.split("::")[0].split("[")[0]


def is_test(name: str) -> bool:
    """Return whether pytest collects a function or class of this name by default."""
    return name.startswith(("test", "Test"))


def _first(node: ast.stmt) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
        return node.decorator_list[0].lineno
    return node.lineno
