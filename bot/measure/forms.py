"""The form of what the guest writes: a row that has another one was written by something else, and ends no run here.

Rows come from processes in which a repository's code runs, too, so that anything may stand in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from bot.domain import MutantOutcome, Outcome

_KEYS: Mapping[str, tuple[str, ...]] = {
    "file": ("path", "statements", "branches", "top"),
    "uncollectable": ("path", "message"),
    "collected": ("ids", "errors"),
    "begin": ("id", "function", "case"),
    "test": ("id", "outcome", "duration", "message", "detail", "assertion"),
    "cover": ("context", "path", "lines", "branches"),
    "uses": ("id", "contexts"),
    "problem": ("message",),
    "checked": ("id", "passes", "whole"),
    "forged": ("message",),
    "crash": ("message",),
}
"""What a row of a journal has, by its event (`bot/sandbox/guest/journal.py`)."""
_VERDICT = ("outcome", "test")
"""What a row on a mutant has besides its number (`bot/sandbox/guest/shop.py`)."""


def is_right(row: object) -> bool:
    """Tell whether the guest can have written a row."""
    if not isinstance(row, dict):
        return False
    if any(key in _FORMS and not _FORMS[key](value) for key, value in row.items()):
        return False
    if "mutant" in row:
        return row.keys() >= set(_VERDICT) and row["outcome"] in set(MutantOutcome)
    event = row.get("event", "")
    return event not in _KEYS or (
        row.keys() >= set(_KEYS[event]) and (event != "test" or row["outcome"] in set(Outcome))
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]


def _is_place(value: object) -> bool:
    return type(value) is int and value >= 0


def _are(form: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(form, value))


def _is_branch(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and type(value[0]) is type(value[1]) is int


def _maps_to(form: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(map(form, value.values()))


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        ("event", "id", "path", "message", "detail", "context", "function", "outcome", "problem", "note"),
        _is_text,
    ),
    **dict.fromkeys(("assertion", "passes", "whole"), _is_flag),
    **dict.fromkeys(("ids", "contexts"), _are(_is_text)),
    **dict.fromkeys(("statements", "top", "lines", "red"), _are(_is_place)),
    "branches": _are(_is_branch),
    "duration": _is_number,
    "errors": _maps_to(_is_text),
    "case": _maps_to(_is_place),
    "mutant": _is_place,
    "test": lambda value: value is None or _is_place(value),
}
"""What stands under a key, in whatever row."""
