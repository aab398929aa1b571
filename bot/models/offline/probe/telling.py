"""A value told as an expression that a person could have written, or by what holds of it."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import math
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

LONGEST = 420
MOST_ITEMS = 40
_PLAIN = (bool, int, str, bytes, type(None))
_DATES = (datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone)
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{16,}")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}|<_io\.|name='<std|<[\w.]+ object at ")


class Teller:
    """Tells values as text; `evaluate` is used to prove that a text gives an equal value."""

    def __init__(self, module: ModuleType, evaluate: Callable[[str], Any]) -> None:
        self.module = module
        self.evaluate = evaluate

    def text(self, value: Any) -> str | None:
        """Return an expression equal to the value, or None if there is none to write."""
        try:
            told = self._text(value, 0)
        except Exception:
            return None
        if told is None or len(told) > LONGEST or ADDRESS.search(told):
            return None
        return told

    def _text(self, value: Any, depth: int) -> str | None:
        kind: Any = type(value)
        if kind in _PLAIN:
            return repr(value)
        if kind is float:
            return self._float(value)
        if depth > 5:
            return None
        if kind in (list, tuple, dict, set, frozenset) or (
            isinstance(value, (list, dict)) and self._equal_plain(value)
        ):
            return self._container(value, depth)
        if isinstance(value, enum.Enum):
            name, member = str(kind.__name__), str(getattr(value, "name", ""))
            return f"{name}.{member}" if getattr(self.module, name, None) is kind else None
        if isinstance(value, _DATES) and kind.__module__ == "datetime":
            return repr(value).replace("datetime.", "")
        if kind in (decimal.Decimal, fractions.Fraction, range, complex, bytearray):
            return repr(value)
        if isinstance(value, type):
            return self._type(value)
        name = str(getattr(value, "__name__", ""))
        if callable(value) and getattr(self.module, name, None) is value:
            return name
        return self._object(value)

    @staticmethod
    def _equal_plain(value: Any) -> bool:
        plain = dict(value) if isinstance(value, dict) else list(value)
        return type(value).__module__ in ("collections", "builtins") and bool(value == plain)

    def _float(self, value: float) -> str | None:
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "float('inf')" if value > 0 else "float('-inf')"
        return repr(value)

    def _container(self, value: Any, depth: int) -> str | None:
        if len(value) > MOST_ITEMS:
            return None
        if isinstance(value, dict):
            pairs = [(self._text(k, depth + 1), self._text(v, depth + 1)) for k, v in value.items()]
            if any(k is None or v is None for k, v in pairs):
                return None
            return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
        items = [self._text(item, depth + 1) for item in value]
        if any(item is None for item in items):
            return None
        told = [str(item) for item in items]
        if isinstance(value, (set, frozenset)):
            told.sort()
            if not told:
                return "set()" if isinstance(value, set) else "frozenset()"
            inside = "{" + ", ".join(told) + "}"
            return inside if isinstance(value, set) else f"frozenset({inside})"
        if isinstance(value, list):
            return "[" + ", ".join(told) + "]"
        return "(" + ", ".join(told) + ("," if len(told) == 1 else "") + ")"

    def _type(self, value: type) -> str | None:
        if value.__module__ == "builtins" and value.__name__ not in vars(self.module):
            return (
                value.__name__ if value.__name__.isidentifier() and value is not type(None) else "type(None)"
            )
        return value.__name__ if getattr(self.module, value.__name__, None) is value else None

    def _object(self, value: Any) -> str | None:
        """Return the constructor call that gives an equal object, for classes whose equality looks at every part."""
        kind = type(value)
        structural = hasattr(kind, "__dataclass_fields__") or (
            isinstance(value, tuple) and hasattr(kind, "_fields")
        )
        if not structural or getattr(self.module, kind.__name__, None) is not kind:
            return None
        if kind.__eq__ is object.__eq__:
            return None
        told = repr(value)
        if told.startswith(kind.__name__ + "(") and len(told) <= LONGEST and self._gives(told, value):
            return told
        return None

    def _gives(self, told: str, value: Any) -> bool:
        try:
            again = self.evaluate(told)
            return type(again) is type(value) and bool(again == value)
        except Exception:
            return False


def kind_of_float(value: float) -> str:
    """Return `value` where a float's text is short enough to compare exactly, otherwise `approx`."""
    return "value" if len(repr(value)) <= 8 or value == int(value) else "approx"


def has_long_float(value: Any, depth: int = 0) -> bool:
    """Whether a value holds a float that is only equal up to rounding for a reader."""
    if type(value) is float:
        return math.isfinite(value) and kind_of_float(value) == "approx"
    if depth < 3 and type(value) in (list, tuple):
        return any(has_long_float(item, depth + 1) for item in value)
    if depth < 3 and type(value) is dict:
        return any(has_long_float(item, depth + 1) for item in value.values())
    return False


def is_opaque(told: str, when: str) -> bool:
    """Whether a value holds what nobody can check by reading: a signature, a digest, an encoded blob."""
    if len(re.findall(r"\\x", told)) > 3 and told not in when:
        return True
    return any(
        token not in when
        and re.search(r"\d", token)
        and re.search(r"[A-Za-z]", token)
        and len(set(token)) > 8
        and len(re.findall(r"[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]", token)) > 4
        for token in _TOKEN.findall(told)
    )
