"""GitHub's expressions, as far as action.yml and the example workflows use them: `${{ ... }}` and what stands in `if:`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(-?\d+(?:\.\d+)?)|(&&|\|\||==|!=|[!(),])|([A-Za-z_][\w.-]*))")
_INSERTED = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "startsWith": lambda text, start: str(text).casefold().startswith(str(start).casefold()),
    "contains": lambda text, part: str(part).casefold() in str(text).casefold(),
}


def value(text: str, contexts: Mapping[str, Any]) -> Any:
    """Return what an expression gives; a property that is not there is null.

    Raises:
        ValueError: It holds something that is not understood here.
    """
    reader = _Reader(text, contexts)
    found = reader.either()
    if reader.tokens:
        raise ValueError(f"{text!r} goes on with {reader.tokens}")
    return found


def filled(text: Any, contexts: Mapping[str, Any]) -> str:
    """Return a text with its expressions replaced by what they give."""
    if isinstance(text, bool):
        return str(text).lower()
    return _INSERTED.sub(lambda found: _shown(value(found[1], contexts)), str(text))


def holds(condition: Any, contexts: Mapping[str, Any], *, success: bool) -> bool:
    """Tell whether a step or a job with this `if:` runs; without a word on the state, only after success."""
    text = str(condition if condition is not None else "success()")
    inner = _INSERTED.fullmatch(text.strip())
    text = inner[1] if inner else text
    status = {"success": lambda: success, "failure": lambda: not success, "always": lambda: True}
    asked = bool(value(text, {**contexts, "()": status}))
    return asked and (success or any(f"{name}()" in text for name in status))


def _shown(found: Any) -> str:
    if isinstance(found, bool):
        return str(found).lower()
    return "" if found is None else str(found)


class _Reader:
    """One expression, read from left to right."""

    def __init__(self, text: str, contexts: Mapping[str, Any]) -> None:
        self.contexts = contexts
        self.tokens: list[str] = []
        place = 0
        text = text.rstrip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                raise ValueError(f"{text!r} is not understood from {text[place:]!r} on")
            self.tokens.append(found[0].strip())
            place = found.end()

    def _next(self, *wanted: str) -> str:
        """Take a token; only one of these, if any are named."""
        if self.tokens and (not wanted or self.tokens[0] in wanted):
            return self.tokens.pop(0)
        return ""

    def either(self) -> Any:
        """Read operands of `||`."""
        found = self._both()
        while self._next("||"):
            other = self._both()
            found = found or other
        return found

    def _both(self) -> Any:
        found = self._compared()
        while self._next("&&"):
            other = self._compared()
            found = found and other
        return found

    def _compared(self) -> Any:
        found = self._single()
        while sign := self._next("==", "!="):
            other = self._single()
            found = (_shown(found).casefold() == _shown(other).casefold()) == (sign == "==")
        return found

    def _single(self) -> Any:
        if self._next("!"):
            return not self._single()
        if self._next("("):
            found = self.either()
            self._next(")")
            return found
        token = self._next()
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if token[:1].isdigit() or token[:1] == "-":
            return float(token)
        if token in _WORDS:
            return _WORDS[token]
        return self._called(token) if self._next("(") else self._property(token)

    def _called(self, name: str) -> Any:
        arguments = []
        while not self._next(")"):
            arguments.append(self.either())
            self._next(",")
        known = {**_FUNCTIONS, **self.contexts.get("()", {})}
        if name not in known:
            raise ValueError(f"there is no function {name}")
        return known[name](*arguments)

    def _property(self, path: str) -> Any:
        first, *rest = path.split(".")
        if first not in self.contexts:
            raise ValueError(f"there is no context {first!r}")
        found = self.contexts[first]
        for name in rest:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found
