"""Which modules import which, recorded while a suite is collected: who can feel a change of a module's import?"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from collections import defaultdict
from typing import Any, Optional

from .loading import real_path


class ImportGraph:
    """Records the import statements that run between its making and `stop`."""

    def __init__(self) -> None:
        self._imports: dict[str, set[str]] = defaultdict(set)
        self._original = builtins.__import__
        self._original_by_name = importlib.import_module
        # By attribute: both are functions that anyone may have imported by name, which then goes unseen; statements
        # always look here.
        builtins.__import__ = self._import
        importlib.import_module = self._import_module

    def stop(self) -> None:
        """Record no more."""
        builtins.__import__ = self._original
        importlib.import_module = self._original_by_name

    def reaching(self, path: str) -> frozenset[str]:
        """Return the names of the modules that import a file, directly or through others; its own included.

        Args:
            path: The file, links resolved.
        """
        users: dict[str, set[str]] = defaultdict(set)
        for importer, imported in self._imports.items():
            for name in imported:
                # Importing a.b.c runs a and a.b as well.
                while name:
                    users[name].add(importer)
                    name = name.rpartition(".")[0]
        found = {
            name
            for name, module in list(sys.modules.items())
            if real_path(getattr(module, "__file__", None) or "") == path
        }
        waiting = list(found)
        while waiting:
            for user in users[waiting.pop()]:
                if user not in found:
                    found.add(user)
                    waiting.append(user)
        return frozenset(found)

    def _import(
        self,
        name: str,
        globals: Any = None,  # noqa: A002 - callers may give it by name
        locals: Any = None,  # noqa: A002
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        module = self._original(name, globals, locals, fromlist, level)
        importer = (globals or {}).get("__name__")
        if isinstance(importer, str):
            if level:
                package = (globals or {}).get("__package__") or importer.rpartition(".")[0]
                base = package.rsplit(".", level - 1)[0] if level > 1 else package
                name = f"{base}.{name}" if name else base
            found = self._imports[importer]
            found.add(name)
            found.update(f"{name}.{part}" for part in fromlist or () if f"{name}.{part}" in sys.modules)
        return module

    def _import_module(self, name: str, package: Optional[str] = None) -> Any:
        module = self._original_by_name(name, package)
        importer = sys._getframe(1).f_globals.get("__name__")
        if isinstance(importer, str):
            self._imports[importer].add(module.__name__)
        return module


def dependents(graph: ImportGraph, path: str, items: dict[str, Any]) -> frozenset[str]:
    """Return the node ids of the tests that can feel a change of what a file does when it is imported.

    Args:
        path: The file, links resolved.
        items: pytest's items by node id.
    """
    reaching = graph.reaching(path)
    files = {
        real_path(file)
        for name in reaching
        for file in [getattr(sys.modules.get(name), "__file__", None)]
        if isinstance(file, str)
    }
    conftests = [os.path.dirname(file) for file in files if os.path.basename(file) == "conftest.py"]
    found = set()
    for test, item in items.items():
        file = real_path(str(getattr(item, "path", None) or getattr(item, "fspath", "")))
        module = getattr(item, "module", None)
        below = any(file.startswith(directory + os.sep) for directory in conftests)
        # Items of other kinds (doctests, files of data) say nothing of what they use.
        if module is None or not hasattr(item, "function") or file in files or below:
            found.add(test)
    return frozenset(found)
