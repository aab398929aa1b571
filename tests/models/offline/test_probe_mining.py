"""What is read in a repository's own tests and documents: an expression, and of the statements before it those it needs."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

import pytest

from bot.models.offline.probe.examples import matched
from bot.models.offline.probe.mining import Mine
from bot.models.offline.probe.programs import Op, Param, Step


def mined(tmp_path: Path, text: str, name: str = "tests/test_shop.py") -> list[tuple[str, ...]]:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    mine = Mine(tmp_path, "shop", dir(builtins))
    mine.dig("shop")
    return list(mine.programs)


def of_test(tmp_path: Path, body: str, head: str = "import shop\n") -> list[tuple[str, ...]]:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return mined(tmp_path, f"{head}\n\ndef test_it():\n{lines}\n")


@pytest.mark.parametrize(
    ("body", "program"),
    [
        ("assert shop.price(3) == 6", ("shop.price(3)",)),
        ("total = 3\nassert shop.price(total) == 6", ("shop.price(3)",)),
        (
            "cart = shop.Cart()\ncart.add('tea')\nassert len(cart) == 1",
            ("cart = shop.Cart()", " = cart.add('tea')", "len(cart)"),
        ),
        ("f = lambda n: shop.price(n, rate=2)\nassert f(3) == 6", ("shop.price(3, rate=2)",)),
        ("for n, m in [(1, 2), (2, 4)]:\n    assert shop.price(n) == m", ("shop.price(2)",)),
        ("with context():\n    shop.price(u'x')", ("shop.price('x')",)),
        ("a = [shop.price(1)]\na = [shop.price(2)]\nassert sum(a) == 4", ("a = [shop.price(2)]", "sum(a)")),
    ],
)
def test_an_expression_comes_with_what_it_needs_and_no_more(
    tmp_path: Path, body: str, program: tuple[str, ...]
) -> None:
    assert program in of_test(tmp_path, body)


@pytest.mark.parametrize(
    "body", ["assert shop.price(unknown) == 6", "assert self.price(3) == 6", "assert other.price(3) == 6"]
)
def test_what_depends_on_something_else_is_left_out(tmp_path: Path, body: str) -> None:
    assert of_test(tmp_path, body) == []


def test_rows_of_tables_and_fixtures_are_filled_in(tmp_path: Path) -> None:
    text = (
        "import pytest\nfrom shop import Cart\n\n\n@pytest.fixture\ndef cart():\n    return Cart(2)\n\n\n"
        "@pytest.mark.parametrize('word', ['tea', 'milk'])\ndef test_has(cart, word):\n    assert not cart.has(word)\n"
    )
    assert ("cart = Cart(2)", "cart.has('milk')") in mined(tmp_path, text)


def test_documents_are_read_too(tmp_path: Path) -> None:
    assert ("shop.price(4)",) in mined(tmp_path, "Prices\n\n>>> shop.price(4)\n8\n", "README.md")


def test_a_file_that_is_left_out_is_not_read(tmp_path: Path) -> None:
    mined(tmp_path, "import shop\n\n\ndef test_it():\n    assert shop.price(3)\n")
    mine = Mine(tmp_path, "shop", dir(builtins))
    mine.dig("shop", without="tests/test_shop.py")
    assert not mine.programs


def test_keywords_of_a_call_that_takes_any_are_arguments_too() -> None:
    op = Op("f", "f({*})", [Param("a", None, False), Param("options", None, False, "**")])
    call = ast.parse("f('x', strip=True)", mode="eval").body
    assert isinstance(call, ast.Call)
    args = matched(op, call)
    assert args is not None
    assert Step(op.form, args, op).text == "f('x', strip=True)"
