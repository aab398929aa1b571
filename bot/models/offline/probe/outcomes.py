"""What a case gave: a value, an exception, the state it left; or that it cannot be a test."""

from __future__ import annotations

import re
from typing import Any

_ACCIDENTS = (
    "TypeError",
    "AttributeError",
    "NameError",
    "UnboundLocalError",
    "RecursionError",
    "SyntaxError",
    "_pickle.PicklingError",
    "_pickle.UnpicklingError",
)
_LOOKUPS = ("KeyError", "IndexError", "AssertionError", "UnicodeDecodeError", "UnicodeEncodeError")
_LOOKING_UP = re.compile(r"\[|pop|get|remove|index|del |move|update|discard")

Key = tuple[str, ...]


class Then:
    """What an expression gave, as a scenario tells it, and the value or exception itself while it is at hand."""

    __slots__ = ("deliberate", "kind", "literal", "message", "text", "type", "value", "warned", "warning")

    def __init__(
        self, kind: str, text: str = "", type_: str = "", message: str = "", value: Any = None
    ) -> None:
        self.kind = kind
        self.text = text
        self.type = type_
        self.message = message
        self.value = value
        self.deliberate = False
        self.literal = False
        self.warning = self.warned = ""

    def row(self) -> dict[str, str]:
        """Return it as a row of the output."""
        full = {
            "kind": self.kind,
            "text": self.text,
            "type": self.type,
            "message": self.message,
            "warning": self.warning,
            "warned": self.warned,
        }
        return {key: value for key, value in full.items() if value}

    def is_accident(self, text: str, strict: bool) -> bool:
        """Whether an exception tells more about the input than about the code.

        Args:
            text: The step that raised it.
            strict: Whether a failed lookup, or assertion of the code, counts too where nothing was looked up.
        """
        if self.kind != "raises" or self.deliberate:
            return False
        return self.type in _ACCIDENTS or (strict and self.type in _LOOKUPS and not _LOOKING_UP.search(text))

    @property
    def key(self) -> Key:
        """What is compared when a case runs again elsewhere."""
        return self.kind, self.text, self.type, self.message, self.warning, self.warned


class Outcome:
    """What a case gave: `then` for its last step, `checks` as (expression, Then) pairs."""

    __slots__ = ("checks", "lazy", "leaves", "output", "then")

    def __init__(self, then: Then | None, checks: list[tuple[str, Then]]) -> None:
        self.then = then
        self.checks = checks
        self.leaves = False
        self.lazy = False
        self.output = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What is compared when a case runs again elsewhere."""
        return (self.then.key if self.then else None, tuple((e, t.key) for e, t in self.checks))


class InvalidCaseError(Exception):
    """A case whose given steps fail, or that may not be run."""
