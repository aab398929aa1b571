"""What tests execute of a source file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """Line and branch coverage of one file, by test.

    Attributes:
        statements: Executable lines.
        import_lines: Lines executed while modules were imported, by no test in particular.
        lines_by_test: Lines each test executed, its fixtures' included.
        branches: Possible branches as (from line, to line); a negative `to` leaves the function.
        import_branches, branches_by_test: As for lines.
    """

    path: str
    statements: frozenset[int]
    import_lines: frozenset[int]
    lines_by_test: Mapping[str, frozenset[int]]
    branches: frozenset[tuple[int, int]] = frozenset()
    import_branches: frozenset[tuple[int, int]] = frozenset()
    branches_by_test: Mapping[str, frozenset[tuple[int, int]]] = field(default_factory=dict)

    def lines(self, tests: Iterable[str] | None = None) -> frozenset[int]:
        """Return the statements executed by import or by the given tests (all, if None)."""
        chosen = self.lines_by_test if tests is None else tests
        reached = self.import_lines.union(*(self.lines_by_test.get(test, frozenset()) for test in chosen))
        return reached & self.statements

    def taken(self, tests: Iterable[str] | None = None) -> frozenset[tuple[int, int]]:
        """Return the branches taken by import or by the given tests (all, if None)."""
        chosen = self.branches_by_test if tests is None else tests
        reached = self.import_branches.union(
            *(self.branches_by_test.get(test, frozenset()) for test in chosen)
        )
        return reached & self.branches
