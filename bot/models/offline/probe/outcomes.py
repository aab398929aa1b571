"""What a case gave: a value, an exception, the state it left; or that it cannot be a test."""

from __future__ import annotations

from typing import Any


class Then:
    """What an expression gave, as a scenario tells it, and the value or exception itself while it is at hand."""

    __slots__ = ("deliberate", "kind", "literal", "message", "text", "type", "value")

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

    def row(self) -> dict[str, str]:
        """Return it as a row of the output."""
        full = {"kind": self.kind, "text": self.text, "type": self.type, "message": self.message}
        return {key: value for key, value in full.items() if value}

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What is compared when a case runs again elsewhere."""
        return self.kind, self.text, self.type, self.message


class Outcome:
    """What a case gave: `then` for its last step, `checks` as (expression, Then) pairs."""

    __slots__ = ("checks", "lazy", "leaves", "output", "then", "warned")

    def __init__(self, then: Then | None, checks: list[tuple[str, Then]]) -> None:
        self.then = then
        self.checks = checks
        self.leaves = False
        self.lazy = False
        self.output = ""
        self.warned = False

    @property
    def key(self) -> tuple[Any, ...]:
        """What is compared when a case runs again elsewhere."""
        return (self.then.key if self.then else None, tuple((e, t.key) for e, t in self.checks))


class InvalidCaseError(Exception):
    """A case whose given steps fail, or that may not be run."""
