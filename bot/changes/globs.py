"""Patterns for paths, with the meaning that .gitignore gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a path, or a directory above it, matches one of the patterns.

    `*` and `?` stop at a slash, `**` does not. A pattern with a slash inside counts from the root (`src/*.py`), one without
    matches at every level (`*_gen.py`, `docs/`). A pattern that matches a directory covers all that is below.
    """
    return any(_leads_through(_steps(pattern), path) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class _Step:
    """A place in a pattern.

    Attributes:
        character: What the next character has to be.
        stays: Whether any number of them may follow, none too; otherwise there is one.
        over: So many steps may be left out together, this one first.
    """

    character: re.Pattern[str]
    stays: bool = False
    over: int = 0


def _leads_through(steps: Sequence[_Step], path: str) -> bool:
    """Whether a whole path fits. All places are followed at once: the time is that of path times pattern, whatever they are."""
    places = _reached({0}, steps)
    for character in path:
        fitting = (at for at in places if at < len(steps) and steps[at].character.match(character))
        places = _reached({at if steps[at].stays else at + 1 for at in fitting}, steps)
        if not places:
            return False
    return len(steps) in places


def _reached(places: set[int], steps: Sequence[_Step]) -> set[int]:
    """Return the places with those that can be had without a character."""
    pending = list(places)
    while pending:
        at = pending.pop()
        step = steps[at] if at < len(steps) else None
        beyond = at + (1 if step.stays else step.over) if step else at
        if beyond not in places:
            places.add(beyond)
            pending.append(beyond)
    return places


@lru_cache(maxsize=256)
def _steps(pattern: str) -> tuple[_Step, ...]:
    """Translate a pattern into the places that a whole path leads through."""
    only_directories = pattern.endswith("/")
    body = pattern.removeprefix("./").strip("/")
    anchored = "/" in body or pattern.startswith(("/", "./"))
    below = (_SLASH, *_ANYTHING) if only_directories else (replace(_SLASH, over=3), *_ANYTHING)
    return (*(() if anchored else _DIRECTORIES), *_translate(body), *below)


def _translate(pattern: str) -> Iterator[_Step]:
    """Translate what stands between the outer slashes."""
    position = 0
    while position < len(pattern):
        rest = pattern[position:]
        if rest.startswith("**/"):
            yield from _DIRECTORIES
            position += 3
        elif rest.startswith("**"):
            yield from _ANYTHING
            position += 2
        elif (group := re.match(r"\[([!^]?)(\]?[^\]/]*)\]", rest)) and group[2]:
            yield _Step(re.compile(_characters(group[2], negated=bool(group[1])), re.DOTALL))
            position += group.end()
        elif rest[0] == "\\" and len(rest) > 1:
            yield _Step(re.compile(re.escape(rest[1])))
            position += 2
        else:
            wild = rest[0] in "*?"
            yield _Step(re.compile("[^/]" if wild else re.escape(rest[0])), stays=rest[0] == "*")
            position += 1


def _characters(inside: str, *, negated: bool) -> str:
    """Translate what stands between brackets; a range that runs backwards (`z-a`) holds no character, as for git."""
    escaped = re.sub(r"([\\\[\]&~|^])", r"\\\1", inside)
    group = f"[{'^/' if negated else ''}{escaped}]"
    try:
        re.compile(group)
    except re.error:
        return "(?!)"
    return group


_ANY = re.compile(".", re.DOTALL)
_SLASH = _Step(re.compile("/"))
_ANYTHING = (_Step(_ANY), _Step(_ANY, stays=True))
_DIRECTORIES = (_Step(_ANY, over=3), _Step(_ANY, stays=True), _SLASH)
