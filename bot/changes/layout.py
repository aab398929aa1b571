"""How a repository lays out its packages: from which directories its modules are imported, and under which names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from bot.changes.exclusion import is_test

_SOURCE_DIRECTORIES = ("src", "lib", "python")
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


def import_roots(files: Iterable[str]) -> tuple[str, ...]:
    """Return the directories of a tree to put on `sys.path`, relative to its root, the likelier first.

    A directory named src (or lib, python) that is no package itself and holds Python, at the top or of a project in a
    subdirectory, is one; so is each directory with a pyproject.toml, setup.py or setup.cfg, and the root. A directory that
    cannot be a package by its name (`my-service`) is one too, since otherwise what is in it could not be imported.
    """
    paths = sorted({PurePosixPath(file) for file in files})
    sources = [path for path in paths if path.suffix == ".py" and not is_test(str(path))]
    packages = {path.parent for path in paths if path.name == "__init__.py"}
    holders = {parent for path in sources for parent in path.parents}
    top = PurePosixPath(".")
    projects = {path.parent for path in paths if path.name in _PROJECT_FILES and not is_test(str(path))} | {
        top
    }
    projects -= packages - {top}
    unnameable = _unnameable(sources) - projects
    found: list[PurePosixPath] = []
    for project in sorted(projects | unnameable, key=lambda path: (len(path.parts), str(path))):
        for directory in (project / name for name in _SOURCE_DIRECTORIES):
            if directory in holders and directory not in packages:
                found.append(directory)
    found.extend(sorted(projects, key=lambda path: (-len(path.parts), str(path))))
    found.extend(sorted(unnameable, key=lambda path: (-len(path.parts), str(path))))
    return tuple(dict.fromkeys(map(str, found)))


def _unnameable(sources: Sequence[PurePosixPath]) -> set[PurePosixPath]:
    """Return directories with names that are no identifiers, as near above the sources as there are.

    Not those with a module named as one of the standard library: on `sys.path` it would take that one's place.
    """
    found: dict[PurePosixPath, set[str]] = {}
    for path in sources:
        for directory in path.parents:
            if directory.name and not directory.name.isidentifier():
                inside = path.relative_to(directory).parts[0]
                found.setdefault(directory, set()).add(inside.removesuffix(".py"))
                break
    return {directory for directory, names in found.items() if not names & sys.stdlib_module_names}


def module_name(path: str, roots: Sequence[str]) -> str:
    """Return the dotted name under which a file is imported: relative to the deepest import root above it."""
    pure = PurePosixPath(path)
    above = [PurePosixPath(root) for root in roots if PurePosixPath(root) in pure.parents]
    root = max(above, key=lambda candidate: len(candidate.parts), default=PurePosixPath("."))
    parts = pure.relative_to(root).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)
