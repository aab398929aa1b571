"""Copies of a repository's files, for sandboxes to work on: of a commit, or of the working tree as it lies there."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from bot.changes.repository import LINK, SUBMODULE, Entry, Repository
from bot.domain import Change
from bot.errors import InconclusiveError, RepositoryError

_LARGEST = 50 * 1024**2  # bytes; data of that size is no part of unit tests
_MOST_FILES = 200_000
_MOST_BYTES = 4 * 1024**3
_DEEPEST = 100
"""Directories within each other; what lies deeper is left out: it is no project's, and Python stumbles over it."""
_LEFT_OUT = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".tox",
        ".nox",
        "node_modules",
        "__pycache__",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".ipynb_checkpoints",
    }
)


def checkout(change: Change, into: Path) -> None:
    """Write head's files into an empty directory: a commit's exactly as committed, or a copy of the working tree.

    Raises:
        RepositoryError: The tree of the commit cannot be read, or the working tree is far too large.
        InconclusiveError: The file system refuses.
    """
    with _writing(into):
        if change.head is not None:
            _write_commit(Repository(change.root), change.head, into)
        else:
            _copy_working_tree(change.root, into)


def checkout_base(change: Change, into: Path) -> None:
    """Write the files of the commit that the change starts from into an empty directory.

    Raises:
        RepositoryError: The change has no base, or its tree cannot be read.
        InconclusiveError: The file system refuses.
    """
    if change.base is None:
        raise RepositoryError("This change starts from no commit, so there is no tree of it to check out.")
    with _writing(into):
        _write_commit(Repository(change.root), change.base, into)


@contextmanager
def _writing(into: Path) -> Iterator[None]:
    """Turn what the file system says while a copy is written (a full disk, most of all) into a sentence."""
    try:
        yield
    except OSError as error:
        raise InconclusiveError(
            f"The repository could not be copied to {str(into)!r}: {error.strerror or error}. "
            "Free space there, or name another directory in TMPDIR."
        ) from error


# ---------------------------------------------------------------- a commit


def _write_commit(repository: Repository, commit: str, into: Path) -> None:
    """Write a commit's blobs as they are.

    `git archive` would leave out what `.gitattributes` marks `export-ignore` (often the tests) and fill in `export-subst`;
    a checkout would run filters. Links are made last, so that nothing is written through one.
    """
    into.mkdir(parents=True, exist_ok=True)
    entries = [entry for entry in repository.entries(commit) if _is_safe(entry.path)]
    files = [entry for entry in entries if entry.mode not in (LINK, SUBMODULE)]
    links = [entry for entry in entries if entry.mode == LINK]
    for entry in entries:
        directory = into / entry.path
        (directory if entry.mode == SUBMODULE else directory.parent).mkdir(parents=True, exist_ok=True)
    for entry, content in zip(files, repository.blobs(e.object_id for e in files), strict=True):
        file = into / entry.path
        file.write_bytes(content)
        file.chmod(0o755 if entry.mode == "100755" else 0o644)
    targets = repository.blobs(entry.object_id for entry in links)
    for entry, target in zip(links, targets, strict=True):
        _make_link(into, entry, os.fsdecode(target))


def _make_link(root: Path, entry: Entry, target: str) -> None:
    """Make a committed link unless it leads out of the tree."""
    link = root / entry.path
    if _stays_inside(entry.path, target) and not os.path.lexists(link):
        link.symlink_to(target)


def _stays_inside(path: str, target: str) -> bool:
    """Return whether a relative link at `path` leads to somewhere below the root, by its text."""
    if not target or target.startswith("/") or "\0" in target:
        return False
    end = os.path.normpath(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120 - text, no file system
    return end != ".." and not end.startswith("../")


def _is_safe(path: str) -> bool:
    """Return whether a path of a tree can be written: git would not make others, but a hostile hand can."""
    parts = path.split("/")
    return len(parts) <= _DEEPEST and all(
        part not in ("", ".", "..") and part.lower() != ".git" for part in parts
    )


# ---------------------------------------------------------------- the working tree


def working_files(root: Path) -> tuple[str, ...]:
    """Return the paths of the files that a copy of the working tree holds, links included, sorted.

    Raises:
        RepositoryError: There are far too many.
    """
    return tuple(sorted(path.as_posix() for path, _ in _walk(root)))


def _copy_working_tree(root: Path, into: Path) -> None:
    """Copy tracked, untracked and ignored files, but no history, environments, caches, or what leads elsewhere."""
    into.mkdir(parents=True, exist_ok=True)
    inside = into.resolve()
    for path, mode in _walk(root):
        source = root / path
        if inside in source.resolve().parents:  # the copy lies inside the repository
            continue
        copy = into / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            if stat.S_ISLNK(mode):
                target = os.readlink(source)  # noqa: PTH115 - a Path would normalise it
                if _stays_inside(path.as_posix(), target):
                    copy.symlink_to(target)
            else:
                shutil.copyfile(source, copy)
                copy.chmod(0o755 if mode & 0o100 else 0o644)
        except (
            FileNotFoundError,
            PermissionError,
        ):  # gone meanwhile, or not for us to read: neither for the tests
            continue


def _walk(root: Path) -> Iterator[tuple[PurePosixPath, int]]:
    """Yield the files and links worth copying, relative to the root and with their mode.

    Raises:
        RepositoryError: There are far too many, as in a home directory taken for a project.
    """
    count = size = 0
    for directory, names, files in os.walk(root):
        here = Path(directory)
        linked = [name for name in names if (here / name).is_symlink()]
        entered = () if len(here.relative_to(root).parts) + 1 >= _DEEPEST else names
        names[:] = sorted(name for name in entered if name not in linked and not _is_left_out(here / name))
        for name in sorted([*files, *linked]):
            file = here / name
            try:
                status = file.lstat()
            except OSError:
                continue
            regular = stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST
            link = stat.S_ISLNK(status.st_mode) and not _is_left_out(file)
            if name != ".git" and (regular or link):
                count, size = count + 1, size + status.st_size
                if count > _MOST_FILES or size > _MOST_BYTES:
                    raise RepositoryError(
                        f"{str(root)!r} holds too much to work on a copy of it ({count:,} files, {size >> 20:,} MB so far). "
                        "Name a file of a smaller project, or a commit with --head."
                    )
                yield PurePosixPath(file.relative_to(root).as_posix()), status.st_mode


def _is_left_out(directory: Path) -> bool:
    """Return whether a directory holds history, an environment or a cache."""
    marks = ("pyvenv.cfg", "conda-meta", "CACHEDIR.TAG")
    return directory.name in _LEFT_OUT or any(os.path.lexists(directory / mark) for mark in marks)
