"""A workbench without a sandbox, for tests of what a model's replies do to the loop: a suite that compiles passes."""

from __future__ import annotations

import ast
import posixpath
from types import MappingProxyType
from typing import Any

from prices import SUITE_PATH, TARGET, TREE

from bot.agent.workbench import Workbench
from bot.domain import CollectionError, MutationResult, Outcome, SuiteRun, TestResult
from bot.measure.baseline import Baseline
from bot.measure.mutants import MutantSet
from bot.sandbox import Completed


class PaperBox:
    """Files in a dictionary; a command does nothing and succeeds."""

    tree = "/tree"
    scratch = "/scratch"

    def __init__(self) -> None:
        self.texts = {path: text.encode() if isinstance(text, str) else text for path, text in TREE.items()}

    def files(self) -> list[str]:
        return sorted(self.texts)

    def read(self, path: str, limit: int | None = None) -> bytes:
        if path not in self.texts:
            raise FileNotFoundError(path)
        return self.texts[path]

    def write(self, path: str, content: bytes) -> None:
        if "\0" in path:
            raise ValueError("embedded null byte")
        self.texts[path] = content

    def run(self, command: Any, **_: Any) -> Completed:
        resolved = f"{posixpath.normpath(command[-1])}\n" if command[0] == "python" else ""
        return Completed(0, resolved, "", 0.0)


class Desk(Workbench):
    """Runs a suite by reading it: every test function passes, a text that does not compile is an error."""

    def __init__(self) -> None:
        box: Any = PaperBox()
        super().__init__(box, TARGET, SUITE_PATH, MutantSet(TARGET.path), Baseline(SuiteRun()))

    def run(self) -> SuiteRun:
        key = self._key()
        if key not in self._runs:
            self.fresh_runs += 1
            self._runs[key] = _read(self.suite())
        return self._runs[key]

    def mutation(self) -> MutationResult:
        return MutationResult()


def _read(text: str) -> SuiteRun:
    try:
        names = [each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    except (SyntaxError, ValueError) as problem:
        return SuiteRun(collection_errors=(CollectionError(SUITE_PATH, f"E   SyntaxError: {problem}"),))
    tests = (f"{SUITE_PATH}::{name}" for name in names if name.startswith("test"))
    return SuiteRun(tuple(TestResult(each, Outcome.PASSED) for each in tests), (), MappingProxyType({}))
