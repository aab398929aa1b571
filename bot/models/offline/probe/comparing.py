"""Whether a step gives again what it gave before, as an assertion of a test would find."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

from .evaluation import Texts
from .outcomes import Then
from .programs import Case
from .warned import Warned

ITERATED = 60


class Comparison:
    """Compares what steps give with what they gave."""

    def __init__(self, texts: Texts, warned: Warned) -> None:
        self.texts = texts
        self.warned = warned

    def same(self, case: Case, then: Then | None, space: dict[str, Any]) -> bool:
        """Run a case's last step; whether it gives this."""
        text = case.when.text
        if then is None:
            exec(self.texts.code(text, "exec"), space)
            return True
        if then.kind == "raises":
            try:
                if case.when.statement:
                    exec(self.texts.code(text, "exec"), space)
                else:
                    value = eval(self.texts.code(text, "eval"), space)
            except Exception as error:
                told = type(error).__name__ == then.type.rsplit(".", 1)[-1]
                return told and (not then.message or str(error) == then.message)
            return False
        self.warned.heard.clear()
        value = eval(self.texts.code(text, "eval"), space)
        space["result"] = value
        return self.matches(then, value, space) and self.warned.has(then)

    def matches(self, then: Then, value: Any, space: dict[str, Any]) -> bool:
        """Whether an assertion of what a step gave holds for this value."""
        if then.kind == "holds":
            if then.text:
                return bool(self.texts.value(then.text, {**space, "result": value}))
            return type(value).__name__ == then.type
        if then.kind == "items":
            value = items_of(value)
        expected = then.value if then.literal else self.texts.value(then.text, {})
        if expected is None or expected is True or expected is False:
            return value is expected
        if then.kind == "approx":
            return _close(value, expected)
        return bool(value == expected)


def items_of(value: Any) -> list[Any] | None:
    """Return an iterator's items; None if there are many, or they grow without end."""
    items: list[Any] = []
    for item in itertools.islice(value, ITERATED + 1):
        items.append(item)
        if sys.getsizeof(item) > 4096:
            return None
    return items if len(items) <= ITERATED else None


def _close(value: Any, expected: Any) -> bool:
    if isinstance(expected, (list, tuple)):
        return (
            type(value) is type(expected)
            and len(value) == len(expected)
            and all(map(_close, value, expected))
        )
    if isinstance(expected, dict):
        return (
            isinstance(value, dict)
            and value.keys() == expected.keys()
            and all(_close(value[key], expected[key]) for key in expected)
        )
    if isinstance(expected, float):
        return isinstance(value, (int, float)) and math.isclose(value, expected, rel_tol=1e-6, abs_tol=1e-12)
    return bool(value == expected)
