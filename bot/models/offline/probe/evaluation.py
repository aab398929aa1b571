"""Texts compiled, once each, and evaluated over the module's names."""

from __future__ import annotations

from types import CodeType
from typing import Any

from .names import Names


class Texts:
    """Evaluates texts."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.compiled: dict[tuple[str, str], CodeType] = {}

    def code(self, text: str, mode: str) -> CodeType:
        """Compile a text once."""
        found = self.compiled.get((text, mode))
        if found is None:
            found = compile(text, "<case>", mode, dont_inherit=True)
            self.compiled[text, mode] = found
        return found

    def evaluate(self, text: str) -> Any:
        """Evaluate an expression over the module's names."""
        return eval(self.code(text, "eval"), self.names.space([text]))

    def value(self, text: str, space: dict[str, Any]) -> Any:
        """Evaluate an expression over what a case has bound, and the names that it reads besides."""
        whole = {**self.names.space([text]), **space} if self.names.sources(text) else space
        return eval(self.code(text, "eval"), whole)
