"""Values as text that gives an equal value back, so that they can be told, compared and written into tests."""

from __future__ import annotations

import math
from typing import Any

LONGEST = 4000
"""Characters of a value's text; a longer one is not told."""


def text_of(value: Any) -> str | None:
    """Return a value as an expression that gives an equal one, equal values of one type alike; None if there is none."""
    try:
        text = _literal(value, 0)
    except (ValueError, RecursionError, TypeError):  # no literal, too deep, an integer too long for text
        return None
    return text if len(text) <= LONGEST else None


def _literal(value: Any, depth: int) -> str:
    if depth > 20:
        raise RecursionError
    kind = type(value)
    if kind is bool or value is None or kind in (str, bytes):
        return repr(value)
    if kind is int:
        if value.bit_length() > 2000:
            raise ValueError
        return repr(value)
    if kind is float:
        if not math.isfinite(value):
            raise ValueError
        return repr(value)
    if kind is complex:
        return repr(value)
    if kind in (list, tuple, set, frozenset) and len(value) > 1000:
        raise ValueError
    if kind is list:
        return f"[{', '.join(_literal(item, depth + 1) for item in value)}]"
    if kind is tuple:
        inner = ", ".join(_literal(item, depth + 1) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if kind is set:
        return f"{{{', '.join(sorted(_literal(item, depth + 1) for item in value))}}}" if value else "set()"
    if kind is frozenset:
        return f"frozenset({_literal(set(value), depth + 1)})" if value else "frozenset()"
    if kind is dict and len(value) <= 1000:
        rows = (f"{_literal(key, depth + 1)}: {_literal(item, depth + 1)}" for key, item in value.items())
        return f"{{{', '.join(rows)}}}"
    raise ValueError
