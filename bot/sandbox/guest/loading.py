"""Gives a mutated text for one file to whatever imports it, under any module name, reloads included."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Optional, Union

_Loader = importlib.machinery.SourceFileLoader
_ORIGINAL = _Loader.get_code


def real_path(path: str, known: dict[str, str] = {}) -> str:  # noqa: B006 - a memo
    """Return a path with its links resolved; remembered, since a few paths are asked for thousands of times."""
    if path not in known:
        known[path] = os.path.realpath(path)
    return known[path]


def replace_source(path: str, source: Union[str, Callable[[], str]]) -> None:
    """From now on, imports of a file in this process get `source` in place of its content.

    With another `source` it can be called again.

    Args:
        path: The file, links resolved.
        source: The text to compile, or what gives it when it is asked for.
    """

    def text() -> str:
        return source if isinstance(source, str) else source()

    def get_code(self: Any, fullname: str) -> Optional[CodeType]:
        if real_path(self.get_filename(fullname)) != path:
            return _ORIGINAL(self, fullname)
        code: CodeType = compile(text(), self.get_filename(fullname), "exec", dont_inherit=True)
        return code

    _Loader.get_code = get_code  # type: ignore[method-assign]
    _replace_for_assertion_rewriting(path, text)


def is_imported(path: str) -> bool:
    """Return whether any module of this process was made from a file."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and real_path(file) == path:
            return True
    return False


def _replace_for_assertion_rewriting(path: str, text: Callable[[], str]) -> None:
    """Do the same for pytest's own loader, which takes test modules, plugins and what a conftest registers."""
    if "pytest" not in sys.modules:
        return
    try:
        import ast

        from _pytest.assertion import rewrite

        original_rewrite, original_read = rewrite._rewrite_test, rewrite._read_pyc
    except (ImportError, AttributeError):  # another pytest: its loader then reads the file itself
        return

    def rewrite_test(fn: Any, config: Any) -> Any:
        if real_path(str(fn)) != path:
            return original_rewrite(fn, config)
        source = text()
        tree = ast.parse(source, filename=str(fn))
        rewrite.rewrite_asserts(tree, source.encode(), str(fn), config)
        return os.stat(fn), compile(tree, str(fn), "exec", dont_inherit=True)

    def read_pyc(source_path: Any, *others: Any, **named: Any) -> Any:
        return None if real_path(str(source_path)) == path else original_read(source_path, *others, **named)

    rewrite._rewrite_test, rewrite._read_pyc = rewrite_test, read_pyc
