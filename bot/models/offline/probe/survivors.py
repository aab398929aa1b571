"""Faults that the tools reported as not caught, read back from their printed diffs."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from .faults import Fault, Text, places


def read(blocks: Sequence[str], source: str, tree: ast.Module) -> list[Fault]:
    """Return the faults that printed mutants describe; those that cannot be found in the source are left out.

    Args:
        blocks: One text for each: a headline that ends with its line, then `-` and `+` lines.
    """
    text = Text(source)
    found: list[Fault] = []
    for block in blocks:
        fault = _fault(block, text, tree)
        if fault is not None:
            fault.number = len(found)
            found.append(fault)
    return found


def _fault(block: str, text: Text, tree: ast.Module) -> Fault | None:
    lines = block.splitlines()
    line = re.search(r"line (\d+)", lines[0]) if lines else None
    before = [row[1:] for row in lines[1:] if row.startswith("-")]
    after = [row[1:] for row in lines[1:] if row.startswith("+")]
    if line is None or not before:
        return None
    first = _place(before, text, int(line.group(1)))
    if first is None:
        return None
    start = text.starts[first]
    old = "".join(text.lines[first : first + len(before)])
    new = "\n".join(after) + ("\n" if after and old.endswith("\n") else "")
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    begin, end = start + same, start + len(old) - tail
    place = text.source.count("\n", 0, begin) + 1
    scope, reached = places(tree, place)
    fault = Fault(begin, end, new[same : len(new) - tail], place, lines[0], scope)
    fault.reached = reached
    return fault


def _place(before: list[str], text: Text, line: int) -> int | None:
    """Return the index of the first of the lines taken away, the nearest to where they are said to be."""
    wanted = [row.rstrip() for row in before]
    near = sorted(range(len(text.lines)), key=lambda index: (abs(index + 1 - line), index))
    for index in near[:60]:
        if [row.rstrip() for row in text.lines[index : index + len(before)]] == wanted:
            return index
    return None
