"""Coverage by test, measured by real runs, and its fractions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import iniconfig
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain import FileCoverage, SuiteRun
from bot.measure.coverage import branch_fraction, line_fraction
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox

OpenBox = Callable[..., Sandbox]

SOURCE = """import os

def sign(x):
    if x < 0:
        return -1
    return 1

def unused():  # pragma: no cover
    return os.getcwd()

class Thing:
    kind = "thing"

    def loop(self, n):
        for i in range(n):
            if i == 2:
                break
        else:
            return "all"
        return "some"
"""


def measured(open_box: OpenBox, tests: str, **files: str) -> tuple[SuiteRun, FileCoverage]:
    """The run of tests/test_mod.py and what it covers of src/pkg/mod.py."""
    everything = {"src/pkg/__init__.py": "", "src/pkg/mod.py": SOURCE, "tests/test_mod.py": tests}
    box = open_box(everything | files, roots=("src",))
    run = run_tests(box, ["tests/test_mod.py"], cover=["src/pkg/mod.py"])
    assert run.crash == "", run.output
    return run, run.coverage["src/pkg/mod.py"]


def by_name(cov: FileCoverage) -> dict[str, set[int]]:
    return {test.rpartition("::")[2]: set(lines) for test, lines in cov.lines_by_test.items()}


def test_lines_and_branches_are_counted_by_test_and_imports_apart(open_box: OpenBox) -> None:
    tests = """
from pkg.mod import Thing, sign
def test_negative(): assert sign(-1) == -1
def test_positive(): assert sign(1) == 1
def test_loop(): assert Thing().loop(1) == "all"
def test_nothing(): pass
"""
    _, cov = measured(open_box, tests)

    assert cov.statements == {1, 3, 4, 5, 6, 11, 12, 14, 15, 16, 17, 19, 20}
    assert cov.branches == {(4, 5), (4, 6), (15, 16), (15, 19), (16, 15), (16, 17)}
    assert cov.import_lines == {1, 3, 11, 12, 14}
    assert by_name(cov) == {
        "test_negative": {4, 5},
        "test_positive": {4, 6},
        "test_loop": {15, 16, 19},
        "test_nothing": set(),
    }
    assert {test.rpartition("::")[2]: set(arcs) for test, arcs in cov.branches_by_test.items()} == {
        "test_negative": {(4, 5)},
        "test_positive": {(4, 6)},
        "test_loop": {(15, 16), (15, 19), (16, 15)},
        "test_nothing": set(),
    }


def test_a_module_that_conftest_imports_is_measured(open_box: OpenBox) -> None:
    tests = "import pkg.mod\ndef test_it(): pkg.mod.sign(1)\n"
    _, cov = measured(open_box, tests, **{"conftest.py": "import pkg.mod\npkg.mod.sign(-1)\n"})

    assert cov.import_lines == {1, 3, 4, 5, 11, 12, 14}
    assert by_name(cov) == {"test_it": {4, 6}}


def test_a_shared_fixtures_lines_belong_to_every_test_that_uses_it(open_box: OpenBox) -> None:
    tests = """
import pytest
from pkg.mod import Thing, sign
@pytest.fixture(scope="session")
def number():
    yield sign(-1)
    Thing().loop(0)
@pytest.fixture(scope="module")
def twice(number): return number * 2
@pytest.fixture(scope="module", params=[1, -1])
def each(request): return sign(request.param)
def test_first(number): pass
def test_none(): pass
def test_through_another(twice): pass
def test_by_name(request): request.getfixturevalue("number")
def test_each(each): pass
class TestSetUp:
    @classmethod
    def setup_class(cls): sign(1)
    def test_a(self): pass
    def test_b(self): pass
"""
    _, cov = measured(open_box, tests)

    session = {4, 5, 15, 19}
    assert by_name(cov) == {
        "test_first": session,
        "test_none": set(),
        "test_through_another": session,
        "test_by_name": session,
        "test_each[1]": {4, 6},
        "test_each[-1]": {4, 5},
        "test_a": {4, 6},
        "test_b": {4, 6},
    }


def test_a_module_imported_within_tests_gives_its_import_to_each_test_that_reaches_it(
    open_box: OpenBox,
) -> None:
    tests = """
def test_first():
    import pkg.mod
def test_second():
    from pkg.mod import sign
    sign(1)
def test_third(): pass
"""
    _, cov = measured(open_box, tests)

    outside = {1, 3, 11, 12, 14}
    assert cov.import_lines == set()
    assert by_name(cov) == {"test_first": outside, "test_second": outside | {4, 6}, "test_third": set()}


def test_threads_caches_and_a_lost_trace_function_hide_nothing(open_box: OpenBox) -> None:
    source = "import functools\n\n@functools.lru_cache\ndef slow(x):\n    return x + 1\n"
    tests = """
import sys, threading
from mod import slow
def test_first(): assert slow(1) == 2
def test_cached(): assert slow(1) == 2
def test_thread():
    thread = threading.Thread(target=slow, args=(1,))
    thread.start()
    thread.join()
def test_untraced(): sys.settrace(None)
def test_last(): assert slow(1) == 2
"""
    box = open_box({"mod.py": source, "test_mod.py": tests})
    cov = run_tests(box, cover=["mod.py"]).coverage["mod.py"]

    assert by_name(cov) == {
        "test_first": {5},
        "test_cached": {5},
        "test_thread": {5},
        "test_untraced": set(),
        "test_last": {5},
    }


def test_coverage_before_a_crash_is_kept(open_box: OpenBox) -> None:
    tests = """
import os
from pkg.mod import sign
def test_before(): sign(1)
def test_crash(): sign(1); os._exit(1)
def test_after(): sign(-1)
"""
    _, cov = measured(open_box, tests)

    assert by_name(cov) == {"test_before": {4, 6}, "test_crash": set(), "test_after": {4, 5}}


def test_a_file_that_nothing_imports_and_one_that_does_not_parse(open_box: OpenBox) -> None:
    box = open_box({"alone.py": "x = 1\n", "broken.py": "def f(:\n", "test_a.py": "def test_a(): pass\n"})

    run = run_tests(box, cover=["alone.py", "broken.py", "gone.py"])

    assert set(run.coverage) == {"alone.py"}
    assert line_fraction(run.coverage["alone.py"], None, run.passed) == 0.0


def test_a_library_that_pytest_itself_uses_is_measured(open_box: OpenBox) -> None:
    package = Path(iniconfig.__file__).parent
    files = {f"iniconfig/{path.name}": path.read_text() for path in sorted(package.glob("*.py"))}
    files["test_it.py"] = (
        "import iniconfig\ndef test_it(): assert iniconfig.ParseError('a', 1, 'b').lineno == 1\n"
    )

    run = run_tests(open_box(files), cover=["iniconfig/exceptions.py"])

    assert run.passed == ("test_it.py::test_it",)
    covered = line_fraction(run.coverage["iniconfig/exceptions.py"], None, run.passed)
    assert covered is not None
    assert covered > 0.7


COV = FileCoverage(
    path="m.py",
    statements=frozenset({1, 2, 3, 4}),
    import_lines=frozenset({1}),
    lines_by_test={"a": frozenset({2}), "b": frozenset({3, 9})},
    branches=frozenset({(2, 3), (2, 4)}),
    branches_by_test={"a": frozenset({(2, 3)})},
)


@pytest.mark.parametrize(
    ("lines", "tests", "fraction"),
    [
        (None, None, 3 / 4),
        (None, ["a"], 2 / 4),
        (None, ["unknown"], 1 / 4),
        (None, [], 0.0),
        (frozenset({2, 3, 100}), ["a"], 1 / 2),
        (frozenset({100}), ["a"], None),
        (frozenset({2}), [], 0.0),
    ],
)
def test_line_fraction(lines: frozenset[int] | None, tests: list[str] | None, fraction: float | None) -> None:
    assert line_fraction(COV, lines, tests) == fraction


@pytest.mark.parametrize(("tests", "fraction"), [(None, 1 / 2), (["a"], 1 / 2), (["b"], 0.0), ([], 0.0)])
def test_branch_fraction(tests: list[str] | None, fraction: float) -> None:
    assert branch_fraction(COV, tests) == fraction


def test_what_could_not_be_measured_is_unknown_and_not_nought() -> None:
    assert line_fraction(None, None, ["a"]) is None
    assert branch_fraction(None, ["a"]) is None
    assert branch_fraction(FileCoverage("m.py", frozenset({1}), frozenset(), {}), ["a"]) is None


@given(
    st.frozensets(st.integers(1, 30)),
    st.dictionaries(st.sampled_from("abc"), st.frozensets(st.integers(1, 30))),
    st.lists(st.sampled_from("abc")),
)
def test_more_tests_never_cover_less(
    statements: frozenset[int], by_test: dict[str, frozenset[int]], tests: list[str]
) -> None:
    cov = FileCoverage("m.py", statements, frozenset(), by_test)

    fractions = [line_fraction(cov, None, tests[:count]) for count in range(len(tests) + 1)]

    if statements:
        known = [fraction for fraction in fractions if fraction is not None]
        assert known == sorted(known)
        assert all(0 <= fraction <= 1 for fraction in known)
    else:
        assert set(fractions) == {None}
