"""Settings of a repository that nest deeper than they can be read."""

from __future__ import annotations

from bot.select.testlayout import read_layout

DEEP = f"a = {'[' * 3000}{']' * 3000}\n"


def test_a_pyproject_that_nests_too_deeply_settles_nothing() -> None:
    files = ("pyproject.toml", "calc.py")
    assert read_layout(files, lambda _: DEEP, None) == read_layout(files, lambda _: "", None)
