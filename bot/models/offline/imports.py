"""The import block of a test file: merged, sorted as isort does, only what the code uses."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bot.models.offline.layout import WIDTH


@dataclass
class Imports:
    """Collects import statements and prints them once.

    Attributes:
        local: The top-level package under test, whose imports come last.
        plain: What `import x` lines name, aliases included.
        members: The names of `from x import ...` lines by module.
    """

    local: str
    plain: set[str] = field(default_factory=set)
    members: dict[str, set[str]] = field(default_factory=dict)

    def add(self, line: str) -> None:
        """Add one import statement; text that is none is passed over."""
        try:
            nodes = ast.parse(line.strip()).body
        except (SyntaxError, ValueError):
            return
        for node in nodes:
            if isinstance(node, ast.Import):
                self.plain.update(_alias(alias) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                self.members.setdefault(module, set()).update(_alias(alias) for alias in node.names)

    def add_members(self, module: str, names: Iterable[str]) -> None:
        """Add names to be imported from a module."""
        chosen = set(names)
        if chosen:
            self.members.setdefault(module, set()).update(chosen)

    def used_by(self, code: str) -> Imports:
        """Return only the imports whose names the code reads."""
        read = _names_read(code)
        kept = Imports(self.local)
        kept.plain = {text for text in self.plain if _bound(text, dotted=True) in read}
        for module, names in self.members.items():
            used = {name for name in names if name == "*" or _bound(name) in read or module == "__future__"}
            if used:
                kept.members[module] = used
        return kept

    def lines(self) -> list[str]:
        """Return the block's lines, a blank line between sections."""
        sections: dict[int, list[str]] = {}
        for text in sorted(self.plain, key=_natural):
            sections.setdefault(self._section(text), []).append(f"import {text}")
        for module in sorted(self.members, key=_natural):
            names = sorted(self.members[module], key=_member_key)
            sections.setdefault(self._section(module), []).extend(_from_lines(module, names))
        lines: list[str] = []
        for section in sorted(sections):
            lines += ["", *sections[section]] if lines else sections[section]
        return lines

    def _section(self, module: str) -> int:
        top = re.split(r"[.\s]", module)[0]
        if module == "__future__":
            return 0
        if module.startswith(".") or top == self.local:
            return 3
        return 1 if top in sys.stdlib_module_names else 2


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _bound(text: str, *, dotted: bool = False) -> str:
    name, _, alias = text.partition(" as ")
    return alias or (name.partition(".")[0] if dotted else name)


def _names_read(code: str) -> frozenset[str]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return frozenset(re.findall(r"\w+", code))
    return frozenset(_free(tree, frozenset()))


def _free(node: ast.AST, bound: frozenset[str]) -> Iterator[str]:
    """Yield the names that a piece of code takes from outside of its functions' parameters."""
    if isinstance(node, ast.Name) and node.id not in bound:
        yield node.id
    inner = bound
    if isinstance(node, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef):
        inner |= {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        for outer in (*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", ())):
            yield from _free(outer, bound) if outer is not None else ()
    for child in ast.iter_child_nodes(node):
        yield from _free(child, inner)


def _natural(text: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d+)", text.lower())
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts if part]


def _member_key(name: str) -> tuple[int, list[tuple[int, int, str]], str]:
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, _natural(name), name


def _from_lines(module: str, names: list[str]) -> list[str]:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in names), ")"]
