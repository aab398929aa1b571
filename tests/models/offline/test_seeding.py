"""The zero-shot suite says what the source alone says."""

import ast

import pytest

from bot.models.offline import outline, seeding
from bot.models.offline.reading import Assignment

SHOP = '''
"""Prices."""

class PriceError(ValueError):
    """A price that cannot be."""


class Item:
    """Something for sale."""

    def __init__(self, name: str, price: int = 3, *, tags=()):
        self.name = name
        self.price = price
        self.tags = list(tags)


def total(prices, rate=0.0):
    """Add prices.

    >>> total([1, 2])
    3
    >>> basket = [1, 2]
    >>> total(basket, rate=0.5)
    4.5
    >>> total([1, "x"])
    Traceback (most recent call last):
        ...
    TypeError: no number: x
    """
    if prices is None:
        raise PriceError("no prices")
    if not prices:
        return 0
    return sum(prices) * (1 + rate)


def double(n):
    """Double: `double(2) -> 4`."""
    return 2 * n


def order(n):
    """Order.

    >>> twice = lambda x: 2 * x
    >>> twice(order(1))
    2
    >>> order(object())
    <object object at 0x7f0000000000>
    """
    return n
'''


def suite(source: str = SHOP, **facts: object) -> str:
    task = Assignment("shop.py", "shop", "tests/test_shop.py", "3.11", source, **facts)  # type: ignore[arg-type]
    content = seeding.suite(task).content
    ast.parse(content)
    return content


def test_doctest_examples_become_tests() -> None:
    assert "        ([1, 2], 3),\n" in suite()


def test_names_that_an_example_builds_on_are_given() -> None:
    assert "    basket = [1, 2]\n    assert total(basket, rate=0.5) == pytest.approx(4.5)" in suite()


def test_a_documented_exception_is_expected_with_its_message() -> None:
    assert 'pytest.raises(TypeError, match="no number: x"):\n        total([1, "x"])' in suite()


def test_an_arrow_example_becomes_a_test() -> None:
    assert "assert double(2) == 4" in suite()


def test_an_early_exit_by_a_guard_is_worked_out_from_the_source() -> None:
    content = suite()
    assert 'pytest.raises(PriceError, match="no prices"):\n        total(None)' in content
    assert "        ([], 0),\n" in content


def test_attributes_that_a_constructor_stores_are_looked_at() -> None:
    assert '    item = Item("text")\n    assert item.name == "text"\n' in suite()


def test_a_lambda_of_an_example_becomes_a_function_at_the_top() -> None:
    content = suite()
    assert "def twice(x):\n    return 2 * x\n\n\n" in content
    assert "lambda" not in content


def test_results_with_memory_addresses_are_left_out() -> None:
    assert "0x7f" not in suite()


def test_only_changed_functions_are_written_about() -> None:
    content = suite(changed=frozenset({SHOP[: SHOP.index("return 2 * n")].count("\n") + 1}))
    assert "double" in content
    assert "total" not in content


def test_imports_come_from_the_module_that_the_brief_names() -> None:
    assert "from shop import Item, PriceError, double, order, total\n" in suite()


@pytest.mark.parametrize("source", ["def f(x):\n    return x\n", "def broken(:\n", ""])
def test_a_source_that_says_nothing_gives_nothing(source: str) -> None:
    task = Assignment("m.py", "m", "tests/test_m.py", "3.11", source)
    assert seeding.suite(task).content == ""


def test_a_guard_on_a_call_of_the_repository_is_not_worked_out() -> None:
    source = "def f(x):\n    if dangerous(x):\n        raise ValueError('no')\n    return x\n"
    task = Assignment("m.py", "m", "tests/test_m.py", "3.11", source)
    assert seeding.scenarios(task, outline.read(source)) == ()
