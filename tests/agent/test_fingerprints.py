"""Marks of tests: equal marks, equal test."""

from __future__ import annotations

import pytest

from bot.agent.fingerprints import fingerprints
from bot.agent.fingerprints import test_name as name_of

SUITE = """import os

LIMIT = 3


@pytest.mark.parametrize("n", [1, 2])
def test_a(n):
    assert n < LIMIT


class TestB:
    def test_c(self):
        assert os
"""


def changed(old: str, new: str) -> set[str]:
    """Return the tests whose mark changes with an edit."""
    before, after = fingerprints(SUITE), fingerprints(SUITE.replace(old, new))
    assert SUITE.replace(old, new) != SUITE
    return {name for name in before if after.get(name) != before[name]}


@pytest.mark.parametrize(
    ("old", "new", "tests"),
    [
        ("n < LIMIT", "n <= LIMIT", {"test_a"}),
        ("[1, 2]", "[1]", {"test_a"}),
        ("assert os", "assert os.path", {"TestB"}),
        ("LIMIT = 3", "LIMIT = 4", {"test_a", "TestB"}),
        ("import os", "import os, shop", {"test_a", "TestB"}),
        ("class TestB", "def test_d():\n    assert 1\n\n\nclass TestB", set()),
        ("\n\nclass", "\n\n# a remark\nclass", set()),
        ("def test_c(", "def test_c((", {"test_a", "TestB"}),
    ],
)
def test_a_mark_changes_with_the_test_and_with_what_it_relies_on(old: str, new: str, tests: set[str]) -> None:
    assert changed(old, new) == tests


@pytest.mark.parametrize(
    ("node_id", "name"),
    [
        ("tests/test_a.py::test_b", "test_b"),
        ("tests/test_a.py::test_b[x::y[1]]", "test_b"),
        ("tests/test_a.py::TestB::test_c[1]", "TestB"),
        ("tests/test_a.py", ""),
    ],
)
def test_a_node_id_is_named_by_its_top_level_definition(node_id: str, name: str) -> None:
    assert name_of(node_id) == name


def test_a_further_import_leaves_the_tests_alone_that_do_not_use_it() -> None:
    test = "\n\ndef test_a():\n    assert a() == 1\n"
    before = fingerprints(f"from shop import a\n{test}")
    assert fingerprints(f"import re\n\nfrom shop import a, b\n{test}") == before
    assert fingerprints(f"from shop import b as a\n{test}") != before
    assert fingerprints(f"import other\nfrom shop import a\n{test}") != before
