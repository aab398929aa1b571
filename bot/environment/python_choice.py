"""Which version of Python a repository's code runs on: the configuration's, the one it is developed with, or one it allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet

from bot.environment.declared import Declared
from bot.environment.locks import pipfile_lock

OLDEST = SpecifierSet(">=3.9", prereleases=True)
"""What pytest and coverage still support, and so what testforge's own part inside the sandbox runs on."""

USUAL = "3.12"
"""Taken where nothing says otherwise: old enough that everything can be had for it, new enough that everything runs on it."""

CONFIGURED = "`environment.python` of .github/testforge.yml"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a repository says about its Python.

    Attributes:
        requires: Specifiers that the version must meet; empty is any.
        required_by: Who says so.
        preferred: The version to take if it is there, such as `3.11`; empty is none.
        preferred_by: Who says so.
    """

    requires: str = ""
    required_by: str = ""
    preferred: str = ""
    preferred_by: str = ""

    def accepts(self, version: str) -> bool:
        """Tell whether a full version will do, and is one that testforge runs on."""
        try:
            return version in SpecifierSet(self.requires, prereleases=True) and version in OLDEST
        except ValueError:  # no specifier, or one with a number too long to be read
            return version in OLDEST


@dataclass(frozen=True, slots=True)
class Choice:
    """A version out of those there are, and a sentence on why it is this one."""

    version: str
    because: str


def read(tree: Path, wanted: Declared, pinned: str | None) -> Wish:
    """Return what a tree says, and its configuration (`pinned`), which wins."""
    if pinned:
        return Wish(f"=={pinned}.*", CONFIGURED)
    requires, required_by = wanted.requires_python, "the project"
    if not requires and wanted.conda.python:
        requires, required_by = wanted.conda.python, wanted.conda.file
    preferred, preferred_by = _preferred(tree)
    return Wish(requires, required_by, preferred, preferred_by)


def choose(wish: Wish, available: Sequence[str], usual: str = USUAL) -> Choice | None:
    """Return the version to take; None if none will do.

    Args:
        available: Full versions; of two of the same minor version the first is taken.
        usual: The minor version to be near to where the repository does not prefer one.
    """
    fitting = [version for version in available if wish.accepts(version)]
    if not fitting:
        return None
    aim = minor(wish.preferred) or usual
    nearest = min(fitting, key=lambda version: (abs(_number(version) - _number(aim)), -_number(version)))
    here = f"Python {minor(nearest)}"
    if wish.preferred and minor(nearest) == aim:
        return Choice(nearest, f"{here}, as {wish.preferred_by} says.")
    if wish.preferred:
        reason = "is not here" if wish.accepts(f"{aim}.99") else "will not do"
        return Choice(nearest, f"{here}, since {aim}, which {wish.preferred_by} names, {reason}.")
    if wish.requires:
        return Choice(nearest, f"{here}, which {wish.required_by} allows ({wish.requires}).")
    return Choice(nearest, f"{here}; the repository asks for no version.")


def minor(version: str) -> str:
    """Return `3.11` of `3.11.7`."""
    return ".".join(version.split(".")[:2])


def _preferred(tree: Path) -> tuple[str, str]:
    try:
        named = re.search(
            r"(?m)^\s*(?:cpython[@-])?(3\.\d+)\b", (tree / ".python-version").read_text("utf-8")
        )
    except (OSError, ValueError):
        named = None
    if named:
        return named[1], ".python-version"
    pipfile = re.match(r"3\.\d+", pipfile_lock.python(tree))
    return (pipfile[0], "Pipfile") if pipfile else ("", "")


def _number(version: str) -> int:
    return int(version.split(".")[1])
