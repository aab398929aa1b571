"""Requirements files: which of a tree are for the code and which for its tests, and what they include."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from bot.environment.naming import FOR_TESTS

CODE = frozenset({"base", "main", "prod", "production", "install", "core", "common", "app", "runtime"})
PLAIN = frozenset({"requirements", "requirement", "reqs"})
DEEPEST = 5
"""How far files that include files are followed."""

_INCLUDE = re.compile(r"^\s*(?:-r|--requirement|-c|--constraint)(?:\s*=\s*|\s+|(?=[^\s-]))(\S+)")
_REQUIREMENT = re.compile(r"^\s*(?:-r|--requirement)\b")


def find(tree: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files for the code and those for its tests; such for documentation and the like are left out."""
    code: list[str] = []
    tests: list[str] = []
    places = ("*.txt", "requirements/*.txt", "tests/requirements*.txt", "test/requirements*.txt")
    for path in sorted(found for place in places for found in tree.glob(place) if found.is_file()):
        words = set(re.split(r"[-_.]", path.stem.lower()))
        if path.parent.name != "requirements" and not words & PLAIN:
            continue
        rest = words - PLAIN
        name = path.relative_to(tree).as_posix()
        if path.parent.name in ("tests", "test"):
            tests.append(name)
        elif rest <= CODE:
            code.append(name)
        elif rest <= {*FOR_TESTS, *CODE}:
            tests.append(name)
    return tuple(code), tuple(tests)


def lines(tree: Path, name: str, depth: int = 0) -> list[str]:
    """Return the requirements of a file and of those that it includes, without options and hashes."""
    path = _inside(tree, name)
    if depth > DEEPEST or path is None:
        return []
    found: list[str] = []
    for line in _logical_lines(path):
        included = _INCLUDE.match(line)
        if included and _REQUIREMENT.match(line):
            found += lines(tree, (path.parent / included[1]).as_posix(), depth + 1)
        elif not included:
            found.append(re.split(r"\s--", line)[0])
    return found


def closure(tree: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return files with all that they include, constraints among it, and with the projects in the tree that they name."""
    root = tree.resolve()
    found: set[str] = set()
    waiting = [(name, 0) for name in names]
    while waiting:
        name, depth = waiting.pop()
        path = _inside(tree, name)
        if path is None or depth > DEEPEST or path.relative_to(root).as_posix() in found:
            continue
        found.add(path.relative_to(root).as_posix())
        for line in _logical_lines(path):
            included = _INCLUDE.match(line)
            if included:
                waiting.append(((path.parent / included[1]).as_posix(), depth + 1))
            found.update(_project_files(tree, line))
    return tuple(sorted(found))


def _project_files(tree: Path, line: str) -> Sequence[str]:
    """Return the files by which a project in the tree that a line installs (`-e ./lib`, `lib/`) says what it needs."""
    local = re.match(r"^\s*(?:-e\s*|--editable[ =]\s*)?(\.{0,2}/?[\w./-]*)(?:\[[\w, -]*\])?\s*$", line)
    path = _inside(tree, local[1], directory=True) if local and local[1] else None
    if path is None:
        return ()
    root = tree.resolve()
    return [
        (path / name).relative_to(root).as_posix()
        for name in ("pyproject.toml", "setup.py", "setup.cfg")
        if (path / name).is_file()
    ]


def _inside(tree: Path, name: str, *, directory: bool = False) -> Path | None:
    """Return the file, or directory, of a name if it lies in the tree."""
    path = (tree / name).resolve()
    there = path.is_dir() if directory else path.is_file()
    return path if there and path.is_relative_to(tree.resolve()) else None


def _logical_lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").replace("\\\n", " ").splitlines()
