"""What differs between scenarios becomes a column; ids of rows are those that pytest gives."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from bot.models.offline import outline, selection, shapes, tables
from bot.models.offline.caseids import case_ids
from bot.models.offline.scenario import Scenario

from .scenarios import SLUGS, SOURCE, call, on_shelf, value

OUTLINE = outline.read(SOURCE)


def table_of(*scenarios: Scenario) -> tables.Table:
    (table,) = tables.gather(scenarios, OUTLINE)
    return table


def test_a_literal_that_is_the_same_in_all_rows_stays_in_the_test() -> None:
    table = table_of(
        call("ratio", value("0.5"), part="1", whole="2"), call("ratio", value("1.5"), part="3", whole="2")
    )
    assert (table.columns, table.when) == (("part", "expected"), "ratio(part, 2)")


def test_an_outcome_that_all_rows_share_stays_in_the_test() -> None:
    table = table_of(
        call("ratio", value("2.0"), part="4", whole="2"), call("ratio", value("2.0"), part="2", whole="1")
    )
    assert table.columns == ("part", "whole")
    assert table.then is not None
    assert table.then.text == "2.0"


def test_literals_that_differ_together_are_one_column() -> None:
    table = table_of(
        on_shelf("shelf.take('a')", value("'a'"), "shelf.put('a')", args=(("book", "'a'"),)),
        on_shelf("shelf.take('b')", value("'b'"), "shelf.put('b')", args=(("book", "'b'"),)),
    )
    assert table.columns == ("book",)
    assert table.given[1:] == ("shelf.put(book)",)


def test_a_single_scenario_has_no_columns() -> None:
    assert table_of(SLUGS[0]).columns == ()


def test_too_many_columns_split_a_table_by_what_is_given() -> None:
    rows = [
        Scenario(
            "Shelf.put",
            f"shelf.put(({n}, {n + 20}))",
            value(str(n + 40)),
            (f"shelf = Shelf({n}, '{n}')", f"shelf.put({n + 60})", f"shelf.put({n + 80})"),
            names=("Shelf",),
        )
        for n in range(2)
    ]
    found = tables.gather(rows, OUTLINE)
    assert [len(table.scenarios) for table in found] == [1, 1] or len(
        found[0].columns
    ) <= shapes.MAX_COLUMNS + 1


@pytest.mark.parametrize(
    ("messages", "shared"),
    [
        (["bad text 'a'", "bad text 'b'"], "bad text"),
        (["same text"], "same text"),
        (["x is not a number", "y is not a number"], "is not a number"),
        (["one", "two"], ""),
    ],
)
def test_messages_share_their_beginning_or_their_end(messages: list[str], shared: str) -> None:
    assert tables.common_message(messages) == shared


def test_what_classes_of_one_family_do_alike_is_a_table_over_the_classes() -> None:
    source = "class Base:\n    pass\n\n\nclass Zebra(Base):\n    pass\n\n\nclass Ape(Base):\n    pass\n"
    rows = [
        Scenario(f"{name}.speak", "animal.speak()", value("None"), (f"animal = {name}()",), names=(name,))
        for name in ("Ape", "Zebra")
    ]
    (table,) = tables.gather(rows, outline.read(source))
    assert (table.subject, table.columns, table.rows) == (
        "Base.speak",
        ("base_class",),
        (("Zebra",), ("Ape",)),
    )
    assert table.given == ("animal = base_class()",)


def test_scenarios_that_add_nothing_are_spared() -> None:
    first = Scenario("slug", "slug('a')", value("'a'"), lines=frozenset({1, 2}), kills=("x",))
    second = Scenario("slug", "slug('bb')", value("'bb'"), lines=frozenset({1}), kills=("x",))
    assert selection.worthwhile([second, first], spare=0) == (first,)


def test_documented_scenarios_always_stay() -> None:
    plain = Scenario("slug", "slug('a')", value("'a'"), lines=frozenset({1, 2}))
    documented = Scenario("slug", "slug('b')", value("'b'"), documented=True)
    assert selection.worthwhile([plain, documented], spare=0) == (plain, documented)


def cell(chance: random.Random) -> str:
    """Return the text of some value, ordinary ones and odd ones."""
    text = "".join(chance.choice("ab1 -[é\n\x00\\") for _ in range(chance.randint(0, 4)))
    return chance.choice(
        [
            "None",
            "True",
            str(chance.randint(-3, 3)),
            "1.5",
            "float('nan')",
            "[1]",
            "len",
            repr(text),
            repr(text.encode()),
        ]
    )


def test_ids_of_rows_are_those_that_pytest_gives(tmp_path: Path) -> None:
    chance = random.Random(0)
    rows = [(cell(chance), cell(chance)) for _ in range(300)]
    code = (
        f"import pytest\nROWS = [{', '.join(f'({a}, {b})' for a, b in rows)}]\n"
        "@pytest.mark.parametrize(('left', 'right'), ROWS)\ndef test_it(left, right): pass\n"
    )
    (tmp_path / "test_ids.py").write_text(code)
    (tmp_path / "conftest.py").write_text(
        "import json\n\ndef pytest_collection_modifyitems(items):\n"
        "    open('ids.json', 'w').write(json.dumps([item.callspec.id for item in items]))\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "-p",
        "no:cacheprovider",
        str(tmp_path),
    ]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert case_ids(("left", "right"), rows) == json.loads((tmp_path / "ids.json").read_text())
