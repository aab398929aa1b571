"""Operations that are carried out only where they can have no effect and call no code of the repository's.

With them an expression can be evaluated once more, and a mutant of it beside it, unnoticed by the program around it.
Each does what the operation it stands for does, or raises `ImpureError`: for operands of classes with methods of their
own, attributes behind properties, and whatever else is not plain to see.
"""

from __future__ import annotations

import builtins
from abc import ABCMeta
from collections.abc import Iterator
from types import MemberDescriptorType, ModuleType
from typing import Any

_SCALARS = frozenset([int, float, bool, complex, str, bytes, type(None), type(...)])
_NUMBERS = frozenset([int, float, bool])
_SEQUENCES = frozenset([list, tuple, str, bytes])
_CONTAINERS = frozenset([list, tuple, str, bytes, dict, set, frozenset, range])
_COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")
_ORDINARY_LOOKS: frozenset[object] = frozenset(
    each.__getattribute__
    for each in (object, int, float, str, bytes, tuple, list, dict, set, frozenset, BaseException)
)
_MOST_ELEMENTS = 64
_MOST_KNOWN = 10_000
_ABSENT = object()
_KNOWN_KINDS: dict[type, object] = {}
"""What `_base` has said; a test that gives a class other comparisons while it runs is not reckoned with."""
_KNOWN_TUPLES: dict[int, Any] = {}
"""Tuples that are known to hold only what compares plainly, by id; they are kept, so that their ids stay theirs."""
STRING_METHODS = frozenset(
    [
        *(
            "casefold",
            "count",
            "endswith",
            "find",
            "isalnum",
            "isalpha",
            "isdigit",
            "isidentifier",
            "islower",
        ),
        *("isnumeric", "isspace", "istitle", "isupper", "lower", "lstrip", "partition", "replace", "rfind"),
        *(
            "rpartition",
            "rsplit",
            "rstrip",
            "split",
            "splitlines",
            "startswith",
            "strip",
            "swapcase",
            "title",
            "upper",
        ),
    ]
)
"""Methods of text that are carried out."""


class ImpureError(Exception):
    """Nobody knows what this operation would do."""


def attribute(thing: Any, name: str) -> Any:
    """Return an attribute that is stored in an object, or as a plain value in its class."""
    kind = type(thing)
    if kind is ModuleType:
        if name in thing.__dict__:
            return thing.__dict__[name]
        raise ImpureError
    if kind.__getattribute__ not in _ORDINARY_LOOKS:
        raise ImpureError
    inherited = _ABSENT
    for base in kind.__mro__:
        if name in base.__dict__:
            inherited = base.__dict__[name]
            break
    if type(inherited) is MemberDescriptorType:
        return getattr(thing, name)
    if inherited is _ABSENT or type(inherited) in _SCALARS:
        own = getattr(thing, "__dict__", None)
        if type(own) is dict and name in own:
            return own[name]
        if inherited is not _ABSENT:
            return inherited
    raise ImpureError


def item(thing: Any, place: Any) -> Any:
    """Return an item, or a part, of a built-in container."""
    kind = type(thing)
    if kind in _SEQUENCES and type(place) in (int, bool, slice):
        return thing[place]
    if kind is dict and type(place) in _SCALARS:
        return thing[place]
    raise ImpureError


def span(first: Any, last: Any, step: Any) -> slice:
    """Return a slice whose ends are whole numbers."""
    for end in (first, last, step):
        if end is not None and type(end) is not int:
            raise ImpureError
    return slice(first, last, step)


def compared(thing: Any) -> Any:
    """Return a thing that comparing calls nothing of."""
    if type(thing) in _SCALARS or _KNOWN_TUPLES.get(id(thing)) is thing or _is_compared_plainly(thing):
        return thing
    raise ImpureError


def judged(thing: Any) -> Any:
    """Return a thing of which to ask whether it is true calls nothing."""
    kind = type(thing)
    if kind in _SCALARS or kind in _CONTAINERS:
        return thing
    if type(kind) not in (type, ABCMeta):
        raise ImpureError
    for base in (int, str, tuple, list, dict, float):
        if issubclass(kind, base):
            names = ("__bool__", "__len__")
            if all(getattr(kind, name, None) is getattr(base, name, None) for name in names):
                return thing
            raise ImpureError
    if getattr(kind, "__bool__", None) is None and getattr(kind, "__len__", None) is None:
        return thing
    raise ImpureError


def number(thing: Any) -> Any:
    """Return a number."""
    if type(thing) in _NUMBERS:
        return thing
    raise ImpureError


def whole(thing: Any) -> Any:
    """Return a whole number, truth values excepted: to invert those is a thing to be warned of."""
    if type(thing) is int:
        return thing
    raise ImpureError


def added(one: Any, other: Any) -> Any:
    """Return a sum of numbers, or built-in sequences of one kind joined."""
    kind = type(one)
    if kind in _NUMBERS and type(other) in _NUMBERS:
        return one + other
    if kind in _SEQUENCES and type(other) is kind:
        return one + other
    raise ImpureError


def contained(thing: Any, container: Any) -> bool:
    """Return whether a thing is in a built-in container."""
    kind = type(container)
    if kind in (set, frozenset, dict) and type(thing) in _SCALARS:
        return thing in container
    if kind in (str, bytes) and type(thing) is kind:
        return thing in container
    if kind in (list, tuple) and len(container) <= _MOST_ELEMENTS:
        compared(thing)
        for element in container:
            compared(element)
        return thing in container
    raise ImpureError


def length(function: Any, thing: Any) -> int:
    """Return the length of a built-in container, if the function is `len`."""
    if function is builtins.len and type(thing) in _CONTAINERS:
        return len(thing)
    raise ImpureError


def method(thing: Any, name: str, *arguments: Any) -> Any:
    """Return what one of `STRING_METHODS` gives."""
    if type(thing) is not str or not all(map(_is_plain_argument, arguments)):
        raise ImpureError
    return getattr(thing, name)(*arguments)


def same(one: Any, other: Any) -> bool:
    """Whether no program can tell two values apart; False where that is not plain to see."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other) or kind not in _SCALARS:
        return False
    return bool(one == other) and (kind not in (float, complex) or repr(one) == repr(other))


def _is_compared_plainly(thing: Any, depth: int = 3) -> bool:
    kind = type(thing)
    if kind in _SCALARS:
        return True
    base = _KNOWN_KINDS.get(kind)
    if base is None:
        base = _KNOWN_KINDS[kind] = _base(kind)
    if base is list:
        return depth > 0 and _are_compared_plainly(list.__iter__(thing), len(thing), depth)
    if base is tuple:
        plain = depth > 0 and _are_compared_plainly(tuple.__iter__(thing), tuple.__len__(thing), depth)
        if (
            plain
            and len(_KNOWN_TUPLES) < _MOST_KNOWN
            and all(type(e) in _SCALARS for e in tuple.__iter__(thing))
        ):
            _KNOWN_TUPLES[id(thing)] = thing
        return plain
    return base is not _ABSENT


def _are_compared_plainly(elements: Iterator[Any], number: int, depth: int) -> bool:
    return number <= _MOST_ELEMENTS and all(_is_compared_plainly(element, depth - 1) for element in elements)


def _base(kind: type) -> object:
    """Return the built-in class as which another compares; `_ABSENT` if there is none."""
    if kind is list:
        return list
    ordinary = type(kind) is type or type(kind) is ABCMeta
    for base in (tuple, object, int, str):
        if ordinary and issubclass(kind, base) and _compares_as(kind, base):
            return base
    return _ABSENT


def _compares_as(kind: type, base: type) -> bool:
    return all(getattr(kind, name) is getattr(base, name) for name in _COMPARISONS)


def _is_plain_argument(argument: Any) -> bool:
    if type(argument) is tuple:
        return all(type(element) is str for element in argument)
    return type(argument) in _SCALARS
