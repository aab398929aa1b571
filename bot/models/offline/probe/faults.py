"""Small faults of the module under test, made the way cosmic-ray's operators make them: by replacing a bit of text.

A fault inside a function is compiled alone (its function, in the shells of its classes) and swapped in by
`__code__`; a fault that shows while the module is imported needs the module executed anew.
"""

from __future__ import annotations
import __future__

import ast
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any

from . import watching

_COMPARISONS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_ORDERED = ("==", "!=", "<", "<=", ">", ">=")
_WITH_NONE = {"==": ("is not",), "!=": ("is",), "is": ("is not",), "is not": ("is",)}
_BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.RShift: ">>",
    ast.LShift: "<<",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
}
_UNARY = {ast.UAdd: "+", ast.USub: "-", ast.Invert: "~", ast.Not: "not"}


class Fault:
    """`source[start:end]` replaced by `text`.

    `scope` is the outermost function that holds it, None at import; `line` is where it is, `reached` the first line
    of the statement that holds it, by which one sees whether a case reaches it.
    """

    __slots__ = ("end", "line", "number", "reached", "scope", "start", "text", "what")

    def __init__(self, start: int, end: int, text: str, line: int, what: str, scope: Scope | None) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.line = line
        self.what = what
        self.scope = scope
        self.number = 0
        self.reached = line

    @property
    def mark(self) -> str:
        """The fault's short name: the tool's number for one that a tool has told, otherwise the probe's."""
        told = re.match(r"M\d+(?= )", self.what)
        return told[0] if told else f"f{self.number}"


class Scope:
    """An outermost function or method: its node and the classes around it."""

    __slots__ = ("classes", "node")

    def __init__(self, node: Any, classes: tuple[Any, ...]) -> None:
        self.node = node
        self.classes = classes

    @property
    def name(self) -> str:
        """Its qualified name."""
        return ".".join([*(shell.name for shell in self.classes), self.node.name])


class Text:
    """A source with the offsets of its lines, so that places in the tree become places in the text."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.ascii = source.isascii()

    def offset(self, line: int, column: int) -> int:
        """Return the character offset of a line and the tree's column (which counts UTF-8 bytes)."""
        if not self.ascii:
            column = len(self.lines[line - 1].encode()[:column].decode("utf-8", "ignore"))
        return self.starts[line - 1] + column

    def start(self, node: Any) -> int:
        """Return where a node starts."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: Any) -> int:
        """Return where a node ends."""
        return self.offset(node.end_lineno, node.end_col_offset)


def find(source: str, tree: ast.Module) -> list[Fault]:
    """Return the faults that can be made in a module, in the order of its text."""
    text = Text(source)
    found: list[Fault] = []
    for node, scope, line in _walk(tree, None, (), 1):
        for fault in _of_node(node, scope, text):
            fault.reached = line
            found.append(fault)
    found.sort(key=lambda fault: (fault.start, fault.what, fault.text))
    for number, fault in enumerate(found):
        fault.number = number
    return found


def places(tree: ast.Module, line: int) -> tuple[Scope | None, int]:
    """Return the scope of a line and the first line of the innermost statement that holds it."""
    scope: Scope | None = None
    reached = line
    for node, inner, _ in _walk(tree, None, (), 1):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            reached = node.lineno
            scope = inner
    return scope, reached


def _walk(
    node: Any, scope: Scope | None, classes: tuple[Any, ...], line: int
) -> Iterator[tuple[Any, Scope | None, int]]:
    """Yield every node with its scope and the line of the statement that holds it.

    Annotations are left out. A function's decorators and defaults belong to the scope around it, where they are
    evaluated; a handler belongs to its `try`.
    """
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            inner = scope
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and scope is None and name == "body":
                inner = Scope(node, classes)
            place = child.lineno if isinstance(child, ast.stmt) else line
            if isinstance(node, ast.arguments):
                place = line  # of the function's first statement: whoever gets there may have used a default
            elif isinstance(child, ast.arguments):
                place = (
                    getattr(node, "body", [child])[-1].lineno
                    if isinstance(getattr(node, "body", None), list)
                    else line
                )
            yield child, inner, place
            shells = (*classes, child) if isinstance(child, ast.ClassDef) and inner is None else classes
            yield from _walk(child, inner, shells, place)


def _of_node(node: Any, scope: Scope | None, text: Text) -> Iterator[Fault]:
    if isinstance(node, ast.Compare):
        yield from _comparisons(node, scope, text)
    elif isinstance(node, ast.BinOp):
        yield from _binaries(node.left, node.right, _BINARY.get(type(node.op)), scope, text)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, complex, bool):
        yield from _constants(node, scope, text)
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:]):  # noqa: B905 - Python 3.9 has no strict
            yield from _between(left, right, old, [new], scope, text, old)
    elif isinstance(node, ast.UnaryOp):
        yield from _unaries(node, scope, text)
    elif isinstance(node, (ast.Break, ast.Continue)):
        new = "continue" if isinstance(node, ast.Break) else "break"
        yield Fault(text.start(node), text.end(node), new, node.lineno, new, scope)
    elif isinstance(node, ast.ExceptHandler) and node.type is not None:
        names = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        for name in names:
            if isinstance(name, ast.Name):
                yield Fault(text.start(name), text.end(name), "__tf_Never__", node.lineno, "except", scope)
    if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
        place = text.start(node.test)
        while place and text.source[place - 1] == "(" and not isinstance(node.test, ast.Tuple):
            if text.source[place - 2 : place - 1].isalnum():
                break
            place -= 1
        yield Fault(place, place, "not ", node.test.lineno, "not", scope)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield Fault(text.start(node.iter), text.end(node.iter), "[]", node.lineno, "empty loop", scope)
    for decorator in getattr(node, "decorator_list", ()):
        start = text.source.rindex("@", 0, text.start(decorator))
        yield Fault(start, text.end(decorator), "", decorator.lineno, "no decorator", scope)


def _comparisons(node: ast.Compare, scope: Scope | None, text: Text) -> Iterator[Fault]:
    operands = [node.left, *node.comparators]
    for index, op in enumerate(node.ops):
        old = _COMPARISONS.get(type(op))
        if old is None:
            continue
        right = operands[index + 1]
        new: tuple[str, ...]
        if isinstance(right, ast.Constant) and right.value is None:
            new = _WITH_NONE.get(old, ())
        elif isinstance(right, ast.Constant) and type(right.value) in (int, float, complex):
            new = _ORDERED
        else:
            new = tuple(_COMPARISONS.values())
        yield from _between(operands[index], right, old, [n for n in new if n != old], scope, text, old)


def _binaries(left: Any, right: Any, old: str | None, scope: Scope | None, text: Text) -> Iterator[Fault]:
    if old is not None:
        yield from _between(left, right, old, [n for n in _BINARY.values() if n != old], scope, text, old)


def _between(
    left: Any, right: Any, old: str, new: list[str], scope: Scope | None, text: Text, what: str
) -> Iterator[Fault]:
    """Yield faults that replace the operator between two operands."""
    first, last = text.end(left), text.start(right)
    gap = re.sub(r"#[^\n]*", lambda m: " " * len(m.group()), text.source[first:last])
    pattern = re.escape(old).replace(r"\ ", r"\s+")
    match = re.search(rf"\b{pattern}\b" if old.isalpha() or " " in old else pattern, gap)
    if match is None:
        return
    start, end = first + match.start(), first + match.end()
    line = left.end_lineno + text.source.count("\n", first, start)
    for replacement in new:
        yield Fault(start, end, replacement, line, f"{what} to {replacement}", scope)


def _constants(node: ast.Constant, scope: Scope | None, text: Text) -> Iterator[Fault]:
    start, end = text.start(node), text.end(node)
    if isinstance(node.value, bool):
        yield Fault(start, end, str(not node.value), node.lineno, f"{node.value} flipped", scope)
        return
    if not text.source[start:end][:1].isdigit() and text.source[start : start + 1] != ".":
        return  # inside an f-string before Python 3.12, where columns mean nothing
    for offset in (1, -1):
        old: Any = node.value
        yield Fault(start, end, f" {old + offset}", node.lineno, f"{offset:+d} on {old}", scope)


def _unaries(node: ast.UnaryOp, scope: Scope | None, text: Text) -> Iterator[Fault]:
    old = _UNARY[type(node.op)]
    start = text.start(node)
    new = [""] if old == "not" else [n for n in ("+", "-", "~", "not ", "") if n != old]
    for replacement in new:
        if old == "+" and not replacement:
            continue
        yield Fault(start, start + len(old), replacement, node.lineno, f"{old} to {replacement}", scope)


def flags_of(tree: ast.Module) -> int:
    """Return the compiler flags that the module's `from __future__` imports ask for."""
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


def compiled(source: Text, fault: Fault, path: str, flags: int) -> CodeType | None:
    """Return the faulty function's code in its shells, or None if it does not compile."""
    scope = fault.scope
    if scope is None:
        return None
    node = scope.node
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    begin = source.starts[first - 1]
    finish = source.starts[node.end_lineno]
    body = source.source[begin : fault.start] + fault.text + source.source[fault.end : finish]
    shells = "".join(" " * shell.col_offset + f"class {shell.name}:\n" for shell in scope.classes)
    padding = first - 1 - len(scope.classes)
    if scope.classes and node.col_offset <= scope.classes[-1].col_offset:
        return None
    try:
        tree = ast.parse("\n" * padding + shells + body)
        code: CodeType = compile(watching.tick(tree), path, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return code


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all that are nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def code_key(code: CodeType) -> tuple[Any, ...]:
    """Return by what a function's code is recognised in another version of the module."""
    return code.co_name, code.co_firstlineno
