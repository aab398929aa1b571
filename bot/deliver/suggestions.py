"""Edits of a test file as ```` ```suggestion ```` blocks: applied together, they give the proposed file byte for byte.

GitHub replaces exactly the lines that a suggestion is anchored on. So every edit must lie in one hunk of the pull
request's diff, no two may share a line, and the file's line ends must be of one kind. Where that does not hold,
nothing is suggested, and the file is delivered by commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from bot.deliver.anchors import Anchors
from bot.deliver.markdown import fence_for, length, printable

_NEAR = 2  # unchanged lines between two edits of one hunk that become one suggestion
_MOST = 20  # suggestions for one file; more are no longer read one by one
_LONGEST = 60_000  # characters of one
_MOST_PAIRS = 4_000_000  # of old and new lines that are compared with each other


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Lines `first` to `last` of the file at head, to be replaced by `lines` (without their ends)."""

    path: str
    first: int
    last: int
    lines: tuple[str, ...]

    @property
    def block(self) -> str:
        """The Markdown that GitHub offers to apply."""
        text = "".join(f"{line}\n" for line in self.lines)
        fence = fence_for(text)
        return f"{fence}suggestion\n{text}{fence}"


@dataclass(frozen=True, slots=True)
class Suggested:
    """The suggestions for one file, or why there are none."""

    suggestions: tuple[Suggestion, ...] = ()
    obstacle: str = ""


def suggest(path: str, old: bytes, new: bytes, anchors: Anchors) -> Suggested:
    """Return the suggestions that turn a file of the pull request into the proposed one.

    Args:
        old: The file at head.
        new: The proposed file.
        anchors: Where comments can stand.
    """
    if path not in anchors.hunks:
        return Suggested(obstacle="the pull request does not change it")
    try:
        before, after = old.decode("utf-8"), new.decode("utf-8")
    except UnicodeDecodeError:
        return Suggested(obstacle="it is not in UTF-8")
    ends = _line_end(before)
    if not ends or _line_end(after) not in (ends, "none"):
        return Suggested(obstacle="its line ends are mixed")
    if not printable(after.replace("\r\n", "\n")):
        return Suggested(obstacle="it holds characters that a comment cannot carry")
    have, want = before.split(ends), after.split(ends)
    # The last piece is what follows the last line end: empty, unless the final newline is missing.
    unfinished = bool(have[-1]) or bool(want[-1])
    have, want = (have, want) if unfinished else (have[:-1], want[:-1])
    edits = _edits(have, want)
    if edits is None:
        return Suggested(obstacle="too much of it changes")
    regions = _anchored(path, edits, len(have), anchors)
    if regions is None:
        return Suggested(obstacle="some of the edits lie outside of the lines that the pull request shows")
    if unfinished and any(region.old_end == len(have) for region in regions):
        return Suggested(obstacle="its last line has no newline")
    found = tuple(
        Suggestion(path, region.old + 1, region.old_end, tuple(want[region.new : region.new_end]))
        for region in regions
    )
    if len(found) > _MOST or any(length(suggestion.block) > _LONGEST for suggestion in found):
        return Suggested(obstacle="the edits are too many or too large")
    return Suggested(found)


def _line_end(text: str) -> str:
    """Return the one kind of line end of a text, `none` if it has none; empty if they are mixed."""
    pairs, feeds, returns = text.count("\r\n"), text.count("\n"), text.count("\r")
    if not feeds and not returns:
        return "none"
    if returns == 0:
        return "\n"
    return "\r\n" if pairs == feeds == returns else ""


@dataclass(frozen=True, slots=True)
class _Region:
    """Old lines `old` to `old_end` become the new lines `new` to `new_end` (0-based, ends excluded)."""

    old: int
    old_end: int
    new: int
    new_end: int

    def and_to(self, other: _Region) -> _Region:
        """Return the region from the start of this one to the end of a later one; what lies between is unchanged."""
        return _Region(self.old, max(self.old_end, other.old_end), self.new, max(self.new_end, other.new_end))


def _edits(have: Sequence[str], want: Sequence[str]) -> list[_Region] | None:
    """Return what differs, in order; between two regions lies at least one unchanged line. None if that is too much."""
    start = 0
    while start < min(len(have), len(want)) and have[start] == want[start]:
        start += 1
    tail = 0
    while tail < min(len(have), len(want)) - start and have[-1 - tail] == want[-1 - tail]:
        tail += 1
    old, new = have[start : len(have) - tail], want[start : len(want) - tail]
    if len(old) * len(new) > _MOST_PAIRS:
        return None
    return [
        _Region(start + i, start + i_end, start + j, start + j_end)
        for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def _anchored(path: str, edits: Sequence[_Region], total: int, anchors: Anchors) -> list[_Region] | None:
    """Return the edits with at least one old line each, near ones joined; None if one cannot be anchored."""
    found: list[_Region] = []
    for edit in edits:
        region = edit if edit.old < edit.old_end else _leaning(path, edit, total, anchors)
        if region is None:
            return None
        if found:
            joined = found[-1].and_to(region)
            near = region.old - found[-1].old_end <= _NEAR
            if near and anchors.at(path, joined.old + 1, joined.old_end):
                found[-1] = joined
                continue
        found.append(region)
    whole = all(anchors.at(path, region.old + 1, region.old_end) for region in found)
    return found if whole else None


def _leaning(path: str, edit: _Region, total: int, anchors: Anchors) -> _Region | None:
    """Return an insertion widened by the unchanged line before it, or the one after it, whichever is in a hunk."""
    if edit.old > 0 and anchors.at(path, edit.old, edit.old):
        return _Region(edit.old - 1, edit.old_end, edit.new - 1, edit.new_end)
    if edit.old < total and anchors.at(path, edit.old + 1, edit.old + 1):
        return _Region(edit.old, edit.old_end + 1, edit.new, edit.new_end + 1)
    return None
