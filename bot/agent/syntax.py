"""What a text is as Python: whether it compiles, and its top-level statements."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def compiles(code: str) -> bool:
    """Return whether a text is a Python file that compiles; nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as one on `"\d"`, which is the suite's business
            compile(code, "suite", "exec", dont_inherit=True)
    except _UNREADABLE:
        return False
    return True


def statements(code: str) -> Sequence[ast.stmt]:
    """Return the top-level statements of a Python file; none if it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code).body
    except _UNREADABLE:
        return ()


def is_test_name(name: str) -> bool:
    """Return whether pytest collects a function or class of this name by default."""
    return name.startswith(("test", "Test"))
