"""Patterns for paths, checked against git's own .gitignore."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.changes.globs import matches

PATHS = (
    "a.py",
    "src/a.py",
    "src/pkg/a.py",
    "src/pkg/b_gen.py",
    "docs/src/a.py",
    "x/y/z/a.py",
    "[a].py",
    "src/+a.py",
)
PATTERNS = (
    "*.py", "/*.py", "a.py", "src", "src/", "/src/", "src/*", "src/*.py", "src/**", "src/**/*.py", "**/a.py", "**/pkg/**",
    "*_gen.py", "x/**/a.py", "?.py", "[ab].py", "[!b].py", "./src", "s*c/p*", "y", "src/pkg/a.py/", "\\[a\\].py", "src/[^p]a.py", "[b-a].py", "[a-b].py",
)  # fmt: skip


@pytest.mark.parametrize("pattern", [p for p in PATTERNS if not p.startswith("./")])
def test_patterns_mean_what_gitignore_means(repo, pattern):
    repo.write(dict.fromkeys(PATHS, ""))
    repo.write({".git/info/exclude": pattern + "\n"})
    listed = repo.git(
        "-c", "core.quotepath=off", "ls-files", "-z", "--others", "--ignored", "--exclude-standard"
    )
    assert {path for path in PATHS if matches(path, [pattern])} == {
        path for path in listed.split("\0") if path
    }


def test_a_leading_dot_slash_is_the_root():
    assert matches("src/a.py", ["./src"])
    assert not matches("docs/src/a.py", ["./src"])


def test_no_pattern_matches_nothing():
    assert not matches("a.py", [])


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab*?[]!^-/\\.", max_size=10), st.text(alphabet="ab/-.", min_size=1, max_size=10))
def test_any_pattern_can_be_asked(pattern, path):
    assert matches(path, [pattern]) in (True, False)


@pytest.mark.parametrize(
    "pattern", ["**/" * 40 + "x", "*a" * 60 + "b", "a" + "**a" * 60 + "b", "*/**" * 40 + "/x"]
)
def test_no_pattern_takes_more_time_than_path_times_pattern(pattern):
    assert not matches("a" * 100 + "/a" * 100, [pattern])
    assert matches("a" * 100 + "/a" * 100 + "/x", [pattern[:-1] + "*"])
