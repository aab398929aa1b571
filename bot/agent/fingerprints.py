"""Which text stands behind each test of a suite, so that evidence on unchanged tests can be kept."""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Mapping

from bot.agent.syntax import is_test_name, statements
from bot.changes.source import first_line

_WORD = re.compile(r"\w+")
_WITHOUT_EFFECT = sys.stdlib_module_names | {"pytest"}
"""Modules whose import changes nothing for the tests that do not use them."""


def fingerprints(source: str) -> Mapping[str, str]:
    """Return, by the name of each top-level test function or class, a hash of its text and of all it can rely on.

    What it can rely on is everything at the top level that is no test: fixtures, constants, other helpers, which
    modules of the repository and of its dependencies are imported, and the imported names that these texts mention.
    A source that does not parse has none.
    """
    lines = source.split("\n")
    tests: dict[str, str] = {}
    rest: list[str] = []
    modules: set[str] = set()
    imported: dict[str, str] = {}
    for node in statements(source):
        text = "\n".join(lines[first_line(node) - 1 : node.end_lineno])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and is_test_name(
            node.name
        ):
            tests[node.name] = text
        elif isinstance(node, ast.Import | ast.ImportFrom) and node.names[0].name != "*":
            origin = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                modules.add(origin or alias.name)
                bound = alias.asname or alias.name.partition(".")[0]
                imported[bound] = f"{imported.get(bound, '')} {origin} {alias.name} as {bound}"
        else:
            rest.append(text)
    known = {name for name in modules if name.partition(".")[0] in _WITHOUT_EFFECT}
    around = "\n".join([*rest, *sorted(modules - known)])
    return {name: _mark(text, around, imported) for name, text in tests.items()}


def _mark(text: str, around: str, imported: Mapping[str, str]) -> str:
    """Return the hash of a test's text with what is around it and the imports that either mentions."""
    mentioned = set(_WORD.findall(f"{around}\n{text}"))
    used = "\n".join(imported[name] for name in sorted(imported.keys() & mentioned))
    return hashlib.sha256(f"{around}\0{used}\0{text}".encode()).hexdigest()


def test_name(node_id: str) -> str:
    """Return the top-level function or class of a node id: `tests/test_a.py::TestB::test_c[1]` gives `TestB`."""
    _, _, inner = node_id.partition("::")
    return inner.split("::")[0].split("[")[0]
