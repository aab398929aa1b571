"""Assertions cut out of what a model wrote."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.programs.assertions import Assertion, split


@pytest.mark.parametrize(
    ("text", "call", "predicate", "expected"),
    [
        ("assert f(1) == 2", "f(1)", "_ == 2", "2"),
        ("assert 2 == f(1)", "f(1)", "_ == 2", "2"),
        ("assert f([1], key='a') == {'b': 1}", "f([1], key='a')", "_ == {'b': 1}", "{'b': 1}"),
        ("assert f(1) != 2", "f(1)", "_ != 2", None),
        ("assert f(1) in (2, 3)", "f(1)", "_ in (2, 3)", None),
        ("assert f(1) is None", "f(1)", "_ is None", "None"),
        ("assert f(1)", "f(1)", "_", None),
        ("assert not f(1)", "f(1)", "not _", None),
        ("assert abs(f(1) - 2) < 1e-6", "f(1)", "abs(_ - 2) < 1e-06", None),
        ("assert f(1) == 2, 'why'", "f(1)", "_ == 2", "2"),
    ],
)
def test_an_assertion_is_a_call_and_what_is_true_of_its_value(text, call, predicate, expected):
    (found,) = split(text, "f")
    assert (found, found.expected) == (Assertion(call, predicate), expected)


def test_an_assertion_reads_as_it_would_in_a_test():
    assert Assertion("f(1)", "abs(_ - 2) < 1").text == "assert abs(f(1) - 2) < 1"


def test_several_calls_are_one_assertion_about_both():
    assert split("assert f(1) == f(2)", "f") == (Assertion("not not (f(1) == f(2))", "_"),)


def test_a_call_that_uses_names_of_a_comprehension_stays_in_it():
    (found,) = split("assert all(f(x) for x in (1, 2))", "f")
    assert found.call == "not not (all((f(x) for x in (1, 2))))"


@pytest.mark.parametrize("text", ["assert g(1) == 2", "assert True", "assert x.f(1) == 2", "f(1)", ""])
def test_what_does_not_call_the_function_says_nothing_of_it(text):
    assert split(text, "f") == ()


def test_the_longest_prefix_that_parses_is_kept():
    text = "assert f(1) == 2\nassert f(2) == 3\nassert f(3) == (4,"
    assert [one.call for one in split(text, "f")] == ["f(1)", "f(2)"]


def test_assertions_inside_a_test_function_are_found_without_repetitions():
    text = "def test_f():\n    assert f(1) == 2\n    if True:\n        assert f(1) == 2\n        assert f(2) == 3\n"
    assert [one.call for one in split(text, "f")] == ["f(1)", "f(2)"]


def test_a_long_broken_text_is_cut_in_good_time():
    text = "assert f(1) == 2\n" * 50 + "this is no Python\n" * 4000
    assert split(text, "f") == (Assertion("f(1)", "_ == 2"),)


@given(st.text(max_size=200))
def test_any_text_gives_assertions_or_none(text):
    for one in split(text, "f"):
        ast.parse(one.text)


@given(st.lists(st.integers() | st.text(max_size=5) | st.none(), max_size=4))
def test_the_value_of_a_plain_equality_comes_back(values):
    (found,) = split(f"assert f({values!r}) == {values!r}", "f")
    assert found.expected is not None
    assert ast.literal_eval(found.expected) == values


def test_a_long_text_that_never_parses_is_tried_a_bounded_number_of_times(monkeypatch):
    tries = []
    real = ast.parse
    monkeypatch.setattr(ast, "parse", lambda *given, **more: tries.append(1) or real(*given, **more))
    assert split("try:\n" + " x\n" * 300, "f") == ()
    assert len(tries) < 100
