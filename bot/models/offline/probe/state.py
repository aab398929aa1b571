"""The module's mutable globals, and what it prints, kept from one case to the next."""

from __future__ import annotations

import io
import operator
from types import ModuleType
from typing import Any


class State:
    """The module's mutable globals, put back after every case so that cases cannot change one another."""

    def __init__(self, module: ModuleType) -> None:
        self.kept: list[tuple[Any, Any]] = []
        self.caches: list[Any] = []
        spaces: list[Any] = [vars(module)]
        spaces += [
            vars(v) for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__
        ]
        seen: set[int] = set()
        for space in spaces:
            for name, value in list(space.items()):
                if name.startswith("__") or id(value) in seen:
                    continue
                seen.add(id(value))
                if type(value) in (list, dict, set) and len(value) <= 3000:
                    self.kept.append((value, value.copy()))
                elif type(value).__name__ == "_lru_cache_wrapper":
                    self.caches.append(value.cache_clear)
        self.names = dict(vars(module))
        self.texts, self.values = list(self.names), list(self.names.values())
        self.module = module

    def restore(self) -> bool:
        """Put back what changed; return whether anything had."""
        changed = False
        for value, copy in self.kept:
            if len(value) != len(copy) or value != copy:
                changed = True
                value.clear()
                if isinstance(value, list):
                    value.extend(copy)
                else:
                    value.update(copy)
        space = vars(self.module)
        if not all(map(operator.is_, map(space.get, self.texts), self.values)):
            for name, value in self.names.items():
                if space.get(name) is not value:
                    changed = True
                    space[name] = value
        for clear in self.caches:
            clear()
        return changed


class Sink(io.StringIO):
    """Takes what the code prints, up to a bound; stands in for stdout and stderr all the time."""

    def write(self, text: str) -> int:
        """Keep the start of what is printed."""
        if self.tell() < 4000:
            super().write(text[:4000])
        return len(text)

    def taken(self) -> str:
        """Return what was printed since the last call."""
        text = self.getvalue() if self.tell() else ""
        if text:
            self.seek(0)
            self.truncate()
        return text
