"""How a function uses its parameters, read from its code: what is called, iterated over, indexed or compared.

Where there are no annotations, this says which kinds of values are worth trying.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

_STRING_METHODS = frozenset(
    [
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "split",
        "rsplit",
        "replace",
        "startswith",
        "endswith",
        "title",
        "capitalize",
        "encode",
        "isdigit",
        "isalpha",
        "isupper",
        "islower",
        "isspace",
        "splitlines",
        "partition",
        "rpartition",
        "zfill",
        "center",
        "ljust",
        "rjust",
        "swapcase",
        "casefold",
        "translate",
        "isidentifier",
        "isnumeric",
        "isalnum",
        "expandtabs",
        "format",
        "removeprefix",
        "removesuffix",
        "join",
    ]
)
_DICT_METHODS = frozenset(["items", "keys", "values", "get", "setdefault", "update", "popitem"])
_LIST_METHODS = frozenset(["append", "extend", "insert", "sort", "reverse", "index", "remove"])
_SET_METHODS = frozenset(["add", "discard", "union", "intersection", "difference", "issubset", "issuperset"])
_ITERATING = frozenset(
    [
        "iter",
        "list",
        "tuple",
        "set",
        "sorted",
        "enumerate",
        "zip",
        "sum",
        "min",
        "max",
        "any",
        "all",
        "map",
        "filter",
        "frozenset",
        "reversed",
        "dict",
        "next",
        "islice",
        "chain",
        "takewhile",
        "dropwhile",
        "cycle",
        "deque",
        "Counter",
        "groupby",
        "product",
    ]
)
_NUMERIC = frozenset(
    [
        "abs",
        "round",
        "range",
        "divmod",
        "float",
        "int",
        "floor",
        "ceil",
        "isnan",
        "isinf",
        "isfinite",
        "log10",
        "sqrt",
        "log",
    ]
)
_TEXTUAL = frozenset(["ord", "sub", "match", "search", "fullmatch", "findall", "finditer", "normalize"])

_METHODS = (
    (_STRING_METHODS, "str"),
    (_DICT_METHODS, "dict"),
    (_LIST_METHODS, "list"),
    (_SET_METHODS, "set"),
)
_FUNCTIONS = (
    (frozenset(["len"]), "sized"),
    (_ITERATING, "iterable"),
    (_NUMERIC, "int"),
    (_TEXTUAL, "str"),
)
_TYPES = frozenset(["str", "int", "float", "dict", "list", "tuple", "bytes", "bool"])
_ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.RShift, ast.LShift)


class Uses:
    """What is done with one parameter: kinds of value (`str`, `int`, `iterable`, `dict` ...) and how it is called."""

    def __init__(self) -> None:
        self.kinds: dict[str, int] = {}
        self.calls: list[tuple[str, ...]] = []

    def add(self, kind: str) -> None:
        """Count one use as this kind."""
        self.kinds[kind] = self.kinds.get(kind, 0) + 1

    def likeliest(self) -> list[str]:
        """Return the kinds, the most used first."""
        return sorted(self.kinds, key=lambda kind: (-self.kinds[kind], kind))


def of_function(node: Any, shell: Any = None) -> dict[str, Uses]:
    """Return, by parameter name, how a function uses it; through attributes of `self` also how its class does.

    Args:
        node: The function's syntax tree.
        shell: The class that holds it, if it is a method.
    """
    uses: dict[str, Uses] = {}
    args = node.args
    names = [a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]]
    for name in names:
        uses[name] = Uses()
    stored = {}
    for child in ast.walk(node):
        _note(child, uses, lambda n: n.id if isinstance(n, ast.Name) else None)
        if isinstance(child, ast.Assign) and isinstance(child.value, ast.Name) and child.value.id in uses:
            for target in child.targets:
                if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                    stored[target.attr] = child.value.id
    if shell is not None and stored:
        by_attribute = {attribute: uses[name] for attribute, name in stored.items()}
        for child in ast.walk(shell):
            if child is not node:
                _note(child, by_attribute, _self_attribute)
    return uses


def _self_attribute(node: Any) -> str | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


def _note(node: Any, uses: dict[str, Uses], name_of: Any) -> None:
    for part, kind in _roles(node):
        name = name_of(part)
        if name in uses:
            uses[name].add(kind)
    if isinstance(node, ast.Call):
        name = name_of(node.func)
        if name in uses:
            uses[name].add("callable")
            uses[name].calls.append(tuple(_word(arg, i) for i, arg in enumerate(node.args)))


def _word(arg: Any, index: int) -> str:
    if isinstance(arg, ast.Name) and arg.id.isidentifier():
        return str(arg.id)
    return "xyzuvw"[index % 6]


def _roles(node: Any) -> Iterator[tuple[Any, str]]:
    """Yield the parts of a node that play a role from which a kind can be told."""
    if isinstance(node, (ast.For, ast.comprehension)):
        yield node.iter, "iterable"
    elif isinstance(node, ast.YieldFrom):
        yield node.value, "iterable"
    elif isinstance(node, ast.Subscript):
        yield node.value, "str" if isinstance(node.slice, ast.Slice) else "indexed"
        yield node.slice, "int"
    elif isinstance(node, ast.Attribute):
        for methods, kind in _METHODS:
            if node.attr in methods:
                yield node.value, kind
    elif isinstance(node, ast.Call):
        yield from _roles_in_call(node)
    elif isinstance(node, ast.BinOp):
        if isinstance(node.op, _ARITHMETIC):
            yield node.left, "int"
            yield node.right, "int"
        elif isinstance(node.op, ast.Mod):
            yield node.left, "int"
    elif isinstance(node, ast.Compare):
        yield from _roles_in_comparison(node)


def _roles_in_call(node: ast.Call) -> Iterator[tuple[Any, str]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "callable" and node.args:
        yield node.args[0], "callable"
    kind = next((kind for names, kind in _FUNCTIONS if name in names), "")
    if kind:
        for arg in node.args:
            yield arg, kind
    if name == "isinstance" and len(node.args) == 2:
        for leaf in ast.walk(node.args[1]):
            if isinstance(leaf, ast.Name) and leaf.id in _TYPES:
                yield node.args[0], leaf.id


def _roles_in_comparison(node: ast.Compare) -> Iterator[tuple[Any, str]]:
    sides = [node.left, *node.comparators]
    if any(isinstance(op, (ast.Lt, ast.Gt, ast.LtE, ast.GtE)) for op in node.ops):
        for side in sides:
            yield side, "int"
    for side in sides:
        if isinstance(side, ast.Constant) and type(side.value) in (int, float, str):
            for other in sides:
                yield other, "str" if isinstance(side.value, str) else "int"
    if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
        yield node.comparators[-1], "container"
