"""Configuration files as tables: what cannot be read is empty, what has another type than expected is left out."""

from __future__ import annotations

import configparser
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

LARGEST = 32 * 1024**2
"""A larger file is no configuration and no lock, in bytes."""


def toml(path: Path) -> dict[str, Any]:
    """Return a TOML file."""
    try:
        return tomllib.loads(_text(path))
    except (OSError, ValueError, RecursionError):
        return {}


def ini(path: Path) -> dict[str, dict[str, str]]:
    """Return an INI file by section and key."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(_text(path))
    except (OSError, ValueError, configparser.Error):
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def json_file(path: Path) -> dict[str, Any]:
    """Return a JSON file that holds an object."""
    try:
        found = json.loads(_text(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def yaml_file(path: Path) -> dict[str, Any]:
    """Return a YAML file that holds a mapping; one with aliases, a few of which can stand for gigabytes, is empty."""
    try:
        text = _text(path)
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=yaml.SafeLoader)):
            return {}
        found = yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def table(start: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return a table within a table; an empty one if there is none."""
    for key in keys:
        inner = start.get(key)
        if not isinstance(inner, Mapping):
            return {}
        start = inner
    return start


def rows(start: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return an array of tables."""
    found = start.get(key)
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


def strings(value: object) -> list[str]:
    """Return the texts of an array."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def lines(text: str) -> list[str]:
    """Return the lines of a value of an INI file, without comments."""
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def _text(path: Path) -> str:
    if path.stat().st_size > LARGEST:
        raise ValueError("too large")
    return path.read_text(encoding="utf-8")
