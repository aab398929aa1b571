"""pdm.lock: an entry for each package, and one more for each set of its extras."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from bot.environment.locks.pins import Pin
from bot.environment.tables import rows, strings, table, toml


def read(tree: Path) -> tuple[Pin, ...]:
    """Return the packages of the tree's lock."""
    lock = toml(tree / "pdm.lock")
    older_hashes = table(lock, "metadata", "files")
    return tuple(_pin(row, older_hashes) for row in rows(lock, "package") if isinstance(row.get("name"), str))


def _pin(row: Mapping[str, Any], older_hashes: Mapping[str, Any]) -> Pin:
    version = str(row.get("version", ""))
    files = rows(row, "files") or rows(older_hashes, f"{row['name']} {version}")
    path = str(row.get("path", ""))
    source = path or str(row.get("url", ""))
    if row.get("git"):
        source = f"git+{row['git']}@{row.get('revision') or row.get('ref') or 'HEAD'}"
    marker = row.get("marker")
    return Pin(
        name=canonicalize_name(row["name"]),
        version=version,
        hashes=tuple(str(file["hash"]) for file in files if file.get("hash")),
        needs=tuple(strings(row.get("dependencies"))),
        markers=(marker,) if isinstance(marker, str) and marker else (),
        python=str(row.get("requires_python", "")),
        extras=frozenset(canonicalize_name(extra) for extra in strings(row.get("extras"))),
        source=source,
        directory=bool(path),
        always=bool(path),
    )
