"""A source file with the bodies of chosen functions emptied: their docstring, then `return`, then what cannot be reached.

The body stays behind the `return`, where the compiler drops it. So a generator stays a generator, a coroutine a
coroutine, and the code has the free variables it had, without which a live function would not take it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator
from types import CodeType
from typing import Union

from .swapping import Functions

Node = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
Key = tuple[str, int, tuple[str, ...], tuple[str, ...]]
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Emptying:
    """The functions of a source file that hold some lines, ready to be emptied.

    Args:
        source: The file's text.
        path: Its path, for the code's file name.
        lines: Executed lines; every function with one of these in its body is to be emptied.

    Raises:
        SyntaxError: The text does not compile (ValueError likewise).
    """

    def __init__(self, source: str, path: str, lines: Collection[int]) -> None:
        self._path = path
        self._tree = ast.parse(source)
        self._chosen = {
            place
            for place, (node, _) in enumerate(_functions(self._tree))
            if any(first <= line <= last for first, last in [_body_lines(node)] for line in lines)
        }

    def __bool__(self) -> bool:
        return bool(self._chosen)

    def source(self) -> str:
        """Return the file's text with the functions emptied, for whoever imports it anew."""
        return ast.unparse(self._emptied(None))

    def put_in_place(self, functions: Functions) -> None:
        """Empty the live functions: all that were made from the file, wherever they are referred to."""
        codes = self._codes()
        for function in functions:
            code = codes.get(_key(function.__code__))
            if code is not None:
                function.__code__ = code.replace(co_filename=function.__code__.co_filename)

    def _codes(self) -> dict[Key, CodeType]:
        """Return the emptied code by the function's name, line, parameters and free variables.

        A function within another is gone once that one is emptied, but may live already (what a decorator has
        returned). So the functions of each depth are emptied with those around them left whole.
        """
        found: dict[Key, CodeType] = {}
        depths = {depth for place, (_, depth) in enumerate(_functions(self._tree)) if place in self._chosen}
        for depth in sorted(depths):
            tree = self._emptied(depth)
            wanted = {
                (_name(node), _first_line(node))
                for place, (node, at) in enumerate(_functions(self._tree))
                if place in self._chosen and at == depth
            }
            for code in _all_code(compile(tree, self._path, "exec", dont_inherit=True)):
                if (code.co_name, code.co_firstlineno) in wanted:
                    found[_key(code)] = code
        return found

    def _emptied(self, depth: int | None) -> ast.Module:
        tree = copy.deepcopy(self._tree)
        for place, (node, at) in enumerate(list(_functions(tree))):
            if place in self._chosen and depth in (None, at):
                _empty(node)
        return ast.fix_missing_locations(tree)


def _functions(tree: ast.AST, depth: int = 0) -> Iterator[tuple[Node, int]]:
    """Yield a tree's functions and lambdas in order, each with the number of functions around it."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child, depth
            yield from _functions(child, depth + 1)
        else:
            yield from _functions(child, depth)


def _empty(node: Node) -> None:
    if isinstance(node, ast.Lambda):
        node.body = ast.IfExp(test=ast.Constant(True), body=ast.Constant(None), orelse=node.body)
        return
    documented = ast.get_docstring(node, clean=False) is not None
    kept = node.body[:1] if documented else []
    node.body = [*kept, ast.copy_location(ast.Return(value=None), node.body[0]), *node.body[len(kept) :]]


def _body_lines(node: Node) -> tuple[int, int]:
    first = node.body[0] if isinstance(node, _DEFINITIONS) else node.body
    return first.lineno, node.end_lineno or first.lineno


def _name(node: Node) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _first_line(node: Node) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _all_code(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _all_code(constant)


def _key(code: CodeType) -> Key:
    parameters = code.co_argcount + code.co_kwonlyargcount
    return code.co_name, code.co_firstlineno, code.co_varnames[:parameters], code.co_freevars
