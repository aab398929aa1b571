"""Pipfile.lock: what the code needs and what development needs, complete and flat."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from bot.environment.locks.pins import Pin
from bot.environment.tables import json_file, strings, table, toml


def read(tree: Path) -> tuple[Pin, ...]:
    """Return the packages of the tree's lock, those for development after the others."""
    lock = json_file(tree / "Pipfile.lock")
    found: dict[str, Pin] = {}
    for section in ("default", "develop"):
        for name, row in table(lock, section).items():
            if isinstance(row, Mapping):
                found.setdefault(canonicalize_name(name), _pin(name, row))
    return tuple(found.values())


def python(tree: Path) -> str:
    """Return the version of Python that Pipfile or Pipfile.lock asks for, such as `3.11`; empty if neither does."""
    asked = table(json_file(tree / "Pipfile.lock"), "_meta", "requires") or table(
        toml(tree / "Pipfile"), "requires"
    )
    return str(asked.get("python_full_version") or asked.get("python_version") or "")


def _pin(name: str, row: Mapping[str, Any]) -> Pin:
    path = str(row.get("path", ""))
    source = path or str(row.get("file", ""))
    if row.get("git"):
        source = f"git+{row['git']}@{row.get('ref') or 'HEAD'}"
    marker = row.get("markers")
    return Pin(
        name=canonicalize_name(name),
        version=str(row.get("version", "")).removeprefix("=="),
        hashes=tuple(strings(row.get("hashes"))),
        markers=(marker,) if isinstance(marker, str) and marker else (),
        source=source,
        directory=bool(path),
    )
