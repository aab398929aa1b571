"""Tools that run the suite and measure what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.agent import observations
from bot.agent.tools.schema import ToolError
from bot.errors import MeasureError

if TYPE_CHECKING:
    from bot.agent.workbench import Workbench


def run_tests(bench: Workbench) -> str:
    """Run the suite: how many tests pass, and for each that fails its place and the asserted values."""
    _demand_suite(bench)
    # Paths as everywhere else, relative to the root: where the tree lies differs from run to run.
    return observations.test_results(bench.run()).replace(f"{bench.box.tree}/", "")


def coverage_report(bench: Workbench) -> str:
    """Show which lines and branches of the file under test neither passing tests of the suite nor existing tests reach; changed lines are starred."""
    _demand_suite(bench)
    covered = bench.covered()
    if covered is None:
        why = bench.run().crash or "no test imported the file"
        raise ToolError(f"the coverage of {bench.target.path} could not be measured: {why}")
    return observations.coverage(covered.file, covered.lines, covered.branches, bench.changed_lines)


def surviving_mutants(bench: Workbench) -> str:
    """Show small faults put into the changed lines that no passing test notices, as diffs, at most 30 of them."""
    try:
        result = bench.mutation()
    except MeasureError as problem:
        raise ToolError(f"the mutants could not be run: {problem}") from None
    return observations.mutants(result, bench.mutant_numbers)


def _demand_suite(bench: Workbench) -> None:
    if not bench.suite():
        raise ToolError(f"there is no {bench.suite_path} yet; write it with write_file")
