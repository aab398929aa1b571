"""A workbench over a small package, in a real sandbox with real pytest, coverage and mutants."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from prices import SUITE_PATH, TARGET, TREE

from bot.agent.brief import Brief
from bot.agent.workbench import Workbench
from bot.domain import SuiteRun, Target
from bot.measure import mutants
from bot.measure.baseline import Baseline
from bot.sandbox import Sandbox

OpenBench = Callable[..., Workbench]


@pytest.fixture
def brief() -> Brief:
    return Brief(TARGET, SUITE_PATH, "3.11")


@pytest.fixture
def open_bench(open_box: Callable[..., Sandbox]) -> OpenBench:
    """Open a workbench: `open_bench({"notes.txt": "..."}, target=..., baseline=...)`."""

    def opener(
        files: Mapping[str, str | bytes] | None = None,
        *,
        target: Target = TARGET,
        suite_path: str = SUITE_PATH,
        baseline: Callable[[Sandbox], Baseline] | None = None,
    ) -> Workbench:
        box = open_box({**TREE, **(files or {})})
        taken = Baseline(SuiteRun()) if baseline is None else baseline(box)
        lines = None if target.whole_file else target.changed_lines
        made = mutants.generate(target.path, target.source, lines=lines)
        return Workbench(box, target, suite_path, made, taken)

    return opener


@pytest.fixture
def bench(open_bench: OpenBench) -> Workbench:
    return open_bench()
