"""The style of a repository's tests, read from the nearest existing ones, so that new tests look like them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Grouping = Literal["functions", "classes", "unittest"]


@dataclass(frozen=True, slots=True)
class Style:
    """How the tests are written.

    Attributes:
        grouping: Plain functions, pytest classes by subject, or `unittest.TestCase` classes.
        alias: The name the module under test is bound to, `mod` of `import pkg.mod as mod`; empty where its names
            are imported one by one.
        import_line: The import that binds `alias`.
        quote: The preferred quote.
    """

    grouping: Grouping = "functions"
    alias: str = ""
    import_line: str = ""
    quote: str = '"'


def read(examples: Sequence[tuple[str, str]], module: str) -> Style:
    """Return the style that most of the examples, (path, text), share; without any, functions, imported names, double quotes."""
    texts = [text for _, text in examples]
    trees = [tree for tree in map(_parsed, texts) if tree is not None]
    alias, line = _module_import(trees, module)
    return Style(_grouping(trees), alias, line, _quote(texts))


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _grouping(trees: Sequence[ast.Module]) -> Grouping:
    functions = in_classes = in_cases = 0
    for node in (statement for tree in trees for statement in tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            functions += 1
        elif isinstance(node, ast.ClassDef):
            count = sum(isinstance(m, ast.FunctionDef) and m.name.startswith("test") for m in node.body)
            if any("TestCase" in ast.unparse(base) for base in node.bases):
                in_cases += count
            elif node.name.startswith("Test"):
                in_classes += count
    if in_cases and not functions and not in_classes:
        return "unittest"
    return "classes" if in_classes > functions else "functions"


def _module_import(trees: Sequence[ast.Module], module: str) -> tuple[str, str]:
    """Return how the examples bind the module as a whole, if they bind it so and import no name from it."""
    package, _, last = module.rpartition(".")
    found: list[tuple[str, str]] = []
    for node in (statement for tree in trees for statement in tree.body):
        if isinstance(node, ast.ImportFrom) and node.module == module and not node.level:
            return "", ""
        names = node.names if isinstance(node, ast.Import | ast.ImportFrom) else []
        for name in names:
            if isinstance(node, ast.Import) and name.name == module and (name.asname or "." not in module):
                found.append((name.asname or module, _import_text(module, name.asname)))
            elif (
                isinstance(node, ast.ImportFrom) and node.module == package and name.name == last and package
            ):
                suffix = f" as {name.asname}" if name.asname else ""
                found.append((name.asname or last, f"from {package} import {last}{suffix}"))
    return found[0] if found else ("", "")


def _import_text(module: str, asname: str | None) -> str:
    return f"import {module} as {asname}" if asname else f"import {module}"


def _quote(examples: Sequence[str]) -> str:
    single = double = 0
    for text in examples:
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.STRING:
                    body = re.sub(r"^[a-zA-Z]*", "", token.string)
                    single += body.startswith("'") and not body.startswith("'''") and '"' not in body
                    double += body.startswith('"') and not body.startswith('"""')
        except (tokenize.TokenError, SyntaxError, IndentationError):
            continue
    return "'" if single > 3 * double else '"'
