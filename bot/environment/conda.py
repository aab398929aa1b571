"""What conda's environment.yml names: its pip part can be installed, its other packages only conda could."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.environment.tables import strings, yaml_file

FILES = ("environment.yml", "environment.yaml", "conda.yml", "conda.yaml")
_PACKAGE = re.compile(r"^(?:[\w./-]+::)?([\w.-]+)\s*(.*)$")
_NOT_NAMED = frozenset({"python", "pip", "setuptools", "wheel"})


@dataclass(frozen=True, slots=True)
class Conda:
    """A file read.

    Attributes:
        file: Its name; empty if there is none.
        python: Specifiers for Python, such as `==3.11.*`; empty if it does not say.
        pip: Requirements of its pip part.
        others: Names of the packages that are not installed.
    """

    file: str = ""
    python: str = ""
    pip: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def read(tree: Path) -> Conda:
    """Return what the tree's file says."""
    name = next((name for name in FILES if (tree / name).is_file()), "")
    rows = yaml_file(tree / name).get("dependencies") if name else None
    if not isinstance(rows, list):
        return Conda()
    python = ""
    pip: list[str] = []
    others: list[str] = []
    for row in rows:
        if isinstance(row, Mapping):
            pip += strings(row.get("pip"))
            continue
        matched = _PACKAGE.match(str(row).strip())
        if matched is None:
            continue
        if matched[1].lower() == "python":
            python = _specifiers(matched[2])
        elif matched[1].lower() not in _NOT_NAMED:
            others.append(matched[1])
    return Conda(name, python, tuple(pip), tuple(sorted(set(others))))


def _specifiers(constraint: str) -> str:
    """Return conda's `=3.11`, `>=3.9,<3.12` or `3.10.*` as PEP 440 specifiers."""
    if "|" in constraint:
        return ""
    found: list[str] = []
    for part in constraint.replace(" ", ",").split(","):
        matched = re.match(r"^(>=|<=|!=|==|=|>|<|)(\d+(?:\.\d+)*)(\.?\*)?(?:=.*)?$", part)
        if matched is None:
            continue
        inexact = matched[1] in ("=", "") or bool(matched[3])
        if inexact and matched[1] in ("=", "==", ""):
            found.append(f"=={matched[2]}.*")
        else:
            found.append(f"{matched[1]}{matched[2]}")
    return ",".join(found)
