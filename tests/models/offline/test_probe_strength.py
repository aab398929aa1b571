"""Kinds of tests that the probe must find by itself: what makes the difference between reached and proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.offline.test_explore import explored

pytestmark = pytest.mark.slow

TILL = '''
import time

FLOORS = {"a": 1, "b": 2, "c": 3}


class Till:
    """Holds things for a while."""

    def __init__(self, ttl, timer=time.monotonic):
        self.ttl = ttl
        self.timer = timer
        self.things = {}

    def put(self, key):
        self.things[key] = self.timer() + self.ttl

    def __contains__(self, key):
        return key in self.things and self.timer() < self.things[key]

    def clear(self):
        self.things.clear()

    def __len__(self):
        return len(self.things)


class Floor:
    """A floor of the house."""

    def __init__(self, name: str) -> None:
        try:
            self.rank = FLOORS[name.strip()]
        except AttributeError:
            raise ValueError(f"no name: {name!r}") from None
        self.name = name

    def __lt__(self, other):
        if not isinstance(other, Floor):
            return NotImplemented
        return self.rank < other.rank

    def up(self) -> "Floor":
        if self.rank > 2:
            raise ValueError("there is no more")
        return Floor("abc"[self.rank])

    def __str__(self):
        return f"floor {self.name}"
'''


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Each case in one line: its steps, what it gave, what was looked at besides."""
    found = explored(Path(tmp_path_factory.mktemp("till")), TILL)
    lines = []
    for one in found:
        then = (
            "" if one.then is None else f"{one.then.kind} {one.then.type} {one.then.text} {one.then.message}"
        )
        checks = " ".join(f"[{check.expression} is {check.then.text}]" for check in one.checks)
        lines.append(f"{'; '.join([*one.given, one.when])} -> {then} {checks}")
    return lines


def test_an_object_with_a_clock_gets_one_that_the_test_sets(told: list[str]) -> None:
    made = [line for line in told if "Till(" in line]
    assert made
    assert all("timer=lambda: now[0]" in line and "now = [0]" in line for line in made)


def test_an_operator_that_refuses_its_operand_is_a_test(told: list[str]) -> None:
    assert any(
        " < " in line and "raises TypeError" in line and "not supported between" in line for line in told
    )


def test_a_case_that_an_emptied_class_would_pass_gets_a_look_that_it_would_not(told: list[str]) -> None:
    cleared = [line for line in told if ".clear()" in line]
    assert cleared
    assert all("[" in line.partition("->")[2] for line in cleared)


def test_a_constant_is_told_from_a_wrong_one_by_the_code_that_reads_it(told: list[str]) -> None:
    assert any("Floor('b') < Floor('a')" in line or ("Floor('a')" in line and " < " in line) for line in told)


def test_an_object_that_a_method_gives_is_looked_into(told: list[str]) -> None:
    assert any(".up()" in line and "'floor " in line for line in told)
