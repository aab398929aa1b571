"""Tests are named by what they show."""

import pytest

from bot.models.offline import naming, outline, tables, words
from bot.models.offline.scenario import Check, Scenario, Then

from .scenarios import OTHERS, SHELVES, SLUGS, SOURCE, call, on_shelf, value

OUTLINE = outline.read(SOURCE)


def name_of(*scenarios: Scenario, taken: set[str] | None = None, in_class: str = "") -> str | None:
    (table,) = tables.gather(scenarios, OUTLINE)
    return naming.name_for(table, OUTLINE, taken if taken is not None else set(), in_class=in_class)


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        (SLUGS[1], "test_slug_of_empty_text"),
        (SLUGS[3], "test_slug_with_separator"),
        (SLUGS[4], "test_slug_without_lower"),
        (SLUGS[5], "test_slug_rejects_none"),
        (SHELVES[0], "test_shelf_put_raises_full_error"),
        (SHELVES[1], "test_shelf_length_returns_two"),
        (SHELVES[3], "test_shelf_take_returns_none"),
        (SHELVES[4], "test_shelf_equality_is_true"),
        (OTHERS[3], "test_ratio_of_zero_whole_raises_zero_division_error"),
        (call("ratio", value("-1.0"), part="-2", whole="2"), "test_ratio_of_negative_part"),
    ],
)
def test_a_name_says_subject_input_and_outcome(scenario: Scenario, name: str) -> None:
    assert name_of(scenario) == name


def test_a_table_has_the_plain_name_of_its_subject() -> None:
    assert name_of(*SLUGS[:3]) == "test_slug"


def test_inside_its_class_a_test_does_not_repeat_the_class() -> None:
    assert name_of(SHELVES[1], in_class="Shelf") == "test_length_returns_two"


def test_a_name_that_is_taken_gets_more_words() -> None:
    taken = {"test_slug_of_empty_text", "test_slug_is_empty"}
    assert name_of(SLUGS[1], taken=taken) == "test_slug"


def test_without_words_left_there_is_no_name() -> None:
    scenario = Scenario("slug", "slug(a, b)", Then("holds", "a is b"), names=("slug",))
    taken: set[str] = set()
    names = [name_of(scenario, taken=taken) for _ in range(30)]
    assert names[-1] is None
    assert len(set(names)) == len([name for name in names if name]) + 1


def test_an_attribute_that_is_read_only_cannot_be_set() -> None:
    scenario = on_shelf("shelf.size = 3", Then("raises", "", "AttributeError", "readonly"), is_statement=True)
    assert name_of(scenario) == "test_shelf_put_size_cannot_be_set"


def test_attributes_that_a_constructor_stores_are_named() -> None:
    scenario = Scenario(
        "Shelf",
        "shelf = Shelf(3)",
        None,
        names=("Shelf",),
        is_statement=True,
        checks=(Check("shelf.size", value("3")), Check("shelf.label", value("''"))),
    )
    assert name_of(scenario) == "test_shelf_stores_size_and_label"


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Hello, World", "hello_world"),
        ("1.2.3", "one_two_three"),
        ("1.0a5", "1_0a5"),
        ("v 2", "v_two"),
        ("!", ""),
    ],
)
def test_words_of_a_text_never_end_in_a_number(text: str, phrase: str) -> None:
    assert words.text_words(text) == phrase


@pytest.mark.parametrize(
    ("name", "expected"),
    [("LRUCache", "lru_cache"), ("parse", "parse"), ("HTTPError2", "http_error2"), ("_Key", "key")],
)
def test_names_become_snake_case(name: str, expected: str) -> None:
    assert words.snake(name) == expected


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("''", "empty_text"),
        ("'  '", "blank_text"),
        ("None", "none"),
        ("0", "zero"),
        ("-3", "negative_number"),
        ("float('nan')", "nan"),
        ("[]", "empty_list"),
        ("'é'", "non_ascii_text"),
        ("'plain'", ""),
    ],
)
def test_special_values_have_a_phrase(text: str, phrase: str) -> None:
    assert words.notable(text, "value") == phrase


def test_a_telling_parameter_names_its_value() -> None:
    assert words.notable("''", "separator") == "empty_separator"


def test_an_optional_parameter_names_a_table_if_any_row_gives_it() -> None:
    rows = [
        call("slug", value(f"'{c}'"), text=f"'{c}'", separator=text)
        for c, text in (("a", "'-'"), ("b", "'_'"))
    ]
    assert name_of(*rows) == "test_slug_with_separator"


@pytest.mark.parametrize(
    ("subject", "when", "then", "name"),
    [
        (
            "dumps",
            "loads(dumps([1]))",
            value("[1]"),
            "test_dumps_and_loads_round_trip",
        ),
        (
            "dumps",
            "loads(dumps([1])[:-1])",
            Then("raises", "", "BadSignature"),
            "test_loads_of_incomplete_dumps_raises_bad_signature",
        ),
        ("total", "asyncio.run(total([1]))", value("1"), "test_total"),
    ],
)
def test_what_a_call_is_wrapped_in_is_told_apart(subject: str, when: str, then: Then, name: str) -> None:
    told = name_of(Scenario(subject, when, then))
    assert told is not None
    assert told.startswith(name)
    assert "run" not in told


def test_a_text_that_is_code_is_not_said_in_a_name() -> None:
    plain = call("slug", value("'red_apple'"), text="'Red Apple'")
    code = call("slug", value("\"Regex('1', flags=re.I)\""), text="'Red Apple'")

    taken = {"test_slug", "test_slug_of_red_apple"}
    assert name_of(plain, taken=set(taken)) == "test_slug_returns_red_apple"
    assert "flags" not in str(name_of(code, taken=set(taken)))
