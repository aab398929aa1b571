"""Python source as data: decoding it, its functions, and what of it means something when it runs."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from bot.changes.diff import lines_of
from bot.domain import Function

_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_NO_CODE = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


class UnreadableError(ValueError):
    """A file is no Python source that can be read; the message says why in a few words."""


def decode(content: bytes) -> str:
    """Return a source file's text, by its byte order mark or coding comment (PEP 263), line ends as they are.

    Raises:
        UnreadableError: It is binary, names an unknown encoding, or is not in the encoding it names.
    """
    if b"\0" in content:
        raise UnreadableError("is binary")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:
        raise UnreadableError(f"cannot be decoded: {str(error).removesuffix(' for <string>')}") from None
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"cannot be decoded: line {line} is not {encoding}") from None
    except (LookupError, ValueError) as error:  # a codec that is not for text (`rot13`), or that only refuses
        raise UnreadableError(
            f"cannot be decoded: {(str(error).splitlines() or [type(error).__name__])[0]}"
        ) from None


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a decoded source.

    Raises:
        UnreadableError: It does not parse.
    """
    # As bytes, a coding comment would be obeyed; as text, it is ignored, which is right once decoded.
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # an invalid escape in the repository's code is not our user's concern
        try:
            return ast.parse(source.removeprefix("\ufeff"))
        except SyntaxError as error:
            raise UnreadableError(f"does not parse: line {error.lineno or 1}: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError) as error:
            reason = str(error) or "it is nested too deeply"
            raise UnreadableError(f"does not parse: {reason}") from None


def functions_of(source: str) -> tuple[Function, ...]:
    """Return every function and method in file order, nested ones as `Outer.method` and `f.<locals>.g`.

    Raises:
        UnreadableError: It does not parse.
    """
    found = [
        Function(qualname, first_line(node), first_line(node.body[0]), node.end_lineno or node.lineno)
        for qualname, node in _scopes(parse(source), "")
        if not isinstance(node, ast.ClassDef)
    ]
    return tuple(sorted(found, key=lambda function: (function.first, -function.last)))


def first_line(node: ast.stmt) -> int:
    """Return a statement's first line, its decorators included."""
    if not isinstance(node, _Scope):
        return node.lineno
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _scopes(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Scope]]:
    """Yield the functions and classes below a node, with their qualified names, outer ones first."""
    for statement in _statements(node):
        if isinstance(statement, _Scope):
            name = f"{prefix}{statement.name}"
            yield name, statement
            yield from _scopes(
                statement, f"{name}." if isinstance(statement, ast.ClassDef) else f"{name}.<locals>."
            )


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a scope, those inside its ifs, loops and the like included, but not those of inner scopes.

    It uses a stack of its own, since a long chain of `elif` is a deep tree.
    """
    stack: list[ast.AST] = list(reversed(list(_blocks(node))))
    while stack:
        inner = stack.pop()
        if isinstance(inner, ast.stmt):
            yield inner
        if not isinstance(inner, _Scope):
            stack.extend(reversed(list(_blocks(inner))))


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what holds statements directly below a node; expressions hold none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child


_METADATA = re.compile(r"__[a-z]+__|(?i:version|version_info|version_tuple)")


def without_behaviour(tree: ast.Module, lines: frozenset[int]) -> str:
    """Return which kind of statements a module's changed lines all belong to, if it is one without behaviour of its own.

    Args:
        tree: The module at head.
        lines: Lines that hold changed code.

    Returns:
        `imports`, `metadata` (`__version__`, `__all__` and their like), or "" if any line is part of anything else.
    """
    kinds: dict[int, str] = {}
    for statement in tree.body:
        kind = ""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            kind = "imports"
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if all(isinstance(name, ast.Name) and _METADATA.fullmatch(name.id) for name in targets):
                kind = "metadata"
        kinds |= dict.fromkeys(range(statement.lineno, (statement.end_lineno or 0) + 1), kind)
    found = {kinds.get(line, "") for line in lines}
    if "" in found or not found:
        return ""
    return "metadata" if "metadata" in found else "imports"


# ---------------------------------------------------------------- meaning


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of source that can be compared by itself: a function, or a statement of a module or class body.

    Attributes:
        key: The qualified name of the function, or of the scope that a statement stands in.
        meaning: Its syntax tree without positions and docstrings, as text.
    """

    key: str
    first: int
    last: int
    meaning: str
    is_function: bool


class Units:
    """The units of a module, and which of them each line belongs to."""

    def __init__(self, tree: ast.Module) -> None:
        self._units = tuple(_units(tree, "", ":"))
        self._meanings: dict[str, set[str]] = {}
        for unit in self._units:
            self._meanings.setdefault(unit.key, set()).add(unit.meaning)
        self._by_line: dict[int, Unit] = {}
        for unit in sorted(
            self._units, key=lambda unit: unit.first - unit.last
        ):  # inner ones overwrite outer ones
            self._by_line.update(dict.fromkeys(range(unit.first, unit.last + 1), unit))

    def at(self, line: int) -> Unit | None:
        """Return the innermost unit that holds a line; None for the head of a class, or between units."""
        return self._by_line.get(line)

    def has(self, unit: Unit) -> bool:
        """Return whether these hold a unit under the same key that means the same."""
        return unit.meaning in self._meanings.get(unit.key, ())


def _units(node: ast.AST, prefix: str, scope: str) -> Iterator[Unit]:
    """Yield the units below a node. `prefix` starts qualified names; `scope` is the key of plain statements."""
    direct = {id(child) for child in _blocks(node)} if isinstance(node, ast.Module | ast.ClassDef) else set()
    for statement in _statements(node):
        last = statement.end_lineno or statement.lineno
        if isinstance(statement, ast.ClassDef):
            name = f"{prefix}{statement.name}"
            yield from _units(statement, f"{name}.", f"{name}:")
        elif isinstance(statement, _Definition):
            name = f"{prefix}{statement.name}"
            yield Unit(name, first_line(statement), last, meaning(statement), True)
            yield from _units(statement, f"{name}.<locals>.", f"{name}:")
        elif id(statement) in direct:
            yield Unit(scope, statement.lineno, last, meaning(statement), False)


_CLOSE = object()


def meaning(node: ast.AST) -> str:
    """Return what a syntax tree says, without positions, comments and docstrings.

    It uses a stack of its own: a sum of a thousand terms is a tree a thousand deep.
    """
    parts: list[str] = []
    stack: list[object] = [node]
    while stack:
        item = stack.pop()
        if item is _CLOSE:
            parts.append(")")
        elif isinstance(item, list):
            parts.append("(")
            stack.extend([_CLOSE, *reversed(item)])
        elif isinstance(item, ast.AST):
            parts.append(f"{type(item).__name__}(")
            stack.extend([_CLOSE, *reversed(_telling_fields(item))])
        else:
            parts.append(repr(item))
    return " ".join(parts)


def _telling_fields(node: ast.AST) -> list[object]:
    """Return the values of a node's fields that bear meaning."""
    docstring = _docstring(node)
    return [
        value[1:] if name == "body" and docstring is not None else value
        for name, value in ast.iter_fields(node)
        if name not in ("kind", "type_comment", "type_ignores")
    ]


def _docstring(node: ast.AST) -> ast.Expr | None:
    """Return the statement that is the docstring of a module, class or function; None if it has none."""
    if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.body:
        first = node.body[0]
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            return first
    return None


def code_lines(source: str, tree: ast.Module) -> frozenset[int]:
    """Return the lines that hold code: not those with nothing but white space, comments or a docstring."""
    docstrings = {
        (docstring.lineno, docstring.col_offset)
        for docstring in map(_docstring, ast.walk(tree))
        if docstring is not None
    }
    lines = lines_of(source.removeprefix("\ufeff"))
    held: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(f"{line}\n" for line in lines)).readline):
            row, column = token.start
            # The tree counts columns in bytes, the tokens in characters.
            place = (
                row,
                len(lines[row - 1][:column].encode("utf-8", "surrogatepass")) if row <= len(lines) else 0,
            )
            if token.type not in _NO_CODE and not (token.type == tokenize.STRING and place in docstrings):
                held.update(range(row, token.end[0] + 1))
    except (
        tokenize.TokenError,
        SyntaxError,
    ):  # the tokenizer is stricter than the parser in a few odd places
        return frozenset(number for number, line in enumerate(lines, 1) if line.strip())
    return frozenset(held)
