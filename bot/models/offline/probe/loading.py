"""Imports the module under test with hooks woven in, and executes faulty versions of it."""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

from . import faults, watching


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads the one module woven; `is_package` and resources work as for any source file."""

    woven: Woven

    def get_code(self, fullname: str) -> Any:  # noqa: ARG002 - the loader's protocol
        """Return the woven code, never a cached one."""
        woven = self.woven
        tree = watching.weave(ast.parse(woven.source))
        return compile(tree, woven.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module with the hooks in its globals."""
        vars(module).update(watching.hooks(self.woven.record))
        self.woven.record.clear(50_000_000)
        super().exec_module(module)
        self.woven.import_lines = frozenset(
            line for line in self.woven.record.hits if line in self.woven.inside_functions
        )
        self.woven.imported = frozenset(self.woven.record.hits)


class _Finder:
    """Finds the one module; leaves all others to the ordinary finders."""

    def __init__(self, woven: Woven) -> None:
        self.woven = woven

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> Any:  # noqa: ARG002
        if fullname != self.woven.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        self.woven.path = spec.origin or self.woven.path
        loader = _Loader(fullname, self.woven.path)
        loader.woven = self.woven
        spec.loader = loader
        return spec


class Woven:
    """The module under test as the probe runs it."""

    def __init__(self, name: str, source: str, path: str, record: watching.Record) -> None:
        self.name = name
        self.source = source
        self.path = path
        self.tree = ast.parse(source)
        self.record = record
        self.import_lines: frozenset[int] = frozenset()
        self.imported: frozenset[int] = frozenset()
        self.pieces: list[tuple[int, int, CodeType]] = []
        self.inside_functions = _inside_functions(self.tree)

    def load(self) -> ModuleType:
        """Import it. Raises whatever the import raises."""
        sys.meta_path.insert(0, _Finder(self))
        return importlib.import_module(self.name)

    def _pieces(self) -> list[tuple[int, int, CodeType]]:
        """Return the module's top-level statements: where each starts and ends in the text, and its ticking code."""
        if not self.pieces:
            text = faults.Text(self.source)
            for node in self.tree.body:
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                start, end = text.offset(first, 0), text.end(node)
                self.pieces.append((start, end, self._piece(self.source[start:end], first)))
        return self.pieces

    def _piece(self, text: str, first: int) -> CodeType:
        tree = watching.tick(ast.parse("\n" * (first - 1) + text))
        code: CodeType = compile(tree, self.path, "exec", flags=faults.flags_of(self.tree), dont_inherit=True)
        return code

    def execute(self, fault: faults.Fault, record: watching.Record) -> ModuleType:
        """Execute the faulty source as the module and put it in the module's place. Raises what it raises."""
        codes = []
        for start, end, code in self._pieces():
            if start <= fault.start and fault.end <= end:
                text = self.source[start : fault.start] + fault.text + self.source[fault.end : end]
                code = self._piece(text, self.source.count("\n", 0, start) + 1)
            codes.append(code)
        spec = importlib.util.find_spec(self.name)
        if spec is None:
            raise ImportError(self.name)
        module = importlib.util.module_from_spec(spec)
        vars(module).update(watching.hooks(record))
        vars(module)["__tf_Never__"] = _NeverError
        record.clear(2_000_000)
        self.put_back(module)
        for code in codes:
            exec(code, vars(module))
        return module

    def put_back(self, module: ModuleType) -> None:
        """Make this the module that imports find."""
        sys.modules[self.name] = module
        parent, _, last = self.name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], last, module)


class _NeverError(Exception):
    """What a handler is changed to catch: nothing ever raises it."""


def _inside_functions(tree: ast.Module) -> frozenset[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines.update(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(lines)
