"""Which lines a reviewer of a change cares about."""

from __future__ import annotations

from bot.domain import Function, Target

SOURCE = "RATE = 2\n\n\ndef price(x):\n    y = x * RATE\n    return y\n\n\ndef other():\n    return 1\n"


def target(changed: set[int], *functions: Function, whole_file: bool = False) -> Target:
    return Target("m.py", "m", SOURCE, frozenset(changed), functions, whole_file=whole_file)


def test_of_a_changed_function_every_line_is_near() -> None:
    assert target({1, 5}, Function("price", 4, 5, 6)).near_lines == {1, 4, 5, 6}


def test_a_change_outside_of_functions_may_show_anywhere() -> None:
    assert target({1}).near_lines is None


def test_of_a_whole_file_any_line_counts() -> None:
    assert target({1, 5}, Function("price", 4, 5, 6), whole_file=True).near_lines is None
