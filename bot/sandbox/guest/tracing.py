"""Line and branch coverage of some source files, by context, with coverage.py inside the process that runs the tests."""

from __future__ import annotations

import ast
import functools
import gc
import inspect
import os
import sys
from collections.abc import Sequence
from typing import Any

import coverage
from coverage.python import PythonFileReporter

Branch = tuple[int, int]

_SILENT = (
    "couldnt-parse",
    "dynamic-conflict",
    "module-not-imported",
    "module-not-measured",
    "module-not-python",
    "no-ctracer",
    "no-data-collected",
    "no-sysmon",
    "already-imported",
    "trace-changed",
)
"""Warnings of coverage, which `-W error` would turn into failures of tests."""


class _File:
    """What of one source file can be covered, by coverage's own analysis."""

    def __init__(self, path: str, tree: str, measuring: Any) -> None:
        self.path = os.path.relpath(path, tree).replace(os.sep, "/")
        self._reporter = PythonFileReporter(path, measuring)
        self.statements = frozenset(self._reporter.lines())
        exits = self._reporter.exit_counts()
        silent = frozenset(self._reporter.no_branch_lines())
        self.branches = frozenset(
            (start, end)
            for start, end in self._reporter.arcs()
            if start != end and exits.get(start, 0) > 1 and start not in silent
        )
        self.top = self.statements - _function_lines(self._reporter.source())

    def lines(self, traced: Sequence[int]) -> list[int]:
        return sorted(frozenset(self._reporter.translate_lines(traced)) & self.statements)

    def taken(self, arcs: Sequence[Branch]) -> list[Branch]:
        return sorted(frozenset(self._reporter.translate_arcs(arcs)) & self.branches)


class Tracer:
    """Traces some files from now on; make it before anything imports them, pytest included.

    Args:
        tree: Absolute real path of the repository's copy.
        paths: Source files relative to it; those that are missing or do not parse are left out.
    """

    def __init__(self, tree: str, paths: Sequence[str]) -> None:
        real = [os.path.realpath(os.path.join(tree, path)) for path in paths]
        # The C tracer: sys.monitoring knows neither contexts nor branches as well on every version.
        os.environ["COVERAGE_CORE"] = "ctrace"
        self._coverage = coverage.Coverage(branch=True, data_file=None, config_file=False, include=real)
        self._coverage.set_option("run:disable_warnings", list(_SILENT))
        # In coverage 6 only this makes the exclusions ready that the analysis needs.
        self._coverage.get_exclude_list()
        self._files = dict(self._readable(tree, real))
        self._caches: list[Any] = []
        self._stack: list[str] = [""]
        self._coverage.start()
        self._trace = sys.gettrace()
        del os.environ["COVERAGE_CORE"]

    def _readable(self, tree: str, paths: Sequence[str]) -> list[tuple[str, _File]]:
        found = []
        for path in paths:
            try:
                found.append((path, _File(path, tree, self._coverage)))
            except (coverage.CoverageException, OSError, SyntaxError, UnicodeError, ValueError):
                continue
        return found

    @property
    def files(self) -> list[_File]:
        """The files that can be covered."""
        return list(self._files.values())

    def enter(self, context: str) -> None:
        """Count what is executed from now on for a context, until it is left."""
        self._stack.append(context)
        self._switch()

    def leave(self) -> list[dict[str, Any]]:
        """Go back to the context before, and return what the one left has executed so far.

        Returns:
            Fields of `cover` events: context, path, lines, branches.
        """
        context = self._stack.pop()
        self._switch()
        return self._executed(context)

    def imports(self) -> list[dict[str, Any]]:
        """Return what was executed before any context was entered, as `leave` does."""
        return self._executed("")

    def find_caches(self) -> None:
        """Look for the caches that the files keep of what their functions have returned."""
        self._caches = [
            thing
            for thing in gc.get_objects()
            if type(thing) is functools._lru_cache_wrapper and self._is_traced(inspect.unwrap(thing))
        ]

    def clear_caches(self) -> None:
        """Forget what functions have returned: from a cache, a later test would execute nothing of them."""
        for cache in self._caches:
            cache.cache_clear()

    def _is_traced(self, function: Any) -> bool:
        code = getattr(function, "__code__", None)
        return code is not None and os.path.realpath(code.co_filename) in self._files

    def ensure(self) -> None:
        """Trace again if a test has taken the trace function away."""
        if self._trace is not None and sys.gettrace() is not self._trace:
            self._coverage.stop()
            self._coverage.start()
            self._switch()
            self._trace = sys.gettrace()

    def _switch(self) -> None:
        self._coverage.switch_context(self._stack[-1])

    def _executed(self, context: str) -> list[dict[str, Any]]:
        data = self._coverage.get_data()
        data.set_query_context(context)
        found = []
        for name in sorted(data.measured_files()):
            file = self._files.get(os.path.realpath(name))
            if file is None:
                continue
            arcs = data.arcs(name) or []
            lines = file.lines([line for arc in arcs for line in arc if line > 0])
            if lines:
                found.append(
                    {"context": context, "path": file.path, "lines": lines, "branches": file.taken(arcs)}
                )
        return found


def _function_lines(source: str) -> frozenset[int]:
    """Return the lines of all function bodies."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.update(range(node.body[0].lineno, (node.end_lineno or node.body[0].lineno) + 1))
    return frozenset(found)
