"""A small package with one module to test, and a suite for it."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain import Target

SOURCE = '''"""Prices."""


def discount(price, rate):
    """Return the price with a discount taken off."""
    if rate < 0:
        raise ValueError("rate is negative")
    if rate > 10:
        return 0
    return price - rate * 2


def shout(text):
    return text.upper() + "!"
'''
SUITE_PATH = "tests/test_prices.py"
GOOD = """import pytest

from shop.prices import discount


def test_discount_takes_twice_the_rate_off():
    assert discount(10, 3) == 4


def test_a_negative_rate_is_refused():
    with pytest.raises(ValueError, match="rate is negative"):
        discount(10, -1)
"""
ALL_LINES = frozenset(range(1, SOURCE.count("\n") + 1))
TARGET = Target("shop/prices.py", "shop.prices", SOURCE, ALL_LINES, whole_file=True)
TREE: Mapping[str, str | bytes] = {"shop/__init__.py": "", "shop/prices.py": SOURCE, "tests/conftest.py": ""}
