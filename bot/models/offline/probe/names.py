"""The names that a case's texts read: where each comes from, and its value."""

from __future__ import annotations

import ast
import builtins
from types import ModuleType
from typing import Any

from .looping import Asyncio
from .patches import Patches

IMPORTS = {
    **{
        name: f"import {name}"
        for name in ("re", "operator", "math", "copy", "pickle", "itertools", "functools", "string")
    },
    **{
        name: f"from collections import {name}"
        for name in ("OrderedDict", "defaultdict", "Counter", "deque", "namedtuple")
    },
    **{
        name: f"from datetime import {name}" for name in ("datetime", "date", "timedelta", "timezone", "time")
    },
    "asyncio": "import asyncio",
    "collections": "import collections",
    "Decimal": "from decimal import Decimal",
    "Fraction": "from fractions import Fraction",
    "Path": "from pathlib import Path",
    "PurePath": "from pathlib import PurePath",
    "UUID": "from uuid import UUID",
    "islice": "from itertools import islice",
    "partial": "from functools import partial",
    "StringIO": "from io import StringIO",
    "BytesIO": "from io import BytesIO",
    "SimpleNamespace": "from types import SimpleNamespace",
}


class Names:
    """Knows the module's names and those that a test can import.

    Attributes:
        defined: Names that the module itself defines at its top level.
        imported: Import lines of further names: what the module imports, and what the repository's tests do.
        home: The name by which a test calls the module itself; empty if that name means something else in it.
        patches: What cases call `monkeypatch`.
    """

    def __init__(self, module: ModuleType, tree: ast.Module) -> None:
        self.module = module
        self.defined = _defined(tree)
        self.imported = _imported(tree, module)
        package, _, last = module.__name__.rpartition(".")
        self.home = "" if last in vars(module) or last in IMPORTS or hasattr(builtins, last) else last
        self._home_line = f"from {package} import {last}" if package else f"import {last}"
        self.patches = Patches()
        self._read: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, Any] = {}
        if any(isinstance(node, ast.AsyncFunctionDef) for node in ast.walk(tree)):
            self._known["asyncio"] = Asyncio()
        self._sources: dict[str, tuple[tuple[str, str], ...]] = {}

    def adopt(self, module: ModuleType) -> None:
        """Look names up in this version of the module from now on."""
        self.module = module

    def read_by(self, text: str) -> tuple[str, ...]:
        """Return the names that a text reads."""
        found = self._read.get(text)
        if found is None:
            nodes = list(ast.walk(ast.parse(text)))
            own = {n.arg for n in nodes if isinstance(n, ast.arg)}
            read = (n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
            found = tuple(name for name in dict.fromkeys(read) if name not in own)
            self._read[text] = found
        return found

    def origin(self, name: str) -> str:
        """Return where a name comes from: `module`, `import`, `fixture`, or nothing (builtin, bound before, unknown)."""
        if name in self.defined:
            return "module"
        if name in self.imported or name in IMPORTS or (name == self.home and name):
            return "import"
        if name == "monkeypatch":
            return "fixture"
        if hasattr(builtins, name):
            return ""
        return "module" if name in vars(self.module) else ""

    def line(self, name: str) -> str:
        """Return the import line that binds a name."""
        return self.imported.get(name) or IMPORTS.get(name) or self._home_line

    def space(self, steps: list[str]) -> dict[str, Any]:
        """Return globals in which these texts can be executed."""
        space: dict[str, Any] = {}
        for text in steps:
            for name, origin in self.sources(text):
                if origin == "module":
                    space[name] = getattr(self.module, name)
                elif origin == "fixture":
                    space[name] = self.patches
                elif self.line(name) == self._home_line:  # also a faulty version of it
                    space[name] = self.module
                else:
                    if name not in self._known:
                        exec(self.line(name), self._known)
                    space[name] = self._known[name]
        return space

    def sources(self, text: str) -> tuple[tuple[str, str], ...]:
        """Return the names that a text reads and that are not its own or Python's, each with its origin."""
        found = self._sources.get(text)
        if found is None:
            origins = [(name, self.origin(name)) for name in self.read_by(text)]
            found = self._sources[text] = tuple(pair for pair in origins if pair[1])
        return found


def _imported(tree: ast.Module, module: ModuleType) -> dict[str, str]:
    """Return, by name, the import lines by which a test gets what the module imports from elsewhere."""
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                told = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
                found[alias.asname or alias.name.partition(".")[0]] = told
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            home = node.module or ""
            if node.level:
                parts = package.split(".")
                home = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])
            for alias in node.names:
                told = f"from {home} import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
                found[alias.asname or alias.name] = told
    return {name: line for name, line in found.items() if name in vars(module)}


def _defined(tree: ast.Module) -> frozenset[str]:
    """Return the names that a module itself defines at its top level."""
    found: set[str] = set()
    todo: list[Any] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            found.update(
                n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            )
        for name in ("body", "orelse", "finalbody", "handlers"):
            todo.extend(getattr(node, name, []))
    return frozenset(found)
