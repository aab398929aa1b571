"""A test that says the same as another is a duplicate, whatever it is called; a different one is not."""

from __future__ import annotations

from bot.select.duplicates import duplicates
from bot.select.nodes import Spot


def found(source: str, *tests: Spot, existing: str = "") -> set[Spot]:
    return set(duplicates(source, tests, {"tests/test_old.py": existing} if existing else {}))


TWO = (
    "from m import f, g\n\n\ndef test_a():\n    assert f(1) == 2\n\n\ndef test_b():\n    assert {}(1) == 2\n"
)


def test_the_same_body_under_another_name_is_a_duplicate() -> None:
    assert found(TWO.format("f"), Spot("test_a"), Spot("test_b")) == {Spot("test_b")}


def test_another_body_is_none() -> None:
    assert not found(TWO.format("g"), Spot("test_a"), Spot("test_b"))


def test_a_docstring_makes_no_difference() -> None:
    source = 'def test_a():\n    assert 1\n\n\ndef test_b():\n    """Says more."""\n    assert 1\n'
    assert found(source, Spot("test_a"), Spot("test_b")) == {Spot("test_b")}


def test_the_same_row_of_a_table_is_a_duplicate_whatever_its_id() -> None:
    source = (
        "import pytest\n\n\n@pytest.mark.parametrize('x', [1, 2, pytest.param(1, id='one'), 2 ])\n"
        "def test_a(x):\n    assert x\n"
    )
    rows = [Spot("test_a", (index,)) for index in range(4)]
    assert found(source, *rows) == {rows[2], rows[3]}


def test_an_existing_test_comes_first() -> None:
    existing = (
        "import m\nfrom m import f\n\n\nclass TestF:\n    pass\n\n\ndef test_old():\n    assert f(1) == 2\n"
    )
    assert found(TWO.format("g"), Spot("test_a"), Spot("test_b"), existing=existing) == {Spot("test_a")}


def test_an_existing_test_of_another_module_says_something_else() -> None:
    existing = "from other import f\n\n\ndef test_old():\n    assert f(1) == 2\n"
    assert not found(TWO.format("g"), Spot("test_a"), Spot("test_b"), existing=existing)


def test_methods_of_classes_with_different_set_up_say_different_things() -> None:
    source = (
        "class TestA:\n    size = 1\n\n    def test_x(self):\n        assert self.size\n\n\n"
        "class TestB:\n    size = 2\n\n    def test_x(self):\n        assert self.size\n"
    )
    assert not found(source, Spot("TestA::test_x"), Spot("TestB::test_x"))
    assert found(source.replace("2", "1"), Spot("TestA::test_x"), Spot("TestB::test_x")) == {
        Spot("TestB::test_x")
    }


def test_existing_tests_that_do_not_parse_are_passed_over() -> None:
    assert not found(TWO.format("g"), Spot("test_a"), existing="def test_old(:\n")
