"""Text is laid out as `ruff format` leaves it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.models.offline import layout

RUFF = Path(sys.executable).parent / "ruff"

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=30),
    st.binary(max_size=12),
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=8), inner, max_size=4),
    ),
    max_leaves=20,
)


def formatted(code: str) -> str:
    """Return code as ruff formats it, whatever configuration lies about."""
    done = subprocess.run(
        [RUFF, "format", "--isolated", "-"], input=code, capture_output=True, text=True, check=True
    )
    return done.stdout


@settings(max_examples=3, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(VALUES, min_size=30, max_size=60))
def test_assignments_of_any_value_stay_as_they_are_when_formatted(values: list[object]) -> None:
    lines: list[str] = []
    for value in values:
        lines += layout.assignment("expected", ast.parse(repr(value), mode="eval").body, 0)
    code = "\n".join(lines) + "\n"
    assert formatted(code) == code


@given(st.one_of(st.text(), st.binary()), st.sampled_from(["'", '"']))
def test_a_quoted_value_evaluates_to_itself(value: str | bytes, quote: str) -> None:
    assert ast.literal_eval(layout.quoted(value, quote)) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", '"plain"'),
        ('say "hi"', "'say \"hi\"'"),
        ("it's", '"it\'s"'),
        ("a\tb", '"a\\tb"'),
        (b"\x00'", 'b"\\x00\'"'),
    ],
)
def test_double_quotes_are_used_unless_they_need_more_escapes(value: str | bytes, expected: str) -> None:
    assert layout.quoted(value) == expected


def test_a_call_that_is_too_long_keeps_its_arguments_on_one_line_if_they_fit_there() -> None:
    text = f"some_function_with_a_long_name({', '.join(repr('x' * 12) for _ in range(4))})"
    lines = layout.statement(text, 4)
    assert [len(line) - len(line.lstrip()) for line in lines] == [4, 8, 4]


def test_a_collection_that_is_too_long_has_one_item_a_line() -> None:
    lines = layout.statement(f"items = {[f'word {n}' for n in range(12)]}", 0)
    assert lines[:2] == ["items = [", '    "word 0",']
    assert lines[-1] == "]"


def test_wide_characters_count_twice() -> None:
    assert layout.width("日本") == 4


@pytest.mark.parametrize(
    ("text", "expected"), [("f( 1,2 )", "f(1, 2)"), ("x = 'a'", 'x = "a"'), ("1e+40", "1e40")]
)
def test_canonical_text_is_spaced_and_quoted_one_way(text: str, expected: str) -> None:
    assert layout.canonical(text) == expected


def test_text_that_is_not_python_stays_as_it_is() -> None:
    assert layout.canonical("f(") == "f("
