"""Paths as a person types them, relative to the project that they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.errors import UsageError


def inside(root: Path, path: Path, starts: Sequence[Path]) -> str:
    """Return a path relative to the root, taken from the first directory of `starts` in which it exists.

    Raises:
        UsageError: It exists nowhere, or outside of the root.
    """
    top = root.resolve()
    found = [start / path for start in starts if (start / path).exists()]
    if not found:
        raise UsageError(f"There is no file or directory {str(path)!r}.")
    for candidate in found:
        place = candidate.parent.resolve() / candidate.name if candidate.name else candidate.resolve()
        if place == top or top in place.parents:
            return place.relative_to(top).as_posix()
    raise UsageError(
        f"{str(path)!r} lies outside of {str(root)!r}, which is what testforge would copy and run."
    )


def inside_or_absolute(root: Path, path: Path) -> str:
    """Return an existing file's path relative to the root, or absolute if it lies outside."""
    place = path.parent.resolve() / path.name
    return place.relative_to(root.resolve()).as_posix() if root.resolve() in place.parents else str(place)
