"""A small repository, and one call that selects from a candidate suite for it, with real pytest and real mutants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bot.domain import Suite, Target
from bot.measure import baseline, mutants
from bot.repoconfig import load
from bot.sandbox import Interpreter
from bot.sandbox.process import ProcessSandboxes
from bot.select.placement import place
from bot.select.selection import Selection, SelectionJob, select

Choose = Callable[..., Selection]

SOURCE = '''"""Prices."""

CALLS = []


def clamp(value, low, high):
    """Keep a value between two others.

    >>> clamp(5, 0, 3)
    3
    >>> clamp(-1, 0, 3)
    1
    """
    if value < low:
        return low
    if value > high:
        return high
    return value


def label(price):
    if price == 0:
        return "free"
    return f"{price} EUR"


def remember(item):
    CALLS.append(item)
    return len(CALLS)
'''


LEAN = "[pytest]\naddopts = -p no:hypothesispytest -p no:xdist -p no:anyio -p no:timeout\n"
"""Plugins of testforge's own tests that would cost every run of the sample a second."""


def write_files(root: Path, files: Mapping[str, str]) -> Path:
    """Write a tree."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return root


@pytest.fixture
def choose(tmp_path: Path, interpreter: Interpreter) -> Choose:
    """Return `choose(candidate, files={...}, base={...}, source=...)`: the selection for `shop/prices.py`."""

    def run(
        candidate: str,
        files: Mapping[str, str] | None = None,
        base: Mapping[str, str] | None = None,
        source: str = SOURCE,
        with_mutants: bool = True,
        slow_s: float = 5.0,
    ) -> Selection:
        path = "shop/prices.py"
        everything = {"shop/__init__.py": "", path: source, "pytest.ini": LEAN, **(files or {})}
        tree = write_files(tmp_path / "head", everything)
        base_tree = None
        if base is not None:
            base_tree = write_files(tmp_path / "base", {"shop/__init__.py": "", "pytest.ini": LEAN, **base})
        target = Target(
            path, "shop.prices", source, frozenset(range(1, source.count("\n") + 1)), whole_file=True
        )
        placement = place(list(everything), everything.__getitem__, target, load(None))
        with ProcessSandboxes().open(tree, interpreter) as box:
            existing = baseline.take(box, [target], timeout_s=60)
        faults = mutants.generate(path, source, lines=None if with_mutants else frozenset())
        return select(
            SelectionJob(
                sandboxes=ProcessSandboxes(),
                tree=tree,
                base_tree=base_tree,
                interpreter=interpreter,
                target=target,
                placement=placement,
                candidate=Suite(placement.suite_path, candidate),
                baseline=existing,
                mutants=faults,
                slow_s=slow_s,
            )
        )

    return run
