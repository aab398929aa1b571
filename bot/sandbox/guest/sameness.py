"""Whether two pieces of code do the same: code objects, and syntax trees without what nothing evaluates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any, Union

FunctionNode = (ast.FunctionDef, ast.AsyncFunctionDef)
# Decorators that look at no annotation of what they decorate.
_BLIND_DECORATORS = frozenset(
    [
        "property",
        "cached_property",
        "staticmethod",
        "classmethod",
        "abstractmethod",
        "setter",
        "getter",
        "deleter",
        "override",
        "final",
        "lru_cache",
        "cache",
        "wraps",
        "contextmanager",
        "asynccontextmanager",
        "overload",
        "no_type_check",
        "total_ordering",
    ]
)

# Base classes, and metaclasses, that look at no annotation of the class below them.
_BLIND_BASES = frozenset(
    [
        "object",
        "Generic",
        "Protocol",
        "ABC",
        "ABCMeta",
        "Exception",
        "ValueError",
        "TypeError",
        "RuntimeError",
        "KeyError",
    ]
)


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same, line numbers and columns aside."""
    for name in [
        "co_name",
        "co_flags",
        "co_code",
        "co_names",
        "co_varnames",
        "co_freevars",
        "co_cellvars",
        "co_argcount",
        "co_posonlyargcount",
        "co_kwonlyargcount",
        "co_exceptiontable",
    ]:
        if getattr(one, name, None) != getattr(other, name, None):
            return False
    return len(one.co_consts) == len(other.co_consts) and all(
        map(_same_constant, one.co_consts, other.co_consts)
    )


def _same_constant(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, CodeType):
        return same_code(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same_constant, one, other))
    if isinstance(one, frozenset):
        return sorted(map(_kind, one)) == sorted(map(_kind, other))
    return _kind(one) == _kind(other)


def _kind(constant: object) -> str:
    """Tell 1, 1.0 and True apart, and 0.0 from -0.0."""
    return f"{type(constant).__name__} {constant!r}"


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements directly below a statement, those of `except` and `case` included."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                yield value
            elif not isinstance(value[0], (ast.expr, ast.keyword, ast.withitem)):
                for part in value:
                    if isinstance(part, ast.AST):
                        yield from blocks(part)


def without_unevaluated_annotations(tree: ast.Module) -> ast.Module:
    """Replace, in place, the annotations that nothing evaluates under `from __future__ import annotations`."""
    _blank(tree.body, True)
    return tree


def _blank(body: list[ast.stmt], plain: bool) -> None:
    for node in body:
        if isinstance(node, ast.AnnAssign):
            if plain:
                node.annotation = ast.copy_location(ast.Constant(None), node.annotation)
        elif isinstance(node, FunctionNode):
            if all(_is_blind(decorator) for decorator in node.decorator_list):
                _blank_signature(node)
            _blank(node.body, True)
        elif isinstance(node, ast.ClassDef):
            _blank(node.body, is_plain_class(node))
        else:
            for block in blocks(node):
                _blank(block, plain)


def is_plain_class(node: ast.ClassDef) -> bool:
    """Whether nothing that makes a class looks at the annotations in it."""
    above = [*node.bases, *(keyword.value for keyword in node.keywords)]
    return not node.decorator_list and all(map(_is_blind_base, above))


def _is_blind_base(base: ast.expr) -> bool:
    if isinstance(base, ast.Subscript):
        base = base.value
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    return name in _BLIND_BASES


def _blank_signature(node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> None:
    arguments = node.args
    for argument in (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        *filter(None, (arguments.vararg, arguments.kwarg)),
    ):
        if argument.annotation is not None:
            argument.annotation = ast.copy_location(ast.Constant(None), argument.annotation)
    if node.returns is not None:
        node.returns = ast.copy_location(ast.Constant(None), node.returns)


def _is_blind(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name in _BLIND_DECORATORS
