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
    """The functions of a source file, ready to be emptied; what it takes is compiled once.

    Args:
        source: The file's text.
        path: Its path, for the code's file name.

    Raises:
        SyntaxError: The text does not compile (ValueError likewise).
    """

    def __init__(self, source: str, path: str) -> None:
        self._path = path
        self._tree = ast.parse(source)
        self._places = list(_functions(self._tree))
        self._codes = self._emptied_codes()

    def executed(self, lines: Collection[int]) -> frozenset[int]:
        """Return the functions with one of these executed lines in their body."""
        return frozenset(
            place
            for place, (node, _) in enumerate(self._places)
            if any(first <= line <= last for first, last in [_body_lines(node)] for line in lines)
        )

    def source(self, chosen: Collection[int]) -> str:
        """Return the file's text with these functions emptied, for whoever imports it anew."""
        tree = copy.deepcopy(self._tree)
        for place, (node, _) in enumerate(list(_functions(tree))):
            if place in chosen:
                _empty(node)
        return ast.unparse(ast.fix_missing_locations(tree))

    def put_in_place(self, functions: Functions, chosen: Collection[int]) -> None:
        """Empty these live functions: all that were made from the file, wherever they are referred to."""
        wanted = {(_name(node), _first_line(node)) for node, _ in map(self._places.__getitem__, chosen)}
        for function in functions:
            key = _key(function.__code__)
            code = self._codes.get(key) if key[:2] in wanted else None
            if code is not None:
                function.__code__ = code.replace(co_filename=function.__code__.co_filename)

    def _emptied_codes(self) -> dict[Key, CodeType]:
        """Return the emptied code by the function's name, line, parameters and free variables.

        A function within another is gone once that one is emptied, but may live already (what a decorator has
        returned). So the functions of each depth are emptied with those around them left whole.
        """
        found: dict[Key, CodeType] = {}
        for depth in sorted({at for _, at in self._places}):
            tree = copy.deepcopy(self._tree)
            wanted = set()
            for node, at in list(_functions(tree)):
                if at == depth:
                    wanted.add((_name(node), _first_line(node)))
                    _empty(node)
            code = compile(ast.fix_missing_locations(tree), self._path, "exec", dont_inherit=True)
            found.update(
                (_key(each), each)
                for each in _all_code(code)
                if (each.co_name, each.co_firstlineno) in wanted
            )
        return found


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
