"""A failing test whose expectation stands in the documentation shows a suspected bug of the code."""

from __future__ import annotations

import pytest

from bot.domain import Target
from bot.select.bugs import report, suspected
from bot.select.nodes import Spot
from tests.conftest import OpenBox

SOURCE = '''def double(x):
    """Double.

    >>> n = 2
    >>> double(n)
    4
    >>> double("a")
    'aa'
    """
    return x + 1
'''
TARGET = Target("m.py", "m", SOURCE, frozenset({1}))


@pytest.mark.parametrize(
    "body",
    [
        'assert double("a") == "aa"',
        "assert m.double('a') == 'aa'",
        'assert "aa" == double("a")',
        'result = double("a")\n    assert result == "aa"',
        'text = "a"\n    expected = "aa"\n    assert double(text) == expected',
    ],
)
def test_the_example_is_recognised_however_the_test_is_written(body: str) -> None:
    found = suspected(
        f"import m\nfrom m import double\n\n\ndef test_a():\n    {body}\n", TARGET, {"t": Spot("test_a")}
    )
    assert [example.call for example in found.values()] == ['double("a")']


def test_the_row_of_a_table_is_what_counts() -> None:
    source = (
        "import pytest\nfrom m import double\n\n\n"
        "@pytest.mark.parametrize(('x', 'y'), [('b', 'bb'), pytest.param('a', 'aa', id='a')])\n"
        "def test_a(x, y):\n    assert double(x) == y\n"
    )
    failing = {"t[b]": Spot("test_a", (0,)), "t[a]": Spot("test_a", (1,))}
    assert list(suspected(source, TARGET, failing)) == ["t[a]"]


def test_another_expectation_is_just_a_wrong_test() -> None:
    source = "from m import double\n\n\ndef test_a():\n    assert double('a') == 'aaa'\n"
    assert not suspected(source, TARGET, {"t": Spot("test_a")})


def test_what_is_observed_is_asked_in_the_sandbox(open_box: OpenBox) -> None:
    source = "from m import double\n\n\ndef test_a():\n    assert double('a') == 'aa'\n"
    found = suspected(source, TARGET, {"t": Spot("test_a")})
    (bug,) = report(open_box({"m.py": SOURCE}), TARGET, found)
    assert (bug.test, bug.function) == ("t", "double")
    assert bug.expected == "double(\"a\") == 'aa'"
    assert bug.observed.startswith("raises TypeError")
