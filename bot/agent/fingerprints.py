"""Which text stands behind each test of a suite, so that evidence on unchanged tests can be kept."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping

from bot.agent.syntax import is_test_name, statements
from bot.changes.source import first_line


def fingerprints(source: str) -> Mapping[str, str]:
    """Return, by the name of each top-level test function or class, a hash of its text and of all it can rely on.

    What it can rely on is everything at the top level that is no test: imports, fixtures, constants, other helpers.
    A source that does not parse has none.
    """
    lines = source.split("\n")
    tests: dict[str, str] = {}
    rest: list[str] = []
    for node in statements(source):
        text = "\n".join(lines[first_line(node) - 1 : node.end_lineno])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and is_test_name(
            node.name
        ):
            tests[node.name] = text
        else:
            rest.append(text)
    around = "\n".join(rest)
    return {name: hashlib.sha256(f"{around}\0{text}".encode()).hexdigest() for name, text in tests.items()}


def test_name(node_id: str) -> str:
    """Return the top-level function or class of a node id: `tests/test_a.py::TestB::test_c[1]` gives `TestB`."""
    _, _, inner = node_id.partition("::")
    return inner.split("::")[0].split("[")[0]
