"""Whether a program reaches further than its own namespace: then it needs a process for each of its inputs."""

from __future__ import annotations

import ast
from collections.abc import Collection

_PURE = frozenset(
    [
        "abc",
        "bisect",
        "cmath",
        "collections",
        "copy",
        "dataclasses",
        "datetime",
        "enum",
        "fractions",
        "functools",
        "heapq",
        "itertools",
        "math",
        "numbers",
        "operator",
        "re",
        "statistics",
        "string",
        "textwrap",
        "typing",
        "unicodedata",
    ]
)
_REACHING = frozenset(
    [
        "globals",
        "exec",
        "eval",
        "compile",
        "setattr",
        "delattr",
        "open",
        "input",
        "vars",
        "breakpoint",
        "exit",
        "quit",
        "__import__",
        "__builtins__",
    ]
)
_OWN = frozenset(
    [
        "__init__",
        "__name__",
        "__str__",
        "__repr__",
        "__len__",
        "__iter__",
        "__next__",
        "__eq__",
        "__lt__",
        "__hash__",
        "__doc__",
        "__main__",
    ]
)


def reaches_further(program: str) -> bool:
    """Return whether running a program could change anything but its own namespace; True where that is not certain."""
    try:
        nodes = list(ast.walk(ast.parse(program)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # it does not run at all
    imported: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        if not {name.partition(".")[0] for name in modules} <= _PURE:
            return True
        imported.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    return any(_reaches(node, imported) for node in nodes)


def _reaches(node: ast.AST, imported: Collection[str]) -> bool:
    """Return whether a node names a way out, or gives something imported another attribute, which it would keep."""
    if isinstance(node, ast.Name):
        return node.id in _REACHING
    if not isinstance(node, ast.Attribute):
        return False
    if node.attr.startswith("__") and node.attr not in _OWN:
        return True
    stores = not isinstance(node.ctx, ast.Load)
    return stores and isinstance(node.value, ast.Name) and node.value.id in imported
