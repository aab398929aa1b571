"""The parameters of a callable, with the texts of their defaults and the trees of their annotations."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from .programs import Param

_STARS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}


def params_of(value: Any, node: Any, bound: bool) -> list[Param] | None:
    """Return the parameters of a callable, the receiver left out; None if they are not known."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    annotations = {}
    if node is not None and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for arg in [
            *node.args.posonlyargs,
            *node.args.args,
            *node.args.kwonlyargs,
            node.args.vararg,
            node.args.kwarg,
        ]:
            if arg is not None:
                annotations[arg.arg] = arg.annotation
    params = []
    listed = list(signature.parameters.values())
    if bound and not inspect.isclass(value) and listed:
        listed = listed[1:]
    for parameter in listed:
        star = _STARS.get(str(parameter.kind.name), "")
        default = None
        if parameter.default is not parameter.empty:
            default = _default_text(parameter.default)
        annotation = annotations.get(parameter.name)
        if annotation is None and parameter.annotation is not parameter.empty:
            annotation = _annotation(parameter.annotation)
        keyword_only = parameter.kind is parameter.KEYWORD_ONLY
        by_name = keyword_only or (default is not None and parameter.kind is not parameter.POSITIONAL_ONLY)
        params.append(Param(parameter.name, default, by_name, star, annotation))
    return params


def _annotation(value: Any) -> ast.expr | None:
    told = (
        value
        if isinstance(value, str)
        else getattr(value, "__name__", None)
        if inspect.isclass(value)
        else str(value)
    )
    try:
        return ast.parse(str(told).replace("typing.", ""), mode="eval").body
    except SyntaxError:
        return None


def _default_text(value: Any) -> str:
    if isinstance(value, (int, float, str, bytes, bool, type(None))):
        return repr(value)
    if isinstance(value, (tuple, list, dict)) and len(repr(value)) < 60:
        return repr(value)
    return "..."
