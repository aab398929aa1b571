"""The style of new tests is read from the nearest existing ones."""

import pytest

from bot.models.offline import style
from bot.models.offline.style import Style

FUNCTIONS = "from pkg.mod import f\n\n\ndef test_f():\n    assert f() == 'a'\n"
CLASSES = "from pkg.mod import f\n\n\nclass TestF:\n    def test_one(self):\n        pass\n\n    def test_two(self):\n        pass\n"
CASES = "import unittest\nfrom pkg.mod import f\n\nclass FTest(unittest.TestCase):\n    def test_f(self):\n        pass\n"


def read(*texts: str) -> Style:
    return style.read([(f"tests/test_{n}.py", text) for n, text in enumerate(texts)], "pkg.mod")


@pytest.mark.parametrize(
    ("texts", "grouping"),
    [
        ((), "functions"),
        ((FUNCTIONS,), "functions"),
        ((CLASSES,), "classes"),
        ((CASES,), "unittest"),
        ((CASES, FUNCTIONS), "functions"),
        (("def broken(:",), "functions"),
    ],
)
def test_tests_are_grouped_as_most_examples_are(texts: tuple[str, ...], grouping: str) -> None:
    assert read(*texts).grouping == grouping


@pytest.mark.parametrize(
    ("line", "alias"),
    [
        ("import pkg.mod as mod", "mod"),
        ("from pkg import mod", "mod"),
        ("from pkg import mod as m", "m"),
        ("from pkg.mod import f", ""),
        ("import pkg.mod", ""),
        ("import other", ""),
    ],
)
def test_the_module_is_imported_whole_where_examples_do(line: str, alias: str) -> None:
    found = read(f"{line}\n\n\ndef test_x():\n    pass\n")
    assert (found.alias, found.import_line) == (alias, line if alias else "")


@pytest.mark.parametrize(
    ("text", "quote"), [("x = ['a', 'b', 'c', 'd']\n", "'"), ("x = ['a', \"b\"]\n", '"'), ("x = 1\n", '"')]
)
def test_single_quotes_are_used_where_they_clearly_prevail(text: str, quote: str) -> None:
    assert read(text).quote == quote


RECIPES = "import pkg as p\nfrom unittest import TestCase\n\n\nclass TakeTests(TestCase):\n    def test_take(self):\n        self.assertEqual(p.take(1), [1])\n"


def test_names_that_the_package_passes_on_are_reached_through_its_alias() -> None:
    source = "__all__ = ['take', 'drop']\n\n\ndef take(n): ...\n\n\ndef drop(n): ...\n\n\ndef spare(n): ...\n"
    found = style.read([("tests/test_mod.py", RECIPES)], "pkg.mod", source)
    assert (found.alias, found.import_line) == ("p", "import pkg as p")
    assert [found.spells(name) for name in ("take", "drop", "spare")] == [True, True, False]


def test_a_package_that_examples_reach_no_name_of_the_module_through_is_no_alias() -> None:
    assert style.read([("tests/test_mod.py", RECIPES)], "pkg.mod", "__all__ = ['other']\n").alias == ""


@pytest.mark.parametrize(
    ("name", "holder"),
    [
        ("TakeTests", "{}Tests"),
        ("TakeTestCase", "{}TestCase"),
        ("TestTake", "Test{}"),
        ("TakeTest", "{}Test"),
    ],
)
def test_unittest_classes_are_called_as_in_the_examples(name: str, holder: str) -> None:
    assert read(CASES.replace("FTest", name)).holder == holder
