"""Of a suite by another hand, what passes stays as it is written."""

from bot.models.offline.reading import Failure
from bot.models.offline.standing import remaining

SUITE = '''"""Tests."""
import os

from shop import slug

WORDS = ["a", "b"]
LIMIT = 3


@pytest.mark.parametrize("text", WORDS)
def test_table(text):
    # a comment
    assert slug(text) == text


def test_alone():
    assert slug("") == ""


class TestSlug:
    x = 1

    def test_in_class(self):
        assert slug("a") == "a"

    @pytest.mark.slow
    def test_other(self):
        assert slug("b") == "b"
'''


def failing(*names: str) -> list[Failure]:
    return [Failure(f"tests/test_shop.py::{name}") for name in names]


def test_without_failures_all_definitions_stay_verbatim() -> None:
    rest = remaining(SUITE, [])
    assert rest.imports == ("import os", "from shop import slug")
    assert rest.blocks[0] == 'WORDS = ["a", "b"]\nLIMIT = 3'
    assert "    # a comment\n" in rest.blocks[1]


def test_a_failing_function_goes() -> None:
    assert not [block for block in remaining(SUITE, failing("test_alone")).blocks if "test_alone" in block]


def test_a_failing_case_takes_its_table_along() -> None:
    assert not [block for block in remaining(SUITE, failing("test_table[a]")).blocks if "test_table" in block]


def test_a_failing_method_goes_with_its_decorators_and_leaves_the_others() -> None:
    block = remaining(SUITE, failing("TestSlug::test_other")).blocks[-1]
    assert block.endswith('        assert slug("a") == "a"')


def test_a_class_without_tests_left_goes() -> None:
    rest = remaining(SUITE, failing("TestSlug::test_in_class", "TestSlug::test_other"))
    assert not [block for block in rest.blocks if "TestSlug" in block]


def test_a_file_that_was_not_collected_leaves_nothing() -> None:
    assert remaining(SUITE, [Failure("tests/test_shop.py")]).blocks == ()


def test_a_file_that_does_not_parse_leaves_nothing() -> None:
    assert remaining("def test_(:", []).blocks == ()
