"""Going through a directory that untrusted code has filled, however deep it is; a container's warden loads it, too.

Nothing runs in the sandbox meanwhile. What recursion or whole paths would do ends at a thousand directories within each
other, or at four thousand characters: both are made in a moment.
"""

# pathlib, shutil and contextlib would cost more to import than all the rest (pyproject lets ruff allow it).

from __future__ import annotations

import os
import stat

DEEPEST = 100
"""How many directories within each other are listed, or copied: no project has as many."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def delete(name: str, below: int | None = None) -> None:
    """Delete a file, a link or a directory with all below it, whatever its permissions; nothing happens if there is none.

    Args:
        name: Its path, or its name in the open directory `below`.

    Raises:
        OSError: It is still there.
    """
    try:
        about = os.stat(name, dir_fd=below, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(about.st_mode):
        os.unlink(name, dir_fd=below)
        return
    here = _opened(name, below)
    try:
        _empty(here)
    finally:
        os.close(here)
    os.rmdir(name, dir_fd=below)


def files(top: str, without: frozenset[str] = frozenset()) -> list[str]:
    """Return the paths of the regular files below a directory, relative to it; what cannot be entered is left out.

    Args:
        without: Names of directories that are not entered.
    """
    found: list[str] = []
    waiting = [("", 0)]
    while waiting:
        inside, depth = waiting.pop()
        try:
            entries = list(os.scandir(os.path.join(top, inside)))
        except OSError:
            continue
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                found.append(inside + entry.name)
            elif entry.is_dir(follow_symlinks=False) and entry.name not in without and depth < DEEPEST:
                waiting.append((inside + entry.name + "/", depth + 1))
    return found


def _empty(top: int) -> None:
    """Delete what is in an open directory: down into the first one that is found, and up again when it is empty."""
    here, way = os.dup(top), list[str]()
    try:
        while True:
            name = _next_directory(here)
            if name is not None:
                below = _opened(name, here)
                os.close(here)
                here = below
                way.append(name)
            elif way:
                above = os.open("..", _DIRECTORY, dir_fd=here)
                os.close(here)
                here = above
                os.rmdir(way.pop(), dir_fd=here)
            else:
                return
    finally:
        os.close(here)


def _next_directory(here: int) -> str | None:
    """Delete files of an open directory until a directory is met; returns its name, None if nothing is left."""
    while True:
        # What is deleted while it is read may hide others: once more from the start, until a reading finds nothing.
        seen, found = list[str](), None
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    found = entry.name
                    break
                seen.append(entry.name)
        for name in seen:
            os.unlink(name, dir_fd=here)
        if found is not None or not seen:
            return found


def _opened(name: str, below: int | None) -> int:
    """Return a directory, opened and made accessible."""
    try:
        here = os.open(name, _DIRECTORY, dir_fd=below)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=below)
        here = os.open(name, _DIRECTORY, dir_fd=below)
    if os.fstat(here).st_mode & 0o700 != 0o700:
        os.fchmod(here, 0o700)
    return here
