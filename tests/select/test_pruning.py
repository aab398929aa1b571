"""Taking tests out of a file leaves exactly the others, in a file that still works."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain import Outcome, TestResult
from bot.select.nodes import Spot, spots
from bot.select.pruning import prune
from bot.select.tables import outline


class Collector:
    """A pytest plugin that notes what is collected, as the guest does."""

    def __init__(self) -> None:
        self.results: list[TestResult] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            path, _, rest = item.nodeid.partition("::")
            function = rest.partition("[")[0]
            case = dict(item.callspec.indices) if hasattr(item, "callspec") else {}
            self.results.append(TestResult(f"{path}::{rest}", Outcome.PASSED, function=function, case=case))


_numbers = count()


def collect(directory: Path, source: str) -> dict[str, Spot]:
    """Collect a file with the real pytest and return where each node is written, by the node id's end."""
    path = directory / f"test_collected_{next(_numbers)}.py"  # a name of its own: modules are remembered
    path.write_text(source)
    collector = Collector()
    arguments = [
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        # It collects garbage five times at the end, which takes long beside all that other tests have imported.
        "-p",
        "no:unraisableexception",
        "--rootdir",
        str(directory),
        "-c",
        "/dev/null",
    ]
    code = pytest.main([*arguments, "--import-mode=importlib", str(path)], plugins=[collector])
    assert code in (0, 5), code
    return {node.partition("::")[2]: spot for node, spot in spots(outline(source), collector.results).items()}


def spot_of(found: dict[str, Spot], names: Iterable[str]) -> list[Spot]:
    return [found[name] for name in names]


PLAIN = """
import os
import re
import pytest

LIMIT = 3


def double(x):
    return x * 2


@pytest.fixture
def box():
    return [LIMIT]


def test_one(box):
    assert box == [3]


def test_one_ok():
    assert re.match("a", "a")


class TestBox:
    def setup_method(self):
        self.box = [1]

    def test_one(self):
        assert self.box

    def test_two(self):
        assert double(2) == 4
"""


def test_only_the_exact_function_goes_and_not_one_whose_name_begins_alike(tmp_path: Path) -> None:
    found = collect(tmp_path, PLAIN)
    pruned = prune(PLAIN, found.values(), spot_of(found, ["test_one"]))
    assert set(collect(tmp_path, pruned.content)) == {
        "test_one_ok",
        "TestBox::test_one",
        "TestBox::test_two",
    }


def test_fixtures_and_constants_that_only_a_removed_test_used_go_with_it(tmp_path: Path) -> None:
    found = collect(tmp_path, PLAIN)
    pruned = prune(PLAIN, found.values(), spot_of(found, ["test_one"]))
    assert "LIMIT" not in pruned.content
    assert "def box" not in pruned.content
    assert "import pytest" not in pruned.content
    assert "import re" in pruned.content
    assert "import os" not in pruned.content


def test_a_class_without_tests_goes_whole(tmp_path: Path) -> None:
    found = collect(tmp_path, PLAIN)
    pruned = prune(PLAIN, found.values(), spot_of(found, ["TestBox::test_one", "TestBox::test_two"]))
    assert "TestBox" not in pruned.content
    assert "def double" not in pruned.content


def test_nothing_is_left_of_a_file_whose_tests_all_go(tmp_path: Path) -> None:
    found = collect(tmp_path, PLAIN)
    assert prune(PLAIN, found.values(), found.values()).content == ""


TABLES = """
import pytest

CASES = [
    (1, 2),  # small
    (3, 4),
    (5, 6),
]


@pytest.mark.parametrize(("x", "y"), CASES)
def test_constant(x, y):
    assert x < y


@pytest.mark.parametrize(
    "x",
    [
        1,
        pytest.param(2, id="two"),
        3,
    ],
    ids=["a", None, "c"],
)
def test_ids(x):
    assert x


@pytest.mark.parametrize("a", [1, 2, 3])
@pytest.mark.parametrize("b, c", [(1, 2), (3, 4)])
def test_stacked(a, b, c):
    assert a and b and c


@pytest.mark.parametrize("x", [n for n in range(3)])
def test_comprehension(x):
    assert x >= 0


@pytest.mark.parametrize("k", ["p", "q"])
class TestTable:
    def test_first(self, k):
        assert k

    def test_second(self, k):
        assert k
"""


def test_one_case_of_a_table_goes_and_its_id_with_it(tmp_path: Path) -> None:
    found = collect(tmp_path, TABLES)
    pruned = prune(TABLES, found.values(), spot_of(found, ["test_ids[two]"]))
    after = collect(tmp_path, pruned.content)
    assert {"test_ids[a]", "test_ids[c]"} == {name for name in after if name.startswith("test_ids")}


def test_a_table_kept_in_a_constant_is_cut_in_the_constant(tmp_path: Path) -> None:
    found = collect(tmp_path, TABLES)
    pruned = prune(TABLES, found.values(), spot_of(found, ["test_constant[3-4]"]))
    assert "CASES = [\n    (1, 2),  # small\n    (5, 6),\n]" in pruned.content


def test_a_constant_that_two_tables_share_is_not_cut_for_both(tmp_path: Path) -> None:
    source = TABLES + '\n\n@pytest.mark.parametrize(("x", "y"), CASES)\ndef test_again(x, y):\n    assert y\n'
    found = collect(tmp_path, source)
    pruned = prune(source, found.values(), spot_of(found, ["test_constant[3-4]"]))
    after = collect(tmp_path, pruned.content)
    assert set(after) == set(found) - {"test_constant[3-4]"}


def test_one_combination_of_stacked_tables_goes_alone(tmp_path: Path) -> None:
    found = collect(tmp_path, TABLES)
    pruned = prune(TABLES, found.values(), spot_of(found, ["test_stacked[3-4-2]"]))
    after = collect(tmp_path, pruned.content)
    assert set(after) == set(found) - {"test_stacked[3-4-2]"}
    assert pruned.moved[found["test_stacked[3-4-3]"]] == after["test_stacked[3-4-3]"]


def test_a_row_of_stacked_tables_goes_without_multiplying_them_out(tmp_path: Path) -> None:
    found = collect(tmp_path, TABLES)
    pruned = prune(TABLES, found.values(), spot_of(found, ["test_stacked[1-2-2]", "test_stacked[3-4-2]"]))
    assert '"a", [1, 3]' in pruned.content


def test_a_case_that_cannot_be_cut_takes_its_function_along_only_if_it_must_go(tmp_path: Path) -> None:
    found = collect(tmp_path, TABLES)
    spot = found["test_comprehension[1]"]
    assert "test_comprehension" in prune(TABLES, found.values(), [], [spot]).content
    pruned = prune(TABLES, found.values(), [spot])
    assert "test_comprehension" not in pruned.content
    assert pruned.casualties == {found["test_comprehension[0]"], found["test_comprehension[2]"]}


def test_a_row_of_a_table_on_a_class_goes_when_no_method_needs_it(tmp_path: Path) -> None:
    found = collect(tmp_path, TABLES)
    gone = ["TestTable::test_first[p]", "TestTable::test_second[p]"]
    pruned = prune(TABLES, found.values(), spot_of(found, gone))
    assert set(collect(tmp_path, pruned.content)) == set(found) - set(gone)


# ---------------------------------------------------------------- any file, any subset


@st.composite
def suites(draw: st.DrawFn) -> str:
    """Return a test file of functions, classes and tables."""
    parts = ["import pytest\n"]
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["plain", "class", "table", "pairs", "stacked"]))
        size = draw(st.integers(1, 4))
        if kind == "plain":
            parts.append(f"def test_p{number}():\n    assert True\n")
        elif kind == "class":
            methods = "\n".join(
                f"    def test_m{index}(self):\n        assert True\n" for index in range(size)
            )
            parts.append(f"class TestC{number}:\n{methods}")
        elif kind == "table":
            layout = draw(st.sampled_from(["[{}]", "[\n    {},\n]", "({},)"]))
            rows = layout.format(", ".join(str(index) for index in range(size)))
            parts.append(
                f'@pytest.mark.parametrize("x", {rows})\ndef test_t{number}(x):\n    assert x >= 0\n'
            )
        elif kind == "pairs":
            rows = ",\n    ".join(
                f'pytest.param({index}, [{index}], id="case{index}")' if index % 2 else f"({index}, [])"
                for index in range(size)
            )
            parts.append(
                f'@pytest.mark.parametrize(("x", "y"), [\n    {rows},\n])\ndef test_q{number}(x, y):\n    assert x >= 0\n'
            )
        else:
            outer = ", ".join(str(index) for index in range(size))
            parts.append(
                f'@pytest.mark.parametrize("x", [{outer}])\n@pytest.mark.parametrize("y", ["a", "b"])\n'
                f"def test_s{number}(x, y):\n    assert y\n"
            )
    return "\n\n".join(parts)


@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(source=suites(), data=st.data())
def test_any_subset_can_be_taken_out_and_the_rest_is_where_it_is_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, data: st.DataObject
) -> None:
    found = collect(tmp_path, source)
    order = sorted(found.values())
    gone = {spot for spot in order if data.draw(st.booleans())}
    pruned = prune(source, order, gone)
    ast.parse(pruned.content)
    assert not pruned.casualties
    if len(gone) == len(order):
        assert pruned.content == ""
        return
    after = collect(tmp_path, pruned.content)
    assert sorted(after.values()) == sorted(pruned.moved.values())
    assert set(pruned.moved) == set(order) - gone


def test_a_docstring_that_names_an_import_does_not_keep_it() -> None:
    source = textwrap.dedent('''
        import os


        def test_a():
            """Uses os, perhaps."""
            assert True
        ''')
    assert "import os" not in prune(source, [Spot("test_a")], []).content
