"""Tests that an author approved, joined to what is proposed, with real runs."""

from __future__ import annotations

import pytest

from bot.domain import Approved, Suite, Target
from bot.select.joining import Joined, join
from bot.select.placement import Placement

SOURCE = "def price(weight):\n    return 300 if weight > 30 else 110\n"
EXISTING = "from quotes import price\n\n\ndef test_light():\n    assert price(1) == 110\n"
TARGET = Target("quotes.py", "quotes", SOURCE, frozenset({2}))
PLACE = Placement("tests/test_quotes_new.py", "tests/test_quotes.py", extends=True)


def approved(call: str, value: str, **more: str) -> Approved:
    return Approved("quotes.py", "price", call, f"_ == {value}", "@alice", **more)


@pytest.fixture
def joined(open_box):
    def joined(*those: Approved, suite: Suite | None = None) -> Joined:
        files = {"quotes.py": SOURCE, "tests/test_quotes.py": EXISTING}
        return join(lambda: open_box(files), those, TARGET, PLACE, suite)

    return joined


def test_what_holds_joins_the_file_where_the_tests_go(joined):
    found = joined(approved("price(31)", "300"), approved("price(30)", "110"))
    assert found.suite.path == "tests/test_quotes.py"
    assert EXISTING in found.suite.content
    assert "(31, 300),\n        (30, 110)," in found.suite.content
    assert [(row.id, row.note) for row in found.ledger] == [
        ("tests/test_quotes.py::test_price[31-300]", "approved by @alice"),
        ("tests/test_quotes.py::test_price[30-110]", "approved by @alice"),
    ]
    assert found.bugs == ()


def test_what_the_code_does_not_do_is_a_bug_that_the_author_confirmed(joined):
    (bug,) = joined(approved("price(30)", "300", asked=SOURCE, repair="def price(weight): ...\n")).bugs
    assert (bug.test, bug.function, bug.expected, bug.confirmed_by) == (
        "price(30) == 300",
        "price",
        "300",
        "@alice",
    )
    assert "110" in bug.observed
    assert bug.repair == "def price(weight): ...\n"


def test_a_repair_of_the_function_as_it_was_is_of_no_use_for_another_one(joined):
    (bug,) = joined(approved("price(30)", "300", asked="def price(x): ...", repair="def price(x): pass")).bugs
    assert bug.repair == ""


def test_what_is_said_already_is_not_said_again(joined):
    suite = Suite("tests/test_quotes.py", EXISTING, is_new=False)
    assert joined(approved("price(1)", "110"), suite=suite) == Joined(suite)


def test_what_was_approved_of_a_function_that_is_gone_is_left_out(joined):
    gone = Approved("quotes.py", "cost", "cost(1)", "_ == 1")
    other = Approved("others.py", "price", "price(1)", "_ == 2")
    assert joined(gone, other) == Joined(None)
