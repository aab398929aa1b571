"""The key of an environment: a hash of exactly the files that decide what is in it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

NATIVE = frozenset({".pyx", ".pxd", ".pxi", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".rs", ".f", ".f90"})
NATIVE_FILES = frozenset({"Cargo.toml", "Cargo.lock", "CMakeLists.txt", "meson.build"})
_NOT_SOURCES = frozenset({"node_modules", "__pycache__", ".git", ".tox", ".nox", ".venv", "venv"})


def key(tree: Path, files: Iterable[str], *more: str, native: bool) -> str:
    """Return the key: it changes with any of the files, with a source of a compiled extension, or with the texts given.

    Args:
        files: What decides, relative to the tree.
        native: Whether the project is built, so that its extensions' sources count.
    """
    found = hashlib.sha256()
    for name in sorted({*files, *(_native_sources(tree) if native else ())}):
        content = (tree / name).read_bytes()
        found.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    for text in more:
        found.update(f"{len(text)}\0{text}".encode())
    return found.hexdigest()[:32]


def _native_sources(tree: Path) -> Iterator[str]:
    for directory, names, files in os.walk(tree):
        names[:] = [name for name in names if name not in _NOT_SOURCES]
        for name in files:
            path = Path(directory, name)
            if (path.suffix in NATIVE or name in NATIVE_FILES) and path.is_file():
                yield path.relative_to(tree).as_posix()
