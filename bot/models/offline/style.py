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
        through: The names that are reached through `alias`, where it is the package's; None for all.
        holder: What a `unittest` class is called: `{}` stands for its subject.
    """

    grouping: Grouping = "functions"
    alias: str = ""
    import_line: str = ""
    quote: str = '"'
    through: frozenset[str] | None = None
    holder: str = "{}Test"

    def spells(self, name: str) -> bool:
        """Whether a name of the module under test is written behind `alias`."""
        return bool(self.alias) and (self.through is None or name in self.through)


def read(examples: Sequence[tuple[str, str]], module: str, source: str = "") -> Style:
    """Return the style that most of the examples share; without any, functions, imported names, double quotes.

    Args:
        examples: Existing tests, as (path, text).
        module: The dotted path of the module under test.
        source: Its text, which tells the names that its package may pass on.
    """
    texts = [text for _, text in examples]
    trees = [tree for tree in map(_parsed, texts) if tree is not None]
    alias, line = _module_import(trees, module)
    through = None
    if not alias:
        alias, line, through = _package_import(trees, module, _passed_on(source))
    return Style(_grouping(trees), alias, line, _quote(texts), through, _holder(trees))


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


def _passed_on(source: str) -> frozenset[str]:
    """Return the names in a module's `__all__`; none if it has none."""
    tree = _parsed(source)
    for node in tree.body if tree else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = [n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
            return frozenset(name for name in names if isinstance(name, str))
    return frozenset()


def _package_import(
    trees: Sequence[ast.Module], module: str, public: frozenset[str]
) -> tuple[str, str, frozenset[str] | None]:
    """Return how the examples reach what the module makes public through its package, and which names these are.

    Nothing if they import names of the module, or of the package, one by one.
    """
    package = module.rpartition(".")[0]
    found: list[tuple[str, str]] = []
    for node in (statement for tree in trees for statement in tree.body):
        if isinstance(node, ast.ImportFrom) and node.module in (package, module) and not node.level:
            return "", "", None
        for name in node.names if isinstance(node, ast.Import) else []:
            if package and name.name == package and (name.asname or "." not in package):
                found.append((name.asname or package, _import_text(package, name.asname)))
    if not found:
        return "", "", None
    alias, line = found[0]
    attributes = (n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Attribute))
    used = {n.attr for n in attributes if isinstance(n.value, ast.Name) and n.value.id == alias}
    return (alias, line, public) if used & public else ("", "", None)


def _holder(trees: Sequence[ast.Module]) -> str:
    """Return what most of the examples' classes of tests are called."""
    forms = {"{}Tests": 0, "{}TestCase": 0, "Test{}": 0, "{}Test": 0}
    for node in (statement for tree in trees for statement in tree.body):
        if isinstance(node, ast.ClassDef) and node.bases:
            for form in forms:
                before, after = form.split("{}")
                if node.name.startswith(before) and node.name.endswith(after) and len(node.name) > len(form):
                    forms[form] += 1
                    break
    return max(forms, key=lambda form: (forms[form], form == "{}Test"))


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
