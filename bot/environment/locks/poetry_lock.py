"""poetry.lock, of lock versions 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from bot.environment import poetry
from bot.environment.locks.pins import Pin
from bot.environment.naming import is_for_tests
from bot.environment.tables import rows, strings, table, toml


def read(tree: Path) -> tuple[Pin, ...]:
    """Return the packages of the tree's lock."""
    lock = toml(tree / "poetry.lock")
    older_hashes = table(lock, "metadata", "files")
    return tuple(_pin(row, older_hashes) for row in rows(lock, "package") if isinstance(row.get("name"), str))


def _pin(row: Mapping[str, Any], older_hashes: Mapping[str, Any]) -> Pin:
    name = row["name"]
    files = rows(row, "files") or rows(older_hashes, name)
    source, directory = _source(table(row, "source"))
    return Pin(
        name=canonicalize_name(name),
        version=str(row.get("version", "")),
        hashes=tuple(str(file["hash"]) for file in files if file.get("hash")),
        needs=tuple(poetry.requirements(table(row, "dependencies"), optional=True)),
        markers=_markers(row.get("markers")),
        python=poetry.specifiers(str(row.get("python-versions", ""))),
        source=source,
        directory=directory,
        # pyproject.toml names a directory's package by its path, so that no requirement leads here.
        always=directory and _is_wanted(row),
    )


def _markers(value: object) -> tuple[str, ...]:
    """Return the markers of a package: one, or one for each group that it is in."""
    if isinstance(value, Mapping):
        return tuple(text for text in value.values() if isinstance(text, str))
    return (value,) if isinstance(value, str) and value else ()


def _is_wanted(row: Mapping[str, Any]) -> bool:
    """Tell whether one of a package's groups is the code's or the tests'; older locks have no groups."""
    named = strings(row.get("groups"))
    return not row.get("optional") and (
        not named or any(name == "main" or is_for_tests(name) for name in named)
    )


def _source(source: Mapping[str, Any]) -> tuple[str, bool]:
    """Return where a package comes from other than an index, and whether that is a directory."""
    url = str(source.get("url", ""))
    match source.get("type"):
        case "git":
            below = f"#subdirectory={source['subdirectory']}" if source.get("subdirectory") else ""
            return (
                f"git+{url}@{source.get('resolved_reference') or source.get('reference') or 'HEAD'}{below}",
                False,
            )
        case "url":
            return url, False
        case "directory" | "file":
            return url, True
        case _:
            return "", False
