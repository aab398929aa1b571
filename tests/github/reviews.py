"""A review of the tests' pull request, as a run would build it."""

from __future__ import annotations

from typing import Any

from bot.deliver.boxes import draw
from bot.deliver.proposals import Proposal
from bot.deliver.remarks import Comment
from bot.deliver.review import File, Review

TESTS = "tests/test_price.py"
CONTENT = b"""import pytest

from quotes import price


def test_heavy():
    assert price(31) == 300


def test_negative():
    with pytest.raises(ValueError):
        price(-1)
"""


def proposal(key: str, name: str, lines: tuple[int, ...]) -> Proposal:
    return Proposal(
        key,
        name,
        TESTS,
        "src/quotes.py",
        (f"{TESTS}::{name}",),
        0,
        lines,
        ("`>` to `>=` in line 2",),
        (2,),
        ("price",),
        "failed",
        3,
    )


def review_of(head: str, **changes: Any) -> Review:
    fields: dict[str, Any] = {
        "run": "run-1",
        "head": head,
        "status": "proposed",
        "title": "2 tests proposed for 1 changed file",
        "summary": "### 2 tests",
        "body": "### 2 tests proposed",
        "comments": (Comment("src/quotes.py", 5, "Covered by T2.", 4),),
        "files": (File(TESTS, CONTENT, True),),
        "patch": "diff --git a/x b/x\n",
        "sticky": f"**testforge**\n\n{draw('review')}\n{draw('apply')}",
        "tests": (proposal("T1", "test_heavy", (3,)), proposal("T2", "test_negative", (5,))),
    }
    return Review(**{**fields, **changes})
