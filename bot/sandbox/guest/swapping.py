"""Puts a mutated function's code in place, wherever the function lives.

Every reference leads to a function object: module attributes, class dictionaries, `staticmethod`, `property`,
`partial`, `lru_cache`, closures, registries. So the objects themselves are found, once, among all that the garbage
collector knows, and their `__code__` is exchanged; what is compiled for that, is compiled before the fork.
"""

from __future__ import annotations

import contextlib
import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any, Optional

from .defaults import changed_default
from .loading import real_path
from .sameness import same_code
from .units import Module, Unit

Changes = list[tuple[FunctionType, str, Any]]
"""Functions, and which attribute of each is to get which value."""


class CannotSwapError(Exception):
    """The function is not where it was expected, or its new code does not fit: import the mutated module instead."""


class Functions:
    """The live function objects that were made from one file.

    Args:
        path: The file, links resolved.
    """

    def __init__(self, path: str) -> None:
        self._by_key: dict[tuple[str, int], list[FunctionType]] = defaultdict(list)
        self._originals: dict[Unit, CodeType] = {}
        for thing in gc.get_objects():
            if type(thing) is FunctionType and real_path(thing.__code__.co_filename) == path:
                self._by_key[thing.__code__.co_name, thing.__code__.co_firstlineno].append(thing)

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def __iter__(self) -> Iterator[FunctionType]:
        for functions in self._by_key.values():
            yield from functions

    def prepare(self, module: Module, units: Iterable[Unit]) -> None:
        """Compile functions as they stand, once for all mutants of theirs."""
        for unit in units:
            if unit not in self._originals:
                with contextlib.suppress(CannotSwapError):
                    self._originals[unit] = _function_code(module.compiled(unit), unit)

    def changes(self, module: Module, unit: Unit, splice: tuple[int, int, str]) -> Changes:
        """Return what gives the function of a unit, and the functions within it, their mutated code.

        Raises:
            CannotSwapError: As above.
            SyntaxError: The mutant does not compile (ValueError, RecursionError, MemoryError likewise).
        """
        self.prepare(module, [unit])
        if unit not in self._originals:
            raise CannotSwapError(f"{unit.name} was not found in its own code")
        old, new = self._originals[unit], _function_code(module.compiled(unit, splice), unit)
        living = self._living(old)
        if not living:
            raise CannotSwapError(f"no live function is {unit.name}")
        default = changed_default(module, unit, splice)
        if default is not None:
            name = default.attribute
            return [(function, name, default.put(getattr(function, name))) for function in living]
        return self._exchanged(old, new)

    def exchanged(self, module: Module, unit: Unit, compiled: CodeType) -> Changes:
        """Return what gives the function of a unit, and those within it, the code of another compilation of the unit.

        Raises:
            CannotSwapError: As above.
        """
        self.prepare(module, [unit])
        if unit not in self._originals:
            raise CannotSwapError(f"{unit.name} was not found in its own code")
        return self._exchanged(self._originals[unit], _function_code(compiled, unit))

    def _exchanged(self, old: CodeType, new: CodeType) -> Changes:
        pairs = [*self._pairs(old, new), *self._inner(old, new)]
        return [(function, "__code__", code) for function, code in pairs]

    def _inner(self, old: CodeType, new: CodeType) -> Iterator[tuple[FunctionType, CodeType]]:
        """Follow into functions that closures, made before the fork, keep alive."""
        before, after = _by_name(old), _by_name(new)
        for name, codes in before.items():
            partners = after.get(name, [])
            if len(partners) == len(codes):
                for place, inner in enumerate(codes):
                    yield from self._pairs(inner, partners[place])
                    yield from self._inner(inner, partners[place])
            elif any(self._living(inner) for inner in codes):
                raise CannotSwapError(f"{name} is alive and has no counterpart")

    def _pairs(self, old: CodeType, new: CodeType) -> Iterator[tuple[FunctionType, CodeType]]:
        for function in self._living(old):
            if len(new.co_freevars) != len(function.__code__.co_freevars):
                raise CannotSwapError(f"{new.co_name} has other free variables than before")
            # The file's name is the import's, which a traceback and `inspect` show.
            yield function, _renamed(new, function.__code__.co_filename)

    def _living(self, code: CodeType) -> list[FunctionType]:
        found = self._by_key.get((code.co_name, code.co_firstlineno), [])
        return [function for function in found if same_code(function.__code__, code)]


def _function_code(code: CodeType, unit: Unit) -> CodeType:
    """Return the function's code in a compiled unit, below the classes it lies in."""
    name = unit.name.rpartition(".")[2]
    while True:
        inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        matching = [candidate for candidate in inner if candidate.co_name == name]
        # A decorator or a default may hold code too (a lambda); a class around it comes last.
        if matching:
            return matching[-1]
        if not inner:
            raise CannotSwapError(f"{unit.name} was not found in its own code")
        code = inner[-1]


def _by_name(code: CodeType) -> dict[str, list[CodeType]]:
    found: dict[str, list[CodeType]] = defaultdict(list)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found[constant.co_name].append(constant)
    return found


def _renamed(code: CodeType, filename: str) -> CodeType:
    constants: Optional[list[object]] = [
        _renamed(constant, filename) if isinstance(constant, CodeType) else constant
        for constant in code.co_consts
    ]
    return code.replace(co_filename=filename, co_consts=tuple(constants or ()))
