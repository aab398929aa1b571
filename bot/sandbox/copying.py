"""Copying a tree into a sandbox, and deleting it whatever the code in it has done to its permissions."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from pathlib import Path

from bot.errors import SandboxError
from bot.sandbox import clearing

NOT_COPIED = frozenset({"__pycache__"})
"""Compiled files are left behind: one that is as old and as long as a mutated source would be taken for it."""


def copy_tree(source: Path, target: Path) -> None:
    """Copy a directory's files into an existing empty directory.

    Links are kept where they stay inside the tree and left out otherwise; sockets, pipes and devices are left out.
    Files and directories are made writable for their owner. No hard links: code could write through them.

    Raises:
        SandboxError: A file cannot be read, or the disk is full.
    """
    root = source.resolve()
    try:
        _copy_directory(root, root, target)
    except OSError as problem:
        raise SandboxError(_reason(problem)) from problem


def copy_missing(source: Path, target: Path) -> None:
    """Copy those files below `source` that `target` does not have; a directory that is a link there is not entered.

    Raises:
        SandboxError: A file cannot be read, or the disk is full.
    """
    try:
        for path in sorted(source.rglob("*")):
            to = target / path.relative_to(source)
            if path.is_dir():
                to.mkdir(exist_ok=True)
            elif not os.path.lexists(to) and to.parent.resolve() == to.parent:
                _copy_file(str(path), to, path.stat())
    except OSError as problem:
        raise SandboxError(_reason(problem)) from problem


def _copy_directory(root: Path, source: Path, target: Path) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            to = target / entry.name
            if entry.is_symlink():
                _copy_link(root, Path(entry.path), to)
            elif entry.is_dir():
                if entry.name not in NOT_COPIED:
                    to.mkdir()
                    _copy_directory(root, Path(entry.path), to)
            elif entry.is_file():
                _copy_file(entry.path, to, entry.stat())


def _copy_link(root: Path, source: Path, target: Path) -> None:
    """Keep a relative link that stays inside the tree."""
    leads_to = source.readlink()
    if not leads_to.is_absolute() and Path(os.path.realpath(source)).is_relative_to(root):
        target.symlink_to(leads_to)


def _copy_file(source: str, target: Path, about: os.stat_result) -> None:
    shutil.copyfile(source, target)
    target.chmod(stat.S_IMODE(about.st_mode) & 0o777 | stat.S_IRUSR | stat.S_IWUSR)
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))


def _reason(problem: OSError) -> str:
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"The disk of {tempfile.gettempdir()} is full, so the repository could not be copied into a sandbox; "
            "free some space, or set TMPDIR to a directory with more room."
        )
    return f"The repository could not be copied into a sandbox: {problem.strerror}: {problem.filename}."


def delete_tree(path: Path) -> None:
    """Delete a directory and all below it, also what has been made unreadable or read-only."""
    with contextlib.suppress(OSError):  # what cannot be deleted stays
        clearing.delete(str(path))
