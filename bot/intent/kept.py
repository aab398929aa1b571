"""An inquiry as plain data, and back: what a server keeps between a question and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.intent.inquiry import HEAD, Inquiry
from bot.intent.ranking import Pool
from bot.programs.assertions import Assertion
from bot.programs.candidates import Candidate
from bot.programs.functions import find
from bot.programs.grid import Cell
from bot.programs.table import Table


def as_json(inquiry: Inquiry) -> dict[str, Any]:
    """Return an inquiry as values that JSON can hold; of what calls gave, only what the function as it stands gave."""
    table = inquiry.pool.table
    return {
        "name": inquiry.subject.name,
        "source": inquiry.subject.source,
        "candidates": [[one.text, one.origin, one.weight] for one in inquiry.candidates],
        "assertions": [[one.call, one.predicate] for one in table.assertions],
        "outcomes": list(table.outcomes),
        "calls": list(table.calls),
        "cells": [[cell.kind, cell.text, cell.outcomes] for cell in table.cells[HEAD]],
        "votes": list(inquiry.pool.votes),
        "own": list(inquiry.own),
    }


def from_json(data: Mapping[str, Any]) -> Inquiry:
    """Return the inquiry that `as_json` wrote.

    Raises:
        KeyError, TypeError, UsageError: These are not the values of an inquiry.
    """
    candidates = tuple(Candidate(*values) for values in data["candidates"])
    table = Table(
        tuple(Assertion(*values) for values in data["assertions"]),
        tuple(data["outcomes"]),
        tuple(data["calls"]),
        (tuple(Cell(*values) for values in data["cells"]),),
    )
    pool = Pool(table, tuple(one.weight for one in candidates), tuple(data["votes"]))
    return Inquiry(find(data["source"], data["name"]), candidates, pool, tuple(data["own"]))
