"""How a repository lays out its packages: from which directories its modules are imported, and under which names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from bot.changes.exclusion import is_test

_SOURCE_DIRECTORIES = ("src", "lib", "python")


def import_roots(files: Iterable[str]) -> tuple[str, ...]:
    """Return the directories of a tree to put on `sys.path`, relative to its root, the likelier first.

    A directory named src (or lib, python) that is no package itself and holds Python, at the top or of a project in a
    subdirectory, is one; so is each directory with a pyproject.toml, setup.py or setup.cfg, and the root is always the last.
    """
    paths = sorted({PurePosixPath(file) for file in files})
    packages = {path.parent for path in paths if path.name == "__init__.py"}
    holders = {parent for path in paths if path.suffix == ".py" for parent in path.parents}
    projects = {
        path.parent
        for path in paths
        if path.name in ("pyproject.toml", "setup.py", "setup.cfg") and not is_test(str(path))
    } | {PurePosixPath(".")}
    projects -= packages - {PurePosixPath(".")}
    found: list[str] = []
    for project in sorted(projects, key=lambda path: (len(path.parts), str(path))):
        for name in _SOURCE_DIRECTORIES:
            directory = project / name
            if directory in holders and directory not in packages and not _only_tests(directory, paths):
                found.append(str(directory))
    found.extend(str(project) for project in sorted(projects, key=lambda path: (-len(path.parts), str(path))))
    return tuple(dict.fromkeys(found))


def _only_tests(directory: PurePosixPath, paths: Sequence[PurePosixPath]) -> bool:
    """Return whether all Python below a directory is tests."""
    return all(is_test(str(path)) for path in paths if path.suffix == ".py" and directory in path.parents)


def module_name(path: str, roots: Sequence[str]) -> str:
    """Return the dotted name under which a file is imported: relative to the deepest import root above it."""
    pure = PurePosixPath(path)
    above = [PurePosixPath(root) for root in roots if PurePosixPath(root) in pure.parents]
    root = max(above, key=lambda candidate: len(candidate.parts), default=PurePosixPath("."))
    parts = pure.relative_to(root).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)
