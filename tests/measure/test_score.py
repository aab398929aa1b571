"""`score_file` on real files: outcomes, coverage, mutants and hollow tests together."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.domain import Target
from bot.errors import MeasureError
from bot.measure.score import score_file
from bot.sandbox import Sandbox

OpenBox = Callable[..., Sandbox]

SOURCE = """def sign(x):
    if x < 0:
        return -1
    return 1


def unused(x):
    return x * 2
"""


def target(source: str = SOURCE) -> Target:
    """The source file of these tests."""
    return Target(path="mod.py", module="mod", source=source, changed_lines=frozenset())


def test_red_tests_count_for_nothing(open_box: OpenBox) -> None:
    tests = """
import mod
def test_positive(): assert mod.sign(3) == 1
def test_calls(): mod.sign(3)
def test_wrong(): assert mod.sign(-3) == 0 or mod.unused(1) == 3
"""
    box = open_box({"mod.py": SOURCE, "test_mod.py": tests})

    score = score_file(box, target(), "test_mod.py", max_mutants=None, seed=0)

    assert score.pass_at_1
    assert score.run.passed == ("test_mod.py::test_positive", "test_mod.py::test_calls")
    assert score.lines == pytest.approx(4 / 6)
    assert score.branches == pytest.approx(1 / 2)
    assert score.hollow == {"test_mod.py::test_calls"}
    assert score.mutation is not None
    assert score.mutation.score is not None
    assert 0 < score.mutation.score < 1


def test_no_passing_test_is_nought_and_not_unknown(open_box: OpenBox) -> None:
    box = open_box({"mod.py": SOURCE, "test_mod.py": "import mod\ndef test_a(): assert mod.sign(1) == 5\n"})

    score = score_file(box, target(), "test_mod.py", max_mutants=5, seed=0)

    assert not score.pass_at_1
    assert (score.lines, score.branches) == (0.0, 0.0)
    assert score.mutation is not None
    assert score.mutation.score == 0.0


def test_a_run_that_could_not_be_made_is_an_error_that_says_why(open_box: OpenBox) -> None:
    box = open_box(
        {"mod.py": SOURCE, "conftest.py": "import absent\n", "test_mod.py": "def test_a(): pass\n"}
    )

    with pytest.raises(MeasureError, match="No module named 'absent'"):
        score_file(box, target(), "test_mod.py", max_mutants=None, seed=0)
