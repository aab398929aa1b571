"""Copying a tree into a sandbox, and deleting it whatever the code in it has done to its permissions."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

from bot.errors import SandboxError

NOT_COPIED = frozenset({"__pycache__"})
"""Compiled files are left behind: one that is as old and as long as a mutated source would be taken for it."""


def copy_tree(source: Path, target: Path) -> None:
    """Copy a directory's files into an existing empty directory.

    Links are kept where they stay inside the tree and left out otherwise; sockets, pipes and devices are left out.
    Files and directories are made writable for their owner. No hard links: code could write through them.

    Raises:
        SandboxError: A file cannot be read, or the disk is full.
    """
    root = os.path.realpath(source)
    try:
        _copy_directory(root, root, str(target))
    except OSError as problem:
        raise SandboxError(_reason(problem, target)) from problem


def _copy_directory(root: str, source: str, target: str) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            to = f"{target}/{entry.name}"
            if entry.is_symlink():
                _copy_link(root, entry.path, to)
            elif entry.is_dir():
                if entry.name not in NOT_COPIED:
                    os.mkdir(to)
                    _copy_directory(root, entry.path, to)
            elif entry.is_file():
                _copy_file(entry.path, to, entry.stat())


def _copy_link(root: str, source: str, target: str) -> None:
    """Keep a relative link that leads to something inside the tree."""
    leads_to = os.readlink(source)
    inside = os.path.realpath(source)
    if not os.path.isabs(leads_to) and (inside == root or inside.startswith(f"{root}/")):
        os.symlink(leads_to, target)


def _copy_file(source: str, target: str, about: os.stat_result) -> None:
    shutil.copyfile(source, target)
    os.chmod(target, stat.S_IMODE(about.st_mode) & 0o777 | stat.S_IRUSR | stat.S_IWUSR)
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))


def _reason(problem: OSError, target: Path) -> str:
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"No space is left on the disk of {target.anchor if target == target.parent else target.parent.parent} "
            "for a copy of the repository; free some, or set TMPDIR to a directory with more room."
        )
    return f"The repository could not be copied into a sandbox: {problem.strerror} ({problem.filename})."


def delete_tree(path: Path) -> None:
    """Delete a directory and all below it, also what has been made unreadable or read-only."""

    def open_up(function: object, name: str, problem: object) -> None:
        for part in (os.path.dirname(name), name):
            if not os.path.islink(part):
                try:
                    os.chmod(part, 0o700)
                except OSError:
                    return

    for _ in range(64):  # each pass opens what the one before stumbled over
        shutil.rmtree(path, onerror=open_up)
        if not os.path.lexists(path):
            return
