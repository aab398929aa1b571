"""The warnings that code gives, heard instead of shown."""

from __future__ import annotations

import builtins
import warnings
from types import ModuleType
from typing import Any

from .outcomes import Then
from .telling import ADDRESS

_SILENT = (
    SyntaxWarning,
    ResourceWarning,
    ImportWarning,
    BytesWarning,
    EncodingWarning if hasattr(builtins, "EncodingWarning") else BytesWarning,
)
"""Kinds that Python itself gives: they are about how a test is written or run."""
_MOST = 20
_LONGEST = 200


class Warned:
    """Hears warnings."""

    def __init__(self) -> None:
        self.heard: list[tuple[type, str]] = []

    def install(self) -> None:
        """Hear every warning from here on, for the process's life."""
        warnings.simplefilter("always")
        warnings.showwarning = self._hear

    def _hear(self, message: Any, category: type, *_: Any, **__: Any) -> None:
        if len(self.heard) < _MOST and not issubclass(category, _SILENT):
            self.heard.append((category, str(message)))

    def tell(self, then: Then, module: ModuleType) -> None:
        """Note the first warning that a test could expect on what a step gave."""
        for category, message in self.heard:
            name = category.__name__
            if getattr(module, name, getattr(builtins, name, None)) is not category:
                continue
            if message.isprintable() and len(message) <= _LONGEST and not ADDRESS.search(message):
                then.warning, then.warned = name, message
                return

    def has(self, then: Then) -> bool:
        """Whether the warning that a step gave was heard again."""
        return not then.warning or any(
            category.__name__ == then.warning and message == then.warned for category, message in self.heard
        )
