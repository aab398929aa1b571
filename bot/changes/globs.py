"""Patterns for paths, with the meaning that .gitignore gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a path, or a directory above it, matches one of the patterns.

    `*` and `?` stop at a slash, `**` does not. A pattern with a slash inside counts from the root (`src/*.py`), one without
    matches at every level (`*_gen.py`, `docs/`). A pattern that matches a directory covers all that is below.
    """
    return any(_compiled(pattern).match(path) for pattern in patterns)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Translate a pattern into a regular expression for whole paths."""
    only_directories = pattern.endswith("/")
    body = pattern.removeprefix("./").strip("/")
    anchored = "/" in body or pattern.startswith(("/", "./"))
    below = "/.+" if only_directories else "(?:/.+)?"
    return re.compile(rf"{'' if anchored else '(?:.+/)?'}{_translate(body)}{below}\Z", re.DOTALL)


def _translate(pattern: str) -> str:
    """Translate what stands between the outer slashes."""
    found = []
    position = 0
    while position < len(pattern):
        rest = pattern[position:]
        if rest.startswith("**/"):
            found.append("(?:.+/)?")
            position += 3
        elif rest.startswith("**"):
            found.append(".+")
            position += 2
        elif (group := re.match(r"\[([!^]?)(\]?[^\]/]*)\]", rest)) and group[2]:
            found.append(_characters(group[2], negated=bool(group[1])))
            position += group.end()
        elif rest[0] == "\\" and len(rest) > 1:
            found.append(re.escape(rest[1]))
            position += 2
        else:
            found.append({"*": "[^/]*", "?": "[^/]"}.get(rest[0], re.escape(rest[0])))
            position += 1
    return "".join(found)


def _characters(inside: str, *, negated: bool) -> str:
    """Translate what stands between brackets; a range that runs backwards (`z-a`) holds no character, as for git."""
    escaped = re.sub(r"([\\\[\]&~|^])", r"\\\1", inside)
    group = f"[{'^/' if negated else ''}{escaped}]"
    try:
        re.compile(group)
    except re.error:
        return "(?!)"
    return group
