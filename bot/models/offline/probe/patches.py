"""Stands in for pytest's `monkeypatch` while cases are run."""

from __future__ import annotations

import re
from typing import Any

_SETTING = re.compile(r'monkeypatch\.setattr\((\w+), "(\w+)", ')


class Patches:
    """Sets attributes, and takes back what it has set."""

    def __init__(self) -> None:
        self._kept: list[tuple[Any, str, Any]] = []

    def setattr(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute that there is."""
        self._kept.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Take everything back, the last first."""
        while self._kept:
            setattr(*self._kept.pop())


def set_by(text: str) -> str:
    """Return what a step sets by a patch, as an expression; empty for other steps."""
    found = _SETTING.match(text)
    return f"{found[1]}.{found[2]}" if found else ""
