"""Code whose mutants a repository has configured to leave out: what is for people to read, and not for programs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from bot.sandbox.guest.sameness import FunctionNode

REPR, LOGGING = "repr", "logging"
"""The kinds: methods that show an object, and statements that do no more than log."""
_SHOWING = frozenset(["__repr__", "__str__"])
_LOGGERS = frozenset(["log", "logger", "logging"])
_LEVELS = frozenset(["debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"])


def excluded_lines(source: str, kinds: Collection[str]) -> tuple[tuple[int, int], ...]:
    """Return the lines of code of the chosen kinds, as (first, last); none where the text is no Python.

    Args:
        source: A module's text.
        kinds: `REPR`: bodies of `__repr__` and `__str__`. `LOGGING`: calls such as `self._log.info(...)`, `logger.debug(...)`,
            where they are a statement of their own.
    """
    if not kinds:
        return ()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(_found(tree, frozenset(kinds)))


def _found(tree: ast.Module, kinds: frozenset[str]) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        shows = REPR in kinds and isinstance(node, FunctionNode) and node.name in _SHOWING
        logs = LOGGING in kinds and isinstance(node, ast.Expr) and _is_logging(node.value)
        if (shows or logs) and isinstance(node, ast.stmt):
            yield node.lineno, node.end_lineno or node.lineno


def _is_logging(node: ast.expr) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    owner = node.func.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return node.func.attr in _LEVELS and name.strip("_").lower() in _LOGGERS
