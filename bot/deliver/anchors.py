"""The lines of a pull request that GitHub lets one comment on: those of its diff, hunk by hunk, as git computes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from bot.changes.repository import Repository, git
from bot.errors import RepositoryError

_COUNTS = re.compile(rb"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_MOST_LINES = 3000  # of one file's diff; GitHub leaves larger ones out
_MOST_FILES = 3000
# Files beyond so many bytes count as binary: their diff would be left out anyway, and could fill the memory.
_OPTIONS = ("-c", "core.bigFileThreshold=5m")


@dataclass(frozen=True, slots=True)
class Anchor:
    """Lines `first` to `last` at head, which lie in one hunk."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Anchors:
    """The head's lines that lie in hunks, context lines included, by path."""

    hunks: Mapping[str, tuple[range, ...]] = field(default_factory=dict)

    def at(self, path: str, first: int, last: int) -> Anchor | None:
        """Return the anchor for these lines; None where they do not lie in one hunk."""
        if first > last:
            return None
        for hunk in self.hunks.get(path, ()):
            if first in hunk and last in hunk:
                return Anchor(path, first, last)
        return None

    def hunk_of(self, path: str, line: int) -> range | None:
        """Return the hunk that holds a line of the head."""
        return next((hunk for hunk in self.hunks.get(path, ()) if line in hunk), None)


def anchors(root: Path, base: str, head: str) -> Anchors:
    """Return where comments on a pull request can stand; nowhere, if a shallow clone lacks the history to tell.

    Args:
        root: A checkout that holds both commits.
        base: The tip of the base branch, or the commit at which the histories part.
    """
    try:
        start = Repository(root).merge_base(base, head)
        diff = git(
            root, "diff", "-U3", "-M", "-l0", "--no-color", "--no-ext-diff", "--no-textconv",
            "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all", "--inter-hunk-context=0",
            "--diff-algorithm=myers", "--indent-heuristic", start, head, "--",
            options=_OPTIONS,
        )  # fmt: skip
    except RepositoryError:
        return Anchors()
    return Anchors(_read(diff))


def _read(diff: bytes) -> dict[str, tuple[range, ...]]:
    """Return the hunks of each file of a diff."""
    found: dict[str, tuple[range, ...]] = {}
    starts = [match.start() for match in re.finditer(rb"^diff --git ", diff, re.MULTILINE)]
    for begin, end in pairwise([*starts[:_MOST_FILES], len(diff)]):
        path, hunks, lines = _read_file(diff[begin:end])
        if path and hunks and lines <= _MOST_LINES:
            found[path] = hunks
    return found


def _read_file(part: bytes) -> tuple[str, tuple[range, ...], int]:
    """Return the path at head, the hunks' lines at head, and the number of lines of one file's diff."""
    lines = part.split(b"\n")
    path, hunks, left = "", [], 0
    for line in lines:
        if left > 0:
            # Inside a hunk a line may look like a header; counting tells that it is none.
            left -= line[:1] in (b" ", b"+")
            continue
        if line.startswith(b"+++ "):
            path = _path(line[4:])
        match = _COUNTS.match(line)
        if match:
            first = int(match[1])
            left = int(match[2]) if match[2] is not None else 1
            if left:
                hunks.append(range(first, first + left))
    return path, tuple(hunks), len(lines)


def _path(written: bytes) -> str:
    """Return the path that git wrote into a header; empty for none, and for one that GitHub could not be told."""
    name = written.rstrip(b"\r").removesuffix(b"\t")
    try:
        return name[2:].decode("utf-8") if name.startswith(b"b/") else ""
    except UnicodeDecodeError:
        return ""
