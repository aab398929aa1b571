"""Lines of a file as ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def ranges(lines: Iterable[int]) -> Sequence[tuple[int, int]]:
    """Return sorted lines as inclusive ranges: {1, 2, 5} gives [(1, 2), (5, 5)]."""
    found: list[tuple[int, int]] = []
    for line in sorted(lines):
        if found and line == found[-1][1] + 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return found
