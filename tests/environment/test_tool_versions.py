"""The repository's own pytest and coverage win, and outcomes, coverage and mutants are the same under old and new ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.domain import MutantOutcome, Outcome, Target
from bot.measure import mutants, mutation
from bot.measure.outcomes import run_tests
from bot.sandbox import Interpreter
from bot.sandbox.process import ProcessSandboxes

Prepare = Callable[..., Interpreter]

SOURCE = "def size(x):\n    if x > 3:\n        return 'big'\n    return 'small'\n"
TESTS = """
import pytest
from mod import size

@pytest.fixture
def large():
    return 5

def test_fixture(large, tmp_path):
    assert size(large) == 'big'

@pytest.mark.parametrize('x', [1, 3])
def test_small(x):
    assert size(x) == 'small'

def test_red():
    assert size(1) == 'big'

class TestMore:
    @pytest.mark.skip
    def test_skipped(self):
        pass
"""


OLD_COVERAGE = "6.5.0" if sys.version_info < (3, 12) else "7.4.0"
"""The oldest that has been built for this Python."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "tools",
    [("pytest==6.2.5", f"coverage=={OLD_COVERAGE}"), ("pytest==9.0.0", "coverage==7.13.0")],
    ids=["old", "new"],
)
def test_old_and_new_tools_tell_the_same(prepare: Prepare, tree: Path, tools: tuple[str, ...]) -> None:
    files = {"mod.py": SOURCE, "test_mod.py": TESTS, "requirements-test.txt": "\n".join(tools)}
    interpreter = prepare(files)
    target = Target("mod.py", "mod", SOURCE, frozenset({1, 2, 3, 4}))

    with ProcessSandboxes().open(tree, interpreter) as box:
        listed = box.run(["python", "-m", "pytest", "--version"], timeout_s=60)
        run = run_tests(box, cover=["mod.py"])
        found = mutation.judge(box, target, mutants.generate("mod.py", SOURCE), run)

    assert tools[0].partition("==")[2] in listed.stdout + listed.stderr
    assert [(each.id.partition("::")[2], each.outcome) for each in run.results] == [
        ("test_fixture", Outcome.PASSED),
        ("test_small[1]", Outcome.PASSED),
        ("test_small[3]", Outcome.PASSED),
        ("test_red", Outcome.FAILED),
        ("TestMore::test_skipped", Outcome.SKIPPED),
    ]
    assert set(run.coverage["mod.py"].statements) == {1, 2, 3, 4}
    killed = [each for each in found.verdicts if each.outcome is MutantOutcome.KILLED]
    assert 4 <= len(killed) < len(found.verdicts)
    assert not found.notes
