"""Pieces of a module that compile alone: a function with its decorators, or a statement outside of functions.

A mutant changes one piece. Compiling that piece instead of the module gives the same code objects in a fraction of
the time, since code depends on nothing around it but the names of the classes and what the module imports.
Used by the host (which mutants are equivalent) and by the engine in the guest (what to put in place).
"""

from __future__ import annotations
import __future__

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, Optional, Union, cast

from .sameness import FunctionNode, blocks, is_plain_class, same_code, without_unevaluated_annotations

_LINE = re.compile(r"\r\n|\r|\n")
_BLOCKS = (ast.If, ast.Try, *((ast.TryStar,) if hasattr(ast, "TryStar") else ()))


@dataclass(frozen=True)
class Unit:
    """A piece of a module.

    Attributes:
        first, last: Its lines, decorators included.
        outer: What it lies in, outermost first, as (line, header to compile in its place).
        function: Whether it is a function (the outermost one around a mutant), and not a bare statement.
        body: For a function, the first line that runs when it is called and not when it is defined; 0 otherwise.
        name: Qualified name of the function, or of the class that holds the statement.
    """

    first: int
    last: int
    outer: tuple[tuple[int, str], ...]
    function: bool
    body: int
    name: str


class Module:
    """A module's text with the pieces in it.

    Args:
        source: The text.

    Raises:
        SyntaxError: It does not compile under this Python (ValueError, RecursionError, MemoryError likewise).
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._tree = _parse(source)
        _compile(self._tree, 0)  # finds what parsing alone does not: `return` outside a function
        self._starts = [0, *(match.end() for match in _LINE.finditer(source)), len(source)]
        self.flags = _future_flags(self._tree)
        self._imports = _imports(self._tree)
        self._units: dict[tuple[int, int], Unit] = {}
        self._reference: dict[Unit, CodeType] = {}
        self._unchecked = (*_type_checking_lines(self._tree), *_overload_lines(self._tree))

    def unit(self, first: int, last: int) -> Unit:
        """Return the smallest piece that holds these lines."""
        key = (first, last)
        if key not in self._units:
            self._units[key] = self._find(first, last)
        return self._units[key]

    def header(self, first: int, last: int) -> tuple[int, int]:
        """Return the lines of the statement that holds these lines, without the blocks below it.

        Coverage counts a statement of several lines as its first line.
        """
        found = (first, last)
        body: list[ast.stmt] = self._tree.body
        while True:
            inside = [
                node for node in body if _first_line(node) <= first and last <= cast("int", node.end_lineno)
            ]
            if not inside:
                return found
            node = inside[0]
            below = [statement for block in blocks(node) for statement in block]
            end = min(
                (_first_line(statement) - 1 for statement in below), default=cast("int", node.end_lineno)
            )
            found = (_first_line(node), max(end, node.lineno))
            if last <= found[1]:
                return found
            handler = _handler_lines(node, first, last)
            if handler is not None:
                return handler
            body = below

    def compiled(self, unit: Unit, splice: Optional[tuple[int, int, str]] = None) -> CodeType:
        """Compile a piece, as it stands or with `source[start:end]` replaced; lines are those of the module.

        Raises:
            SyntaxError: It does not compile (ValueError, RecursionError, MemoryError likewise).
        """
        return _compile(_parse(self.text(unit, splice)), self.flags)

    def compiled_tree(self, tree: ast.Module) -> CodeType:
        """Compile a piece that was parsed and changed."""
        return _compile(ast.fix_missing_locations(tree), self.flags)

    def place(self, node: ast.expr) -> tuple[int, int]:
        """Return where an expression of a piece, or of the module, begins and ends in the text."""
        return self._offset(node.lineno, node.col_offset), self._offset(
            cast("int", node.end_lineno), cast("int", node.end_col_offset)
        )

    def span(self, unit: Unit) -> tuple[int, int]:
        """Return where a piece begins and ends in the text."""
        return self._starts[unit.first - 1], self._starts[unit.last]

    def text(self, unit: Unit, splice: Optional[tuple[int, int, str]] = None) -> str:
        """Return a piece as a module of its own that keeps its line numbers."""
        parts = []
        line = 1
        for number, header in unit.outer:
            parts.append("\n" * (number - line) + header + "\n")
            line = number + 1
        parts.append("\n" * (unit.first - line))
        begin, end = self.span(unit)
        if splice is None:
            parts.append(self.source[begin:end])
        else:
            start, stop, replacement = splice
            parts.extend((self.source[begin:start], replacement, self.source[stop : max(end, stop)]))
        parts.append(self._imports)
        return "".join(parts)

    def is_equivalent(self, first: int, last: int, splice: tuple[int, int, str]) -> bool:
        """Whether a mutant can make no difference: its code is the original's, but for line numbers.

        Annotations that nothing evaluates do not count as code: with `from __future__ import annotations` those of
        functions, of module variables, and of classes whose making looks at none. Nor does what stands under
        `if TYPE_CHECKING:`, or in an `@overload` that the function itself follows.

        Raises:
            SyntaxError: The mutant does not compile (ValueError, RecursionError, MemoryError likewise).
        """
        unit = self.unit(first, last)
        mutated = _parse(self.text(unit, splice))
        lazily = bool(self.flags & __future__.annotations.compiler_flag)
        _compile(mutated, self.flags)
        if any(begin <= first and last <= end for begin, end in self._unchecked):
            return True
        if unit not in self._reference:
            original = _parse(self.text(unit))
            self._reference[unit] = _compile(
                without_unevaluated_annotations(original) if lazily else original, self.flags
            )
        code = _compile(without_unevaluated_annotations(mutated) if lazily else mutated, self.flags)
        return same_code(code, self._reference[unit])

    def _find(self, first: int, last: int) -> Unit:
        outer: list[tuple[int, str]] = []
        names: list[str] = []
        body: list[ast.stmt] = self._tree.body
        while True:
            touching = [
                node for node in body if _first_line(node) <= last and first <= cast("int", node.end_lineno)
            ]
            if len(touching) != 1 or _shares_a_line(touching[0], body):
                return self._statement(touching or body, outer, names)
            node = touching[0]
            if isinstance(node, FunctionNode):
                names.append(node.name)
                return Unit(
                    _first_line(node),
                    cast("int", node.end_lineno),
                    tuple(outer),
                    True,
                    _body_line(node),
                    ".".join(names),
                )
            below = self._block_around(node, first, last)
            if below is None:
                return self._statement([node], outer, names)
            indent = self._indent(node.lineno)
            if isinstance(node, ast.ClassDef):
                names.append(node.name)
                outer.append((node.lineno, f"{indent}class {node.name}{_base(node)}:"))
            else:
                outer.append((node.lineno, f"{indent}if _:"))
            body = below

    def _block_around(self, node: ast.stmt, first: int, last: int) -> Optional[list[ast.stmt]]:
        """Return the block of a class, `if` or `try` that holds these lines alone, if there is one."""
        if not isinstance(node, (ast.ClassDef, *_BLOCKS)):
            return None
        for block in blocks(node):
            if not (_first_line(block[0]) <= first and last <= cast("int", block[-1].end_lineno)):
                continue
            if _is_elif(node, block):
                # An `elif` is no statement that could stand alone, but what is below it may be.
                return self._block_around(block[0], first, last)
            return block if self._begins_its_line(block[0]) else None
        return None

    def _begins_its_line(self, node: ast.stmt) -> bool:
        """Whether nothing stands before a statement on its line, such as `else:`."""
        return bool(getattr(node, "decorator_list", [])) or node.col_offset == len(self._indent(node.lineno))

    def _statement(self, nodes: list[ast.stmt], outer: list[tuple[int, str]], names: list[str]) -> Unit:
        first = min(_first_line(node) for node in nodes)
        last = max(cast("int", node.end_lineno) for node in nodes)
        return Unit(first, last, tuple(outer), False, 0, ".".join(names))

    def _offset(self, line: int, column: int) -> int:
        """Return the place in the text of a column, which counts bytes."""
        start = self._starts[line - 1]
        text = self.source[start : self._starts[line]]
        return start + (column if text.isascii() else len(text.encode()[:column].decode()))

    def _indent(self, line: int) -> str:
        text = self.source[self._starts[line - 1] : self._starts[line]]
        return text[: len(text) - len(text.lstrip(" \t\f"))]


def _parse(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def _compile(tree: ast.Module, flags: int) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cast("CodeType", compile(tree, "<unit>", "exec", flags=flags, dont_inherit=True))


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


def _imports(tree: ast.Module) -> str:
    """Return a last line that imports every name which the module's own statements import.

    From Python 3.11 on, a call of an attribute compiles differently where the module has imported what is before the
    dot, wherever that stands.
    """
    names: set[str] = set()
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif not isinstance(node, (*FunctionNode, ast.ClassDef)):
            waiting.extend(statement for block in blocks(node) for statement in block)
    names.discard("*")
    return f"\nimport {', '.join(sorted(names))}\n" if names else ""


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _body_line(node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> int:
    """Return the first line of which all runs at a call: the body's, or the next if the header ends there."""
    parts: list[Any] = [*ast.walk(node.args), *([node.returns] if node.returns else [])]
    header = max([node.lineno, *(getattr(part, "end_lineno", None) or 0 for part in parts)])
    return max(_first_line(node.body[0]), header + 1)


def _shares_a_line(node: ast.stmt, body: list[ast.stmt]) -> bool:
    return any(
        other is not node
        and _first_line(other) <= cast("int", node.end_lineno)
        and _first_line(node) <= cast("int", other.end_lineno)
        for other in body
    )


def _is_elif(node: ast.stmt, block: list[ast.stmt]) -> bool:
    """Whether a block of an `if` is its `elif`, which begins as deep as the `if` (an `else` block is deeper)."""
    return isinstance(node, ast.If) and block is node.orelse and block[0].col_offset == node.col_offset


def _handler_lines(node: ast.stmt, first: int, last: int) -> Optional[tuple[int, int]]:
    """Return the lines of an `except` header, or of a `case` pattern, if these lines are in it."""
    for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
        begin = part.lineno if hasattr(part, "lineno") else part.pattern.lineno
        end = max(begin, _first_line(part.body[0]) - 1)
        if begin <= first and last <= end:
            return begin, end
    return None


def _base(node: ast.ClassDef) -> str:
    """Return the bases of a class's stand-in: one that may look at annotations, if the class's own may."""
    return "" if is_plain_class(node) else "(_)"


def _overload_lines(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield the lines of overloads whose name is defined again below: what the interpreter makes of them is dropped."""
    for body in [tree.body, *(block for node in ast.walk(tree) for block in blocks(node))]:
        functions = [node for node in body if isinstance(node, FunctionNode)]
        real = {node.name: node.lineno for node in functions if not _is_overload(node)}
        for node in functions:
            if _is_overload(node) and node.lineno < real.get(node.name, 0):
                yield _first_line(node), cast("int", node.end_lineno)


def _is_overload(node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> bool:
    names = (getattr(each, "attr", getattr(each, "id", "")) for each in node.decorator_list)
    return "overload" in names


def _type_checking_lines(tree: ast.Module) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and (
            (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
            or (isinstance(node.test, ast.Attribute) and node.test.attr == "TYPE_CHECKING")
        ):
            first = _first_line(node.body[0])
            if first > cast("int", node.test.end_lineno):
                yield first, cast("int", node.body[-1].end_lineno)
