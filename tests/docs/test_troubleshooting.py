"""The page on troubleshooting quotes messages that exist, and knows every kind of error."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

from bot import errors

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
QUOTED = [
    line.split(" | ")[0].removeprefix("| ")
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| message", "| annotation"))
]
GAP = "\0"
"""Stands in a message for what is filled in."""


@pytest.mark.parametrize("quoted", QUOTED)
def test_a_quoted_message_exists(quoted: str) -> None:
    assert any(_says(message, quoted) for message in _messages())


def test_a_message_that_nobody_says_is_found_out() -> None:
    assert not any(_says(message, "There is no unicorn ... here.") for message in _messages())


def test_every_kind_of_error_is_told_of() -> None:
    kinds = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.TestforgeError)
    }
    bases = {"TestforgeError", "InconclusiveError"}

    assert {name for name in kinds - bases if f"`{name}`" not in PAGE} == set()


def test_no_message_is_told_of_twice() -> None:
    assert len(QUOTED) == len(set(QUOTED)) > 40


def _says(message: str, quoted: str) -> bool:
    """Tell whether a message has the words of a quotation, one piece after the other."""
    place = 0
    for piece in (piece.strip() for piece in quoted.split("...")):
        found = message.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return True


@functools.cache
def _messages() -> tuple[str, ...]:
    """Return every text of the program; `GAP` stands for what is filled in."""
    found = {(ROOT / name).read_text("utf-8") for name in ("action.yml", "scripts/setup.sh")}
    for path in (ROOT / "bot").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.add(
                    "".join(part.value if isinstance(part, ast.Constant) else GAP for part in node.values)
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return tuple(re.sub(r"\s+", " ", text) for text in sorted(found))
