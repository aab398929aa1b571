"""What many rows show, in few characters: lines and faults that the same rows show are told once, and rows name them.

A mark is a line (`12`) or a fault (`f3` of the probe's own, `M46` of a tool's): letters, then a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

_MARK = re.compile(r"([A-Za-z]*)(\d+)")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def encoded(rows: Sequence[Collection[str]]) -> tuple[list[str], list[str]]:
    """Return the legend, one text for each group of marks, and for each row the numbers of its groups."""
    places: dict[str, list[int]] = {}
    for place, marks in enumerate(rows):
        for mark in marks:
            places.setdefault(mark, []).append(place)
    groups: dict[tuple[int, ...], list[str]] = {}
    for mark, there in places.items():
        groups.setdefault(tuple(there), []).append(mark)
    order = sorted(groups)
    of_row: list[list[int]] = [[] for _ in rows]
    for number, key in enumerate(order):
        for place in key:
            of_row[place].append(number)
    return [_told(groups[there]) for there in order], [ranges(numbers) for numbers in of_row]


def decoded(legend: Sequence[str], numbers: str) -> list[str]:
    """Return the marks of a row's groups."""
    found: list[str] = []
    for number in _numbers(numbers):
        for part in legend[number].split():
            letters = _MARK.match(part)
            prefix = letters[1] if letters else ""
            found.extend(f"{prefix}{each}" for each in _numbers(part[len(prefix) :]))
    return found


def _told(marks: Iterable[str]) -> str:
    kinds: dict[str, list[int]] = {}
    for mark in marks:
        found = _MARK.fullmatch(mark)
        if found:
            kinds.setdefault(found[1], []).append(int(found[2]))
    return " ".join(prefix + ranges(kinds[prefix]) for prefix in sorted(kinds))


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers in few characters: `3-10,12`."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def _numbers(text: str) -> list[int]:
    """Return the numbers that `3-10,12` means."""
    found: list[int] = []
    for first, last in _RANGE.findall(text):
        found.extend(range(int(first), int(last or first) + 1))
    return found
