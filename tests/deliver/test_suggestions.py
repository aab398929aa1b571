"""Suggestions, applied together as the web page does it, give the proposed file byte for byte, or there are none."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from bot.deliver.anchors import Anchors
from bot.deliver.suggestions import Suggestion, suggest
from tests.github.server.world import SUGGESTION, edited

PATH = "tests/test_a.py"
_LINES = st.sampled_from(
    [
        "",
        "a",
        "b",
        "    c = 1",
        "def test_x():",
        "```",
        "````suggestion",
        "# é 😀",
        "\tx",
        "x \\",
        "  ",
        "`````",
    ]
)


def everywhere(old: bytes) -> Anchors:
    return Anchors({PATH: (range(1, old.count(b"\n") + 2),)})


def apply(old: bytes, suggestions: tuple[Suggestion, ...]) -> bytes:
    """Apply what the blocks hold, as the page does, from their Markdown."""
    edits = []
    for suggestion in suggestions:
        match = SUGGESTION.search(f"Some words.\n\n{suggestion.block}")
        assert match is not None
        edits.append((suggestion.first, suggestion.last, match[2].split("\n")[:-1]))
    return edited(old, edits)


@st.composite
def edits(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Draw a file's lines and what becomes of them."""
    old = draw(st.lists(_LINES, min_size=1, max_size=25))
    new = list(old)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(new)))
        gone = draw(st.integers(0, 3))
        new[at : at + gone] = draw(st.lists(_LINES, max_size=3))
    return old, new


@settings(max_examples=300)
@given(both=edits(), end=st.sampled_from(["\n", "\r\n"]))
def test_suggestions_applied_together_give_the_proposed_file(
    both: tuple[list[str], list[str]], end: str
) -> None:
    old, new = ("".join(f"{line}{end}" for line in lines).encode() for lines in both)
    found = suggest(PATH, old, new, everywhere(old))
    if not new:  # an emptied file: nothing has no line ends to keep
        return
    assert not found.obstacle
    assert apply(old, found.suggestions) == new
    assert bool(found.suggestions) == (old != new)


@settings(max_examples=300)
@given(
    both=edits(),
    bounds=st.lists(st.integers(1, 26), min_size=2, max_size=6, unique=True).map(sorted),
    finished=st.tuples(st.booleans(), st.booleans()),
)
def test_each_suggestion_lies_in_one_hunk_or_there_is_none(
    both: tuple[list[str], list[str]], bounds: list[int], finished: tuple[bool, bool]
) -> None:
    old, new = (
        ("\n".join(lines) + ("\n" if ends else "")).encode()
        for lines, ends in zip(both, finished, strict=True)
    )
    hunks = tuple(range(first, last) for first, last in zip(bounds[::2], bounds[1::2], strict=False))
    found = suggest(PATH, old, new, Anchors({PATH: hunks}))
    taken: set[int] = set()
    for suggestion in found.suggestions:
        lines = set(range(suggestion.first, suggestion.last + 1))
        assert any(lines <= set(hunk) for hunk in hunks)
        assert not lines & taken
        taken |= lines
    if found.suggestions:
        assert apply(old, found.suggestions) == new
    assert not (found.suggestions and found.obstacle)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b"a\r\nb\n", b"a\r\nc\n", "mixed"),
        (b"a\rb\r", b"a\rc\r", "mixed"),
        (b"a\nb\n", b"a\r\nb\r\n", "mixed"),
        (b"a\nb", b"a\nc\n", "no newline"),
        (b"a\nb\n", b"a\nc", "no newline"),
        (b"a\n", b"\xff\n", "UTF-8"),
        (b"a\n", b"a\x00\n", "cannot carry"),
        (b"a\n", "a = '\u202e'\n".encode(), "cannot carry"),
    ],
)
def test_what_a_suggestion_would_spoil_comes_by_commit(old: bytes, new: bytes, why: str) -> None:
    found = suggest(PATH, old, new, everywhere(old))
    assert found.suggestions == ()
    assert why in found.obstacle


def test_an_edit_outside_of_the_diff_comes_by_commit() -> None:
    old = b"".join(b"%d\n" % number for number in range(30))
    found = suggest(PATH, old, old + b"more\n", Anchors({PATH: (range(1, 8),)}))
    assert found.suggestions == ()
    assert "outside" in found.obstacle


def test_a_file_that_the_pull_request_does_not_touch_comes_by_commit() -> None:
    assert "does not change" in suggest(PATH, b"a\n", b"b\n", Anchors()).obstacle


def test_a_missing_final_newline_does_not_matter_to_edits_above_it() -> None:
    old, new = b"a\nb\nc\nd\ne", b"a\nx\nc\nd\ne"
    found = suggest(PATH, old, new, everywhere(old))
    assert apply(old, found.suggestions) == new


def test_near_edits_become_one_suggestion() -> None:
    old, new = b"a\nb\nc\nd\ne\nf\n", b"A\nb\nC\nd\ne\nf\n"
    assert [(s.first, s.last) for s in suggest(PATH, old, new, everywhere(old)).suggestions] == [(1, 3)]


def test_the_fence_is_longer_than_any_inside() -> None:
    found = suggest(PATH, b"a\n", b"`````\n", everywhere(b"a\n"))
    assert re.match(r"``````suggestion\n`````\n``````\Z", found.suggestions[0].block)
