"""A table that selection leaves with one row becomes a plain test, which does what the case did."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain import Outcome, TestResult
from bot.select.inlining import inlined
from bot.select.nodes import spots
from bot.select.pruning import prune
from bot.select.tables import outline
from tests.select.conftest import Choose

_numbers = count()


class Recorder:
    """A pytest plugin that notes the outcome of each test, as the guest does."""

    def __init__(self) -> None:
        self.results: list[TestResult] = []
        self.cases: dict[str, dict[str, int]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            self.cases[item.nodeid] = dict(item.callspec.indices) if hasattr(item, "callspec") else {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed:
            outcome = Outcome.PASSED if report.passed else Outcome.FAILED
            rest = report.nodeid.partition("::")[2]
            function, case = rest.partition("[")[0], self.cases[report.nodeid]
            self.results.append(TestResult(rest, outcome, function=function, case=case))


def run(directory: Path, source: str) -> list[TestResult]:
    """Run a file with the real pytest."""
    path = directory / f"test_run_{next(_numbers)}.py"  # a name of its own: modules are remembered
    path.write_text(source)
    recorder = Recorder()
    # The second collects garbage five times at the end, which takes long beside all that other tests have imported.
    less = ["-p", "no:cacheprovider", "-p", "no:unraisableexception"]
    options = ["-q", *less, "--rootdir", str(directory), "-c", "/dev/null", "--tb=no"]
    code = pytest.main([*options, "--import-mode=importlib", str(path)], plugins=[recorder])
    assert code in (0, 1), code
    return recorder.results


def plain(
    body: str, values: str = "(1, 2)", names: str = '("x", "y")', signature: str = "x, y", above: str = ""
) -> str | None:
    """Return the test with its table gone, or None where the table stays."""
    head = f"import math\n\nimport pytest\n\n{above}\n\n"
    mark = f"@pytest.mark.parametrize({names}, [{values}])\n"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"{head}{mark}def test_a({signature}):\n{lines}"
    content, done = inlined(source, ["test_a"])
    if not done:
        assert content == source
        return None
    assert content.startswith(head)
    return content.removeprefix(head)


# ---------------------------------------------------------------- what becomes of a table


def test_values_stand_where_their_names_stood() -> None:
    assert plain("assert x + 1 == y") == "def test_a():\n    assert 1 + 1 == 2\n"


def test_other_parameters_and_keywords_of_the_same_name_stay() -> None:
    done = plain("assert dict(x=x) == {'x': y}\nassert tmp_path", signature="x, tmp_path, y")
    assert done == "def test_a(tmp_path):\n    assert dict(x=1) == {'x': 2}\n    assert tmp_path\n"


@pytest.mark.parametrize(
    ("value", "written"),
    [("-1", "(-1)**2"), ("3 - 1", "(3 - 1)**2"), ("2", "2**2"), ('"a"\n"b"', '("a"\n"b")**2')],
)
def test_a_value_is_in_parentheses_where_precedence_asks_for_them(value: str, written: str) -> None:
    done = plain("assert x**2", value, '"x"', "x")
    assert done == f"def test_a():\n    assert {written}\n"


def test_a_number_whose_attribute_is_read_is_in_parentheses() -> None:
    assert plain("assert x.real", "1", '"x"', "x") == "def test_a():\n    assert (1).real\n"


def test_a_name_in_an_f_string_is_assigned_after_the_docstring() -> None:
    done = plain('"""Say it."""\n# why\nassert f"{x}" == str(y)')
    assert done == ('def test_a():\n    """Say it."""\n    x = 1\n    # why\n    assert f"{x}" == str(2)\n')


def test_a_long_value_used_more_than_twice_is_assigned() -> None:
    long = '"a value that is rather long"'
    done = plain("assert x\nassert x\nassert x + y", f'({long}, "b")')
    assert done == f'def test_a():\n    x = {long}\n    assert x\n    assert x\n    assert x + "b"\n'


@pytest.mark.parametrize("body", ["x.append(2)\nassert x == [1, 2]", "for _ in range(2):\n    x.append(2)"])
def test_a_value_that_can_change_stays_one_object(body: str) -> None:
    done = plain(body, "[1]", '"x"', "x")
    assert done is not None
    assert "    x = [1]\n" in done
    assert done.count("[1]") == 1


def test_a_value_whose_identity_matters_is_assigned() -> None:
    done = plain("assert max(x, 1) is x", "2 + 3", '"x"', "x")
    assert done == "def test_a():\n    x = 2 + 3\n    assert max(x, 1) is x\n"


def test_a_value_that_python_would_warn_of_in_its_place_is_assigned() -> None:
    assert plain("assert x", "(1, 2)", '"x"', "x") == "def test_a():\n    x = (1, 2)\n    assert x\n"


def test_an_error_that_is_raised_stands_in_the_test() -> None:
    done = plain(
        "with pytest.raises(y, match='lit'):\n    int(x)", 'pytest.param("a", ValueError, id="word")'
    )
    assert done == "def test_a():\n    with pytest.raises(ValueError, match='lit'):\n        int(\"a\")\n"


def test_an_expectation_stands_in_the_test() -> None:
    done = plain("with y:\n    int(x)", '("a", pytest.raises(ValueError))')
    assert done == 'def test_a():\n    with pytest.raises(ValueError):\n        int("a")\n'


def test_other_marks_stay() -> None:
    source = '@pytest.mark.slow\n@pytest.mark.parametrize("x", [1])\nasync def test_a(x):\n    assert x\n'
    assert inlined(source, ["test_a"])[0] == "@pytest.mark.slow\nasync def test_a():\n    assert 1\n"


def test_a_name_in_a_pattern_is_assigned() -> None:
    done = plain("match y:\n    case x.real:\n        pass")
    assert done is not None
    assert done.startswith("def test_a():\n    x = 1\n    y = 2\n")


# ---------------------------------------------------------------- where the table stays


@pytest.mark.parametrize(
    "body",
    [
        "x = 3\nassert x",
        "x += 1",
        "del x",
        "for x in [1]:\n    pass",
        "with open('f') as x:\n    pass",
        "assert [x for x in [1]]",
        "assert (lambda x: x)(2)",
        "def f(x):\n    return x",
        "def x():\n    pass",
        "import x",
        "try:\n    pass\nexcept OSError as x:\n    pass",
        "match y:\n    case x:\n        pass",
        "assert (x := 1)",
        "assert locals()",
        "assert eval('x')",
        "test_a(x, y)",
    ],
)
def test_a_table_stays_whose_names_mean_something_else_in_the_body(body: str) -> None:
    assert plain(body) is None


@pytest.mark.parametrize(
    "value",
    [
        "make()",
        "unknown",
        "[*range(3)]",
        "{**{}}",
        "[n for n in range(3)]",
        "lambda: 1",
        'f"{math.pi}"',
        "LATER",
        "math.sqrt(4)",
        "pytest.param(1, marks=pytest.mark.xfail)",
        'pytest.param(1, id="a", marks=[])',
        "pytest.param(*[1])",
        "1, 2",
    ],
)
def test_a_table_stays_whose_row_is_more_than_a_value(value: str) -> None:
    above = "LATER = 1\nLATER = 2\n\n\ndef make():\n    return 1"
    assert plain("assert x", value, '"x"', "x", above) is None


@pytest.mark.parametrize(
    ("names", "signature"),
    [
        ('"x"', "x=1"),
        ('"x"', "*, x"),
        ('"x"', "x, /"),
        ('"x"', "x, request"),
        ('"x"', "x, unknown_fixture"),
        ('"x"', "tmp_path"),
        ('["x"]', "x"),
        ('"x,"', "x"),
    ],
)
def test_a_table_stays_whose_parameters_are_not_plain(names: str, signature: str) -> None:
    assert plain("assert 1", "1", names, signature) is None


@pytest.mark.parametrize("option", ["indirect=True", 'ids=["a"]', 'scope="module"'])
def test_a_table_with_options_stays(option: str) -> None:
    source = (
        f'import pytest\n\n\n@pytest.mark.parametrize("x", [1], {option})\ndef test_a(x):\n    assert x\n'
    )
    assert inlined(source, ["test_a"]) == (source, frozenset())


@pytest.mark.parametrize(
    "above",
    ['@pytest.mark.parametrize("y", [1])', "@patch('a.b')", '@pytest.mark.usefixtures("x")', "@given(1)"],
)
def test_a_table_beside_a_decorator_that_may_need_it_stays(above: str) -> None:
    source = f'{above}\n@pytest.mark.parametrize("x", [1])\ndef test_a(x, y):\n    assert x\n'
    assert inlined(source, ["test_a"]) == (source, frozenset())


def test_a_table_that_replaces_what_a_fixture_asks_for_stays() -> None:
    above = "@pytest.fixture\ndef box(x):\n    return [x]"
    assert plain("assert box == [1]", "1", '"x"', "x, box", above) is None


def test_a_value_that_the_test_replaces_stays_in_its_table() -> None:
    body = "monkeypatch.setattr(math, 'pi', 3)\nassert x > math.pi"
    assert plain(body, "math.pi", '"x"', "x, monkeypatch") is None
    assert plain("assert x > 3", "math.pi", '"x"', "x") is not None


@pytest.mark.parametrize(
    "above",
    [
        "@pytest.fixture(autouse=True)\ndef flat(monkeypatch):\n    monkeypatch.setattr(math, 'pi', 3)",
        "def setup_function():\n    math.pi = 3",
        "def test_b():\n    math.pi = 3",
        "@pytest.fixture(autouse=True)\ndef named(request):\n    return request.node.name",
    ],
)
def test_a_value_that_something_else_may_replace_stays_in_its_table(above: str) -> None:
    assert plain("assert x > 3", "math.pi", '"x"', "x", above) is None


def test_a_row_that_is_spread_stays() -> None:
    assert plain("assert x", "(*(), 1)", '["x"]', "x") is None


def test_a_value_whose_name_the_test_uses_for_something_else_stays_in_its_table() -> None:
    assert plain("SIZE = 5\nassert x < SIZE", "SIZE", '"x"', "x", "SIZE = 3") is None


def test_a_table_of_a_class_stays() -> None:
    source = '@pytest.mark.parametrize("x", [1])\nclass TestA:\n    def test_a(self, x):\n        assert x\n'
    assert inlined(source, ["TestA::test_a"]) == (source, frozenset())


# ---------------------------------------------------------------- as part of a selection

TABLES = """import pytest

CASES = [(1, 2), (3, 4)]


@pytest.mark.parametrize(("x", "y"), CASES)
def test_constant(x, y):
    assert x < y


class TestBox:
    @pytest.mark.parametrize("x", [1, 2])
    def test_method(self, x):
        assert x


@pytest.mark.parametrize("x", [1])
def test_single(x):
    assert x


@pytest.mark.parametrize("x", [1, 2, 3])
def test_many(x):
    assert x
"""


def test_only_tables_that_were_cut_down_to_one_row_go(tmp_path: Path) -> None:
    found = spots(outline(TABLES), run(tmp_path, TABLES))
    gone = ["test_constant[3-4]", "TestBox::test_method[1]", "test_many[2]"]
    pruned = prune(TABLES, found.values(), [found[name] for name in gone])
    after = spots(outline(pruned.content), run(tmp_path, pruned.content))
    assert list(after) == [
        "test_constant",
        "TestBox::test_method",
        "test_single[1]",
        "test_many[1]",
        "test_many[3]",
    ]
    assert "CASES" not in pruned.content
    assert pruned.moved[found["TestBox::test_method[2]"]] == after["TestBox::test_method"]
    assert sorted(pruned.moved.values()) == sorted(after.values())


def test_pytest_is_no_longer_imported_where_the_last_table_went(tmp_path: Path) -> None:
    source = TABLES.partition("\n\nclass")[0]
    found = spots(outline(source), run(tmp_path, source))
    pruned = prune(source, found.values(), [found["test_constant[3-4]"]])
    assert pruned.content.strip() == "def test_constant():\n    assert 1 < 2"


def test_ledger_and_evidence_follow_a_test_to_its_new_name(choose: Choose) -> None:
    candidate = (
        "import pytest\n\nfrom shop.prices import label\n\n\n"
        '@pytest.mark.parametrize(("price", "expected"), [(0, "free"), (0, "wrong")])\n'
        "def test_label(price, expected):\n    assert label(price) == expected\n"
    )
    base = {"shop/prices.py": "def label(price):\n    return 'nothing'\n"}
    selection = choose(candidate, base=base)
    assert selection.suite is not None
    assert selection.suite.content == (
        'from shop.prices import label\n\n\ndef test_label():\n    assert label(0) == "free"\n'
    )
    (kept,) = [row for row in selection.ledger if row.kept]
    assert kept.id == "tests/test_prices.py::test_label"
    assert kept.lines_gained
    assert kept.mutants_killed
    assert kept.on_base == "failed"
    assert [row.id.partition("::")[2] for row in selection.ledger if not row.kept] == ["test_label[0-wrong]"]
    assert kept.id in selection.run.passed
    assert {v.killed_by for v in selection.mutation.after.verdicts if v.killed_by} == {kept.id}


def test_a_plain_test_joins_an_existing_file_whose_own_tables_stay(choose: Choose) -> None:
    existing = (
        "import pytest\n\nfrom shop.prices import clamp\n\n\n"
        '@pytest.mark.parametrize("value", [5])\ndef test_clamp(value):\n    assert clamp(value, 0, 3) == 3\n'
    )
    candidate = (
        "import pytest\n\nfrom shop.prices import clamp\n\n\n"
        '@pytest.mark.parametrize(("value", "expected"), [(-2, 9), (-2, 0)])\n'
        "def test_clamp(value, expected):\n    assert clamp(value, 0, 3) == expected\n"
    )
    selection = choose(candidate, files={"tests/test_prices.py": existing})
    assert selection.suite is not None
    added = "\n\ndef test_clamp_behaviour():\n    assert clamp(-2, 0, 3) == 0\n"
    assert selection.suite.content == existing + added
    (kept,) = [row for row in selection.ledger if row.kept]
    assert kept.id == "tests/test_prices.py::test_clamp_behaviour"
    assert kept.lines_gained
    assert kept.mutants_killed


# ---------------------------------------------------------------- any table of one row

VALUES = [
    "1",
    "-2",
    "'a'",
    "None",
    "(1, 2)",
    "[1]",
    "{'k': [1]}",
    "2 + 3",
    "math.pi",
    "float('nan')",
    "ValueError",
]
LINES = [
    "assert x == y",
    "assert -x",
    "assert x.real",
    "assert f'{x}{y!r}'",
    "assert x is y",
    "assert x",
    "assert [x for _ in range(2)] == [y, y]",
    "assert (lambda: x)() == x",
    "x.append(y)",
    "assert str(x)[0] == str(y)[0]",
    "assert not x ** y",
    "with pytest.raises(x):\n        raise y",
    "x = y",
]


@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    tests=st.lists(
        st.tuples(
            st.sampled_from(VALUES),
            st.sampled_from(VALUES),
            st.lists(st.sampled_from(LINES), min_size=1, max_size=3),
        ),
        min_size=6,
        max_size=8,
    )
)
def test_any_table_of_one_row_gives_one_test_with_the_same_outcome(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tests: list[tuple[str, str, list[str]]]
) -> None:
    parts = ["import math\n\nimport pytest\n"]
    for number, (x, y, lines) in enumerate(tests):
        body = "".join(f"    {line}\n" for line in lines)
        parts.append(f'@pytest.mark.parametrize(("x", "y"), [({x}, {y})])\ndef test_{number}(x, y):\n{body}')
    source = "\n\n".join(parts)
    names = [f"test_{number}" for number in range(len(tests))]
    content, done = inlined(source, names)
    before, after = run(tmp_path, source), run(tmp_path, content)
    assert [result.function for result in after] == names
    assert {result.function for result in after if result.id == result.function} == done
    assert [result.outcome for result in after] == [result.outcome for result in before]
