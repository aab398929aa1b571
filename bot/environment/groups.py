"""Dependency groups of pyproject.toml (PEP 735): their requirements, those of included groups among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from packaging.utils import canonicalize_name


def requirements(groups: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the requirements of a group, in its order; what includes itself or is missing gives nothing."""
    by_name: dict[str, Any] = {canonicalize_name(each): rows for each, rows in groups.items()}
    return tuple(dict.fromkeys(_lines(by_name, canonicalize_name(name), ())))


def _lines(groups: Mapping[str, Any], name: str, above: tuple[str, ...]) -> list[str]:
    rows = groups.get(name)
    if name in above or not isinstance(rows, list):
        return []
    found: list[str] = []
    for row in rows:
        if isinstance(row, str):
            found.append(row)
        elif isinstance(row, Mapping) and isinstance(row.get("include-group"), str):
            found += _lines(groups, canonicalize_name(row["include-group"]), (*above, name))
    return found
