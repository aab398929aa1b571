"""What differs: the files between two trees, and the lines between two texts."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot.changes.repository import LINK, Repository, git

_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv", "--no-color")
_LINE_END = re.compile(r"\r\n|\r|\n")
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that differs.

    Attributes:
        path: Where it lies at head (at base, if it was deleted).
        base_path: Where it lies at base; None if it is new.
        base_blob: Its blob at base; empty if it is new.
        head_blob: Its blob at head; empty if it was deleted, or lies in the working tree.
        deleted: It is not there at head.
        is_link: It is a symbolic link at head.
    """

    path: str
    base_path: str | None
    base_blob: str = ""
    head_blob: str = ""
    deleted: bool = False
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `first` to `last` at head replace `removed` lines of base; `last < first` if nothing replaces them."""

    first: int
    last: int
    removed: int

    @property
    def lines(self) -> range:
        """The added or modified lines at head; of a pure deletion, none."""
        return range(self.first, self.last + 1)


def changed_files(repository: Repository, base: str, head: str | None) -> tuple[FileChange, ...]:
    """Return the files that differ between a commit and another one, or the working tree (`head` None).

    The working tree's untracked files count, ignored ones do not. A file that was renamed is one change, also where
    git has not been told yet. A copy is a new file: nothing tests it so far.
    """
    trees = [base] if head is None else [base, head]
    listing = repository.run(
        "diff", "--raw", "-z", "--no-abbrev", "-M", "--ignore-submodules=all", *_NO_PROGRAMS, *trees, "--"
    )
    found = {change.path: change for change in _parse_raw(listing)}
    if head is None:
        _add_untracked(repository, found)
    return tuple(found[path] for path in sorted(found))


def _parse_raw(listing: bytes) -> list[FileChange]:
    """Read the NUL-separated output of `git diff --raw -z`."""
    fields = iter(listing.split(b"\0"))
    found = []
    for about in fields:
        if not about:
            continue
        _, mode, base_blob, head_blob, status = about.decode().removeprefix(":").split(" ")
        first = os.fsdecode(next(fields))
        path = os.fsdecode(next(fields)) if status[0] in "RC" else first
        link = mode == LINK
        new = status[0] == "A"
        found.append(
            FileChange(
                path=path,
                base_path=None if new else first,
                base_blob="" if new else base_blob,
                head_blob="" if not head_blob.strip("0") else head_blob,
                deleted=status[0] == "D",
                is_link=link,
            )
        )
    return found


def _add_untracked(repository: Repository, found: dict[str, FileChange]) -> None:
    """Add the working tree's untracked files, each joined to the deleted file that it was renamed from, if any."""
    listing = repository.run("ls-files", "--others", "--exclude-standard", "-z")
    for path in sorted(os.fsdecode(name) for name in listing.split(b"\0") if name):
        if path.endswith("/"):  # a repository of its own inside this one
            continue
        link = (repository.root / path).is_symlink()
        gone = found.get(path)
        if gone is not None:  # removed from the index only
            found[path] = replace(gone, deleted=False, is_link=link)
            continue
        origin = _renamed_from(repository, path, found) if not link and path.endswith(".py") else None
        if origin is None:
            found[path] = FileChange(path, None, is_link=link)
        else:
            del found[origin.path]
            found[path] = replace(origin, path=path, deleted=False, is_link=link)


def _renamed_from(repository: Repository, path: str, found: dict[str, FileChange]) -> FileChange | None:
    """Return the deleted file of the same kind whose lines a new one mostly has: at least half, as git counts a rename."""
    gone = [change for change in found.values() if change.deleted and change.path.endswith(".py")]
    lines = Counter((repository.root / path).read_bytes().splitlines())
    best, most = None, 0.5
    blobs = repository.blobs(change.base_blob for change in gone)
    for change, content in zip(gone, blobs, strict=True):
        theirs = Counter(content.splitlines())
        larger = max(lines.total(), theirs.total())
        likeness = (lines & theirs).total() / larger if larger else 0.0
        if likeness >= most and (best is None or likeness > most):
            best, most = change, likeness
    return best


def lines_of(text: str) -> list[str]:
    """Split a source into lines exactly as Python does: at LF, CRLF and CR, and nowhere else."""
    lines = _LINE_END.split(text)
    return lines[:-1] if lines[-1] == "" else lines


def hunks(base: str, head: str) -> tuple[Hunk, ...]:
    """Return what git changes to turn one text into the other, line ends and the last line's end apart."""
    with tempfile.TemporaryDirectory(prefix="testforge-diff-") as name:
        directory = Path(name)
        for side, text in (("base", base), ("head", head)):
            joined = "".join(f"{line}\n" for line in lines_of(text))
            (directory / side).write_bytes(joined.encode("utf-8", "surrogatepass"))
        return _hunks(directory)


def _hunks(directory: Path) -> tuple[Hunk, ...]:
    """Compare the files `base` and `head` of a directory."""
    arguments: Sequence[str] = ("-U0", "--text", "--inter-hunk-context=0", "--diff-algorithm=histogram")
    # Exit code 1 only says that they differ.
    output = git(
        directory, "diff", "--no-index", *_NO_PROGRAMS, *arguments, "--", "base", "head", success=(0, 1)
    )
    found = []
    for match in _HUNK.finditer(output):
        removed = int(match[2]) if match[2] is not None else 1
        added = int(match[4]) if match[4] is not None else 1
        first = int(match[3]) if added else int(match[3]) + 1
        found.append(Hunk(first, first + added - 1, removed))
    return tuple(found)
