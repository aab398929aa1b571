"""Scenarios become a file that passes, that formatters and linters leave alone, and that reads well."""

import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models.offline import outline
from bot.models.offline.assertions import pattern_of
from bot.models.offline.scenario import Check, Scenario, Then
from bot.models.offline.spelling import qualified
from bot.models.offline.style import Style
from bot.models.offline.writing import Written, write

from .scenarios import ALL, OTHERS, SHELVES, SLUGS, SOURCE, call, on_shelf, value

RUFF = Path(sys.executable).parent / "ruff"
STYLES = (
    Style(),
    Style("classes"),
    Style("unittest"),
    Style(alias="shop", import_line="import shop"),
    Style("classes", quote="'"),
)


def suite(scenarios: Sequence[Scenario] = ALL, style: Style = STYLES[0]) -> Written:
    return write(tuple(scenarios), "shop", outline.read(SOURCE), style)


def body(name: str, scenarios: Sequence[Scenario] = ALL) -> str:
    """Return a test function's text, decorators included."""
    content = suite(scenarios).content
    node = next(n for n in ast.parse(content).body if isinstance(n, ast.FunctionDef) and n.name == name)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return "\n".join(content.splitlines()[first - 1 : node.end_lineno])


def test_the_file_passes_in_every_style(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SOURCE)
    for place, style in enumerate(STYLES):
        (tmp_path / f"test_{place}.py").write_text(suite(style=style).content)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("style", STYLES[:4], ids=["functions", "classes", "unittest", "module"])
def test_the_formatter_and_the_linter_leave_the_file_alone(style: Style, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SOURCE)
    content = suite(style=style).content
    (tmp_path / "test_shop.py").write_text(content)
    subprocess.run(
        [RUFF, "format", "--isolated", "test_shop.py"], cwd=tmp_path, check=True, capture_output=True
    )
    assert (tmp_path / "test_shop.py").read_text() == content
    rules = ["--select", "E,F,I,PT001,PT006,PT007,PT011,B,C4", "--line-length", "88"]
    done = subprocess.run(
        [RUFF, "check", "--isolated", *rules, "test_shop.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_scenarios_of_one_shape_are_one_table_from_simple_to_complex() -> None:
    assert body("test_slug") == (
        "@pytest.mark.parametrize(\n"
        '    ("text", "expected"),\n'
        "    [\n"
        '        ("", ""),\n'
        '        ("A b", "a-b"),\n'
        '        ("Hello  big world", "hello-big-world"),\n'
        "    ],\n"
        ")\n"
        "def test_slug(text, expected):\n"
        "    assert slug(text) == expected"
    )


def test_another_parameter_makes_another_test() -> None:
    assert body("test_slug_with_separator").endswith('assert slug("a b", separator="_") == "a_b"')


def test_an_exception_is_expected_by_type_and_message() -> None:
    assert body("test_slug_rejects_none") == (
        "def test_slug_rejects_none():\n"
        '    with pytest.raises(TypeError, match="text must be a string"):\n'
        "        slug(None)"
    )


def test_an_exception_of_the_module_is_imported() -> None:
    assert "from shop import FullError, Shelf\n" in suite(SHELVES).content


def test_messages_with_special_characters_are_escaped() -> None:
    odd = call("slug", Then("raises", "", "ValueError", "expected (a|b)"), text="'c'")
    content = suite([odd]).content
    assert 'match=re.escape("expected (a|b)")' in content
    assert content.startswith("import re\n\nimport pytest\n")


def test_only_what_messages_share_is_expected_in_a_table() -> None:
    rows = [call("slug", Then("raises", "", "ValueError", f"bad text: '{c}'"), text=repr(c)) for c in "xy"]
    assert 'pytest.raises(ValueError, match="bad text"):' in suite(rows).content


def test_different_messages_are_different_tests() -> None:
    rows = [
        call("slug", Then("raises", "", "ValueError", "too long"), text="'abc'"),
        call("slug", Then("raises", "", "ValueError", "no letters"), text="'123'"),
    ]
    assert len(suite(rows).tests) == 2


@pytest.mark.parametrize(
    ("scenario", "line"),
    [
        (OTHERS[0], "assert list(halves(3)) == [1.5, 0.75]"),
        (OTHERS[1], "assert ratio(1, 3) == pytest.approx(0.3333333333333333)"),
        (OTHERS[2], 'assert math.isnan(ratio(float("inf"), float("inf")))'),
        (SHELVES[3], 'assert shelf.take("x") is None'),
        (SHELVES[4], "assert shelf == Shelf(2)"),
        (SHELVES[5], "assert (shelf == Shelf(2)) is False"),
        (call("slug", Then("holds", "result is not None"), text="'a'"), "assert result is not None"),
        (on_shelf("'a' in shelf.books", value("False")), 'assert "a" not in shelf.books'),
        (
            on_shelf("shelf.put('a')", value("None"), checks=(Check("len(shelf)", value("1")),)),
            'shelf.put("a")',
        ),
    ],
)
def test_each_outcome_is_asserted_as_a_person_would(scenario: Scenario, line: str) -> None:
    assert f"    {line}\n" in suite([scenario]).content


def test_state_is_looked_at_after_the_call() -> None:
    content = suite(SHELVES).content
    assert '    assert shelf.take("a") == "a"\n    assert shelf.books == ["b"]\n' in content


def test_a_setup_that_three_tests_share_is_a_fixture() -> None:
    content = suite(SHELVES).content
    assert (
        "@pytest.fixture\ndef shelf():\n    shelf = Shelf(2)\n"
        '    shelf.put("a")\n    shelf.put("b")\n    return shelf\n' in content
    )
    assert content.count('shelf.put("b")') == 1


def test_functions_that_tests_need_are_defined_at_the_top() -> None:
    helper = "def tick():\n    return 7"
    scenarios = [
        Scenario("ratio", "ratio(tick(), 7)", value("1.0"), (helper,), names=("ratio",)),
        Scenario("ratio", "ratio(14, tick())", value("2.0"), (helper,), names=("ratio",)),
    ]
    content = suite(scenarios).content
    assert content.count("def tick():\n    return 7\n") == 1
    assert content.index("def tick") < content.index("def test_")


def test_objects_of_the_module_are_never_made_in_a_table() -> None:
    rows = [
        Scenario(
            "Shelf", f"Shelf({n})", value(f"Shelf({n}, label='')"), names=("Shelf",), args=(("size", n),)
        )
        for n in ("1", "2")
    ]
    content = suite(rows).content
    assert "assert Shelf(size) == Shelf(size)" in content


def test_inputs_seen_to_give_two_results_are_left_out() -> None:
    assert suite([call("slug", value("'a'"), text="'A'"), call("slug", value("'b'"), text="'A'")]).tests == ()


def test_text_that_is_not_python_is_left_out() -> None:
    assert suite([call("slug", value("<object>"), text="'A'")]).tests == ()


def test_a_row_is_found_by_its_node_id() -> None:
    written = suite(SLUGS)
    assert written.scenarios_of("tests/test_shop.py::test_slug[A b-a-b]") == (SLUGS[0],)
    assert written.scenarios_of("tests/test_shop.py::test_slug[-]") == (SLUGS[1],)


def test_a_plain_test_is_found_by_its_node_id() -> None:
    assert suite(SLUGS).scenarios_of("tests/test_shop.py::test_slug_rejects_none") == (SLUGS[5],)


def test_an_unknown_node_id_has_no_scenarios() -> None:
    assert suite(SLUGS).scenarios_of("tests/test_shop.py::test_other") == ()


def test_names_are_qualified_where_the_module_is_imported_whole() -> None:
    code = "slug('slug', separator=slug)"
    assert qualified(code, frozenset({"slug"}), "shop") == "shop.slug('slug', separator=shop.slug)"


def test_a_limit_keeps_what_tells_the_most() -> None:
    telling = Scenario("slug", "slug('A')", value("'a'"), names=("slug",), lines=frozenset({1, 2, 3}))
    silent = Scenario("ratio", "ratio(1, 1)", value("1.0"), names=("ratio",))
    kept = write((silent, telling), "shop", outline.read(SOURCE), Style(), limit=1)
    assert [test.name for test in kept.tests] == ["test_slug_returns_a"]


def test_the_same_scenarios_give_the_same_file_in_any_order_of_hashing() -> None:
    code = (
        "from tests.models.offline.test_writing import suite\nimport sys; sys.stdout.write(suite().content)\n"
    )
    root = Path(__file__).parents[3]
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "7")
    }
    assert texts == {suite().content}


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), min_size=1, max_size=20))
def test_names_are_unique_and_never_numbered_whatever_the_values(pairs: list[tuple[str, str]]) -> None:
    rows = [call("slug", value(repr(out)), text=repr(text)) for text, out in pairs]
    names = [test.name for test in suite(rows).tests]
    assert len(names) == len(set(names))
    assert not [name for name in names if re.search(r"_\d+$|^test_\d|test_case|var_", name)]


@pytest.mark.parametrize(
    ("message", "pattern"),
    [
        ("no room", '"no room"'),
        ("'major' is negative. A version can only be positive.", "\"'major' is negative\""),
        ("'.0' is not a valid build token. It may not", '"is not a valid build token"'),
        ("must be (a|b)", 're.escape("must be (a|b)")'),
        ("x", ""),
        ("", ""),
        ("got a " + "long " * 30, '"got a ' + "long " * 12 + 'long"'),
    ],
)
def test_a_pattern_is_the_first_telling_clause_of_a_message_or_escaped(message: str, pattern: str) -> None:
    assert pattern_of(message, '"') == pattern


PATCHED = Scenario(
    "register",
    "register('a')",
    None,
    given=('monkeypatch.setattr(shop, "NAMES", [])',),
    checks=(Check("shop.NAMES", Then("value", "['a']", "list")),),
    names=("register",),
    imports=("import shop",),
    is_statement=True,
)


@pytest.mark.parametrize(
    ("style", "signature"),
    [
        (Style(), "def test_register_updates_names(monkeypatch):"),
        (Style("classes"), "(self, monkeypatch):"),
    ],
)
def test_a_test_that_replaces_something_of_the_module_asks_for_monkeypatch(
    style: Style, signature: str
) -> None:
    assert signature in suite([PATCHED], style).content


def test_a_test_case_of_unittest_replaces_nothing() -> None:
    assert "monkeypatch" not in suite([PATCHED], Style("unittest")).content
