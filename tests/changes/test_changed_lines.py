"""Which lines a change concerns: git's hunks, and what of them means something."""

from __future__ import annotations

import ast
import heapq
import inspect
import json.decoder
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.changes import functions_of
from bot.changes.diff import Hunk, hunks, lines_of
from bot.changes.targets import changed_lines

LINE = st.sampled_from(["", "a", "b", "c = 1", "    x", "\x0c", "\x0bé", "\u2028", "@@ -1 +1 @@", "-", "+"])
TEXT = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\r\n", "\r"])), max_size=12).map(
    lambda lines: "".join(line + end for line, end in lines)
)


def unchanged(base: str, head: str, found: tuple[Hunk, ...]) -> tuple[list[str], list[str]]:
    """Walk both texts along the hunks and return the lines that each of them has outside."""
    old, new = lines_of(base), lines_of(head)
    at_old, at_new = 0, 0
    kept_old: list[str] = []
    kept_new: list[str] = []
    for hunk in found:
        same = hunk.first - 1 - at_new
        kept_old += old[at_old : at_old + same]
        kept_new += new[at_new : at_new + same]
        at_old += same + hunk.removed
        at_new += same + len(hunk.lines)
    return kept_old + old[at_old:], kept_new + new[at_new:]


@settings(max_examples=150, deadline=None)
@given(TEXT, TEXT)
def test_lines_outside_of_hunks_are_the_same_in_both_texts(base, head):
    found = hunks(base, head)
    kept_old, kept_new = unchanged(base, head, found)
    assert kept_old == kept_new
    assert all(hunk.lines or hunk.removed for hunk in found)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.data())
def test_an_edit_of_distinct_lines_is_found_exactly(numbers, data):
    base = [f"v{position} = {number}" for position, number in enumerate(numbers)]
    changed = data.draw(st.sets(st.integers(1, len(base))))
    head = [f"{line}0" if place in changed else line for place, line in enumerate(base, 1)]
    lines, _ = changed_lines("\n".join(base), "\n".join(head))
    # 0 and 00 are the same number, so that line means the same as before.
    assert lines == {place for place in changed if not base[place - 1].endswith("= 0")}


BASE = '''\
"""Module."""

import os

LIMIT = 3


class Box:
    """Holds."""

    size = 1

    def get(self):
        """Get."""
        # why
        return self.size

    @property
    def half(self):
        return self.size / 2


def outer(a):
    b = a

    def inner(c):
        return c

    d = inner(b)
    return d


def tail():
    first = 1
    second = 2
    return first
'''


def lines_after(old: str, new: str) -> set[int]:
    assert old in BASE
    lines, _ = changed_lines(BASE, BASE.replace(old, new))
    return set(lines)


def reason_after(old: str, new: str) -> str:
    assert old in BASE
    return changed_lines(BASE, BASE.replace(old, new))[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        # why\n", ""),
        ("        # why\n", "        # because\n        # of this\n"),
        ('"""Module."""', '"""Another."""'),
        ('        """Get."""\n', ""),
        ('"""Holds."""', '"""Holds things.\n\n    And more.\n    """'),
        ("self.size / 2", "self.size  /  2"),
        ("LIMIT = 3", "LIMIT = (\n    3\n)"),
        ("import os\n", "import os  # noqa\n\n\n"),
        ("def outer(a):", "def outer(\n    a,\n):"),
    ],
)
def test_comments_docstrings_and_layout_are_nothing_to_test(old, new):
    assert lines_after(old, new) == set()
    assert reason_after(old, new) == "changes only comments, docstrings or white space"


@pytest.mark.parametrize("module", [json.decoder, textwrap, heapq, inspect])
def test_a_reformatted_module_is_nothing_to_test(module):
    source = inspect.getsource(module)
    again = ast.unparse(ast.parse(source))
    assert changed_lines(source, again) == (frozenset(), "changes only comments, docstrings or white space")


def test_a_comment_beside_a_real_change_does_not_count():
    head = BASE.replace("# why", "# because").replace("LIMIT = 3", "LIMIT = 4")
    assert changed_lines(BASE, head)[0] == {5}


def test_a_reformatted_function_beside_a_real_change_does_not_count():
    head = BASE.replace("return self.size / 2", "return (self.size / 2)").replace("b = a", "b = a + 1")
    lines, _ = changed_lines(BASE, head)
    assert lines == {24}


def test_a_class_attribute_counts():
    assert lines_after("size = 1", "size = 2") == {11}


def test_the_head_of_a_class_counts():
    assert lines_after("class Box:", "class Box(dict):") == {8}


def test_a_decorator_counts_for_its_function():
    assert lines_after("    @property\n", "    @staticmethod\n") == {18}


def test_removed_lines_inside_a_function_count_as_the_lines_around():
    assert lines_after("    second = 2\n", "") == {34, 35}


def test_a_removed_last_statement_counts_as_the_line_before():
    assert lines_after("    second = 2\n    return first\n", "    second = 2\n") == {35}


def test_a_removed_line_beside_a_comment_counts_as_the_next_code():
    base = "def f():\n    a = 1\n    # c\n    b = 2\n    # d\n    return a\n"
    assert changed_lines(base, base.replace("    b = 2\n", ""))[0] == {2, 5}


@pytest.mark.parametrize("old", ["LIMIT = 3\n", "    size = 1\n", BASE[BASE.index("def tail") :]])
def test_removed_code_outside_of_functions_is_nothing_to_test(old):
    assert reason_after(old, "") == "only removes or moves code"


def test_moved_functions_are_nothing_to_test():
    tail = BASE[BASE.index("def tail") :]
    head = BASE.replace(tail, "").replace("def outer", f"{tail}\n\ndef outer")
    assert changed_lines(BASE, head)[1] == "only removes or moves code"


def test_a_moved_function_that_changed_counts():
    tail = BASE[BASE.index("def tail") :]
    head = BASE.replace(tail, "").replace(
        "def outer", tail.replace("second = 2", "second = 3") + "\n\ndef outer"
    )
    lines, _ = changed_lines(BASE, head)
    names = {f.qualname for f in functions_of(head) if lines & set(range(f.first, f.last + 1))}
    assert names == {"tail"}


def test_an_overloaded_name_is_compared_with_all_of_its_definitions():
    base = "class A:\n    @property\n    def x(self):\n        return 1\n    @x.setter\n    def x(self, v):\n        self.v = v\n"
    head = base.replace("return 1", "return  1").replace("self.v = v", "self.v = v + 1")
    assert changed_lines(base, head)[0] == {7}


def test_a_new_file_without_code_is_nothing_to_test():
    assert changed_lines(None, '"""Only a docstring."""\n# and a comment\n') == (frozenset(), "holds no code")


def test_a_very_deep_expression_is_compared():
    base = "x = " + " + ".join(["1"] * 900) + "\n"
    assert changed_lines(base, base + "y = 2\n")[0] == {2}


def test_a_long_chain_of_elif_is_compared():
    chain = "def f(x):\n    if x == 0:\n        return 0\n" + "".join(
        f"    elif x == {n}:\n        return {n}\n" for n in range(1, 400)
    )
    assert changed_lines(chain, chain.replace("return 7\n", "return 8\n"))[0] == {17}


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('__version__ = "1.0"\nx = 1\n', '__version__ = "1.1"\nx = 1\n', "metadata"),
        ("VERSION = (1, 0)\nx = 1\n", "VERSION = (1, 1)\nx = 1\n", "metadata"),
        ("__all__ = ['a']\n", "__all__ = [\n    'a',\n    'b',\n]\n", "metadata"),
        ("from typing import List\nx = 1\n", "from typing import (\n    Any,\n)\nx = 1\n", "imports"),
        ('import os\n__version__ = "1"\n', 'import re\n__version__ = "2"\n', "metadata"),
    ],
)
def test_a_change_of_version_or_imports_alone_is_nothing_to_test(before, after, reason):
    said = {
        "metadata": "changes only its version, names or other metadata",
        "imports": "changes only imports",
    }
    assert changed_lines(before, after)[1] == said[reason]


@pytest.mark.parametrize("changed", ["x = 2", "def version(): return 2", "a = __version__ = 2"])
def test_a_version_that_changes_beside_code_leaves_a_target(changed):
    lines, reason = changed_lines('__version__ = "1.0"\nx = 1\n', f'__version__ = "1.1"\n{changed}\n')
    assert (set(lines), reason) == ({1, 2}, "")
