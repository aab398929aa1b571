"""Line and branch coverage of one file, by test: read from the guest's journal, and as fractions (METHODS 1.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.domain import FileCoverage

Branch = tuple[int, int]

_IMPORTS = ""
_TEST = "test "


def line_fraction(
    cov: FileCoverage | None, lines: frozenset[int] | None, tests: Iterable[str] | None = None
) -> float | None:
    """Return the share of executable lines that tests execute, those of the import included.

    Args:
        cov: The file's coverage; None if it could not be measured.
        lines: The lines that count, such as the changed ones; None is the whole file.
        tests: The passing tests; None is all that were run.

    Returns:
        A fraction; 0.0 when there is no test; None when nothing could be measured or there is no such line.
    """
    if cov is None:
        return None
    counted = cov.statements if lines is None else cov.statements & lines
    if not counted:
        return None
    chosen = list(cov.lines_by_test if tests is None else tests)
    return len(cov.lines(chosen) & counted) / len(counted) if chosen else 0.0


def branch_fraction(cov: FileCoverage | None, tests: Iterable[str] | None = None) -> float | None:
    """Return the share of possible branches that tests take.

    Args:
        cov: The file's coverage; None if it could not be measured.
        tests: The passing tests; None is all that were run.

    Returns:
        A fraction; 0.0 when there is no test; None when nothing could be measured or the file has no branch.
    """
    if cov is None or not cov.branches:
        return None
    chosen = list(cov.branches_by_test if tests is None else tests)
    return len(cov.taken(chosen)) / len(cov.branches) if chosen else 0.0


class CoverageReader:
    """Puts the coverage events of a journal together."""

    def __init__(self) -> None:
        self._files: dict[str, Mapping[str, Any]] = {}
        self._lines: dict[str, dict[str, set[int]]] = {}
        self._branches: dict[str, dict[str, set[Branch]]] = {}
        self._uses: dict[str, set[str]] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        """Take in a `file`, `cover` or `uses` event."""
        match event["event"]:
            case "file":
                self._files[event["path"]] = event
            case "cover":
                path, context = event["path"], event["context"]
                self._lines.setdefault(path, {}).setdefault(context, set()).update(event["lines"])
                taken = {(start, end) for start, end in event["branches"]}
                self._branches.setdefault(path, {}).setdefault(context, set()).update(taken)
            case "uses":
                self._uses.setdefault(event["id"], set()).update(event["contexts"])

    def files(self, tests: Sequence[str]) -> dict[str, FileCoverage]:
        """Return each file's coverage.

        A test has the lines of the shared fixtures it uses, whoever set them up. A module that is imported first
        while a test runs is imported only once; its lines outside functions belong to every test that reaches it.

        Args:
            tests: Node ids of all tests, in order.
        """
        return {path: self._file(self._files[path], tests) for path in sorted(self._files)}

    def _file(self, event: Mapping[str, Any], tests: Sequence[str]) -> FileCoverage:
        path, top = event["path"], frozenset(event["top"])
        lines = self._lines.get(path, {})
        branches = self._branches.get(path, {})
        lazy_lines = {line for context, found in lines.items() if context for line in found & top}
        lazy_branches = {
            arc for context, found in branches.items() if context for arc in found if arc[0] in top
        }
        lines_by_test: dict[str, frozenset[int]] = {}
        branches_by_test: dict[str, frozenset[Branch]] = {}
        for test in tests:
            contexts = [_TEST + test, *sorted(self._uses.get(test, ()))]
            reached = set[int]().union(*(lines.get(context, set()) for context in contexts))
            taken = set[Branch]().union(*(branches.get(context, set()) for context in contexts))
            lines_by_test[test] = frozenset(reached | lazy_lines if reached else ())
            branches_by_test[test] = frozenset(taken | lazy_branches if reached else ())
        return FileCoverage(
            path=path,
            statements=frozenset(event["statements"]),
            import_lines=frozenset(lines.get(_IMPORTS, ())),
            lines_by_test=lines_by_test,
            branches=frozenset((start, end) for start, end in event["branches"]),
            import_branches=frozenset(branches.get(_IMPORTS, ())),
            branches_by_test=branches_by_test,
        )
