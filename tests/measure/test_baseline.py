"""The baseline of a repository's existing tests."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain import Target
from bot.measure import baseline
from bot.sandbox import Sandbox

OpenBox = Callable[..., Sandbox]

SOURCE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
TARGET = Target(path="pkg/mod.py", module="pkg.mod", source=SOURCE, changed_lines=frozenset({6}))


def test_red_tests_are_set_aside_and_green_ones_measured(open_box: OpenBox) -> None:
    tests = """
import os
from pkg.mod import one, two
def test_one(): assert one() == 1
def test_two(): assert two() == 3
def test_exit(): os._exit(1)
"""
    box = open_box({"pkg/__init__.py": "", "pkg/mod.py": SOURCE, "tests/test_mod.py": tests})

    taken = baseline.take(box, [TARGET], timeout_s=60)

    assert taken.green == ("tests/test_mod.py::test_one",)
    assert taken.red == ("tests/test_mod.py::test_two", "tests/test_mod.py::test_exit")
    assert taken.problem == ""
    coverage = taken.coverage(TARGET)
    assert coverage is not None
    assert coverage.lines(taken.green) == {1, 2, 5}


def test_a_repository_without_tests_has_an_empty_baseline_without_a_problem(open_box: OpenBox) -> None:
    taken = baseline.take(open_box({"pkg/mod.py": SOURCE}), [TARGET], timeout_s=60)

    assert (taken.green, taken.red, taken.problem) == ((), (), "")
    coverage = taken.coverage(TARGET)
    assert coverage is not None
    assert coverage.statements == {1, 2, 5, 6}
    assert coverage.lines() == set()


def test_tests_that_cannot_be_imported_are_the_problem_that_is_told(open_box: OpenBox) -> None:
    box = open_box({"pkg/mod.py": SOURCE, "tests/test_mod.py": "import absent\n"})

    taken = baseline.take(box, [TARGET], timeout_s=60)

    assert taken.problem == (
        "None of the existing tests could be imported; tests/test_mod.py: "
        "ModuleNotFoundError: No module named 'absent'"
    )


def test_a_pytest_that_does_not_start_is_the_problem_that_is_told(open_box: OpenBox) -> None:
    box = open_box(
        {"conftest.py": "raise RuntimeError('no database')\n", "test_a.py": "def test_a(): pass\n"}
    )

    taken = baseline.take(box, [TARGET], timeout_s=60)

    assert taken.problem.endswith("pytest could not start: conftest.py: RuntimeError: no database.")


def test_files_that_do_not_import_or_hold_a_test_that_ends_the_interpreter_are_unusable(
    open_box: OpenBox,
) -> None:
    tests = {
        "tests/test_broken.py": "import absent\n",
        "tests/test_exits.py": "import os\ndef test_a(): pass\ndef test_b(): os._exit(1)\n",
        "tests/test_red.py": "def test_c(): assert 0\n",
    }
    taken = baseline.take(open_box({"pkg/mod.py": SOURCE, **tests}), [TARGET], timeout_s=60)

    assert taken.unusable == {"tests/test_broken.py", "tests/test_exits.py"}
