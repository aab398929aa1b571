"""Functions that warn get tests that expect the warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.models.offline import outline, style, writing
from bot.models.offline.scenario import Scenario
from tests.models.offline.test_explore import explored

pytestmark = pytest.mark.slow

SUMS = '''
import warnings


class LargeNumberWarning(UserWarning):
    pass


def total(a: int, b: int) -> int:
    if b > 5:
        warnings.warn("use sum for large numbers", LargeNumberWarning, stacklevel=2)
    return a + b


def halved(number: int) -> int:
    """Halve.

    >>> halved(5)
    2
    """
    warnings.warn(f"halved({number}) is old", DeprecationWarning, stacklevel=2)
    return number // 2
'''


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scenario, ...]:
    return explored(Path(tmp_path_factory.mktemp("sums")), SUMS)


def test_a_warning_is_expected_where_it_is_given(found: tuple[Scenario, ...]) -> None:
    totals = {s.args[1][1]: s.then for s in found if s.subject == "total" and len(s.args) == 2 and s.then}

    assert {int(b) > 5 for b in totals} == {True, False}
    assert all((then.warning == "LargeNumberWarning") == (int(b) > 5) for b, then in totals.items())


def test_the_tests_expect_the_warning_with_its_message(found: tuple[Scenario, ...]) -> None:
    text = writing.write(found, "shop", outline.read(SUMS), style.read((), "shop", SUMS)).content

    warned = (
        'with pytest.warns(LargeNumberWarning, match="use sum for large numbers"):\n        assert total('
    )
    assert warned in text
    assert "def test_total_warns" in text
    assert "LargeNumberWarning" in text.partition("def ")[0]


def test_a_suite_of_unittest_expects_the_warning_too(found: tuple[Scenario, ...]) -> None:
    suite = writing.write(found, "shop", outline.read(SUMS), style.Style(grouping="unittest"))

    assert "with self.assertWarnsRegex(" in suite.content
