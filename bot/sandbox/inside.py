"""Reaching a file of a sandbox from outside without being led elsewhere by a link that code inside has planted.

Each part of a path is opened relative to the directory before it, never following a link by itself, so that there is
no moment between looking at a path and using it.
"""

# pathlib cannot open relative to an open directory.
# ruff: noqa: PTH208

from __future__ import annotations

import contextlib
import os
import posixpath
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.errors import SandboxError
from bot.sandbox import clearing

MOST_LINKS = 40
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """An open directory of the sandbox and a name in it; an empty name is the directory itself."""

    directory: int
    name: str


@dataclass(frozen=True)
class Roots:
    """The directories of a sandbox that may be reached: by their path inside, their path on this host."""

    hosts: Mapping[str, str] = field(default_factory=dict)

    @contextlib.contextmanager
    def locate(self, path: str, *, make: bool = False, follow: bool = True) -> Iterator[Place]:
        """Give the directory that holds a path's last part, links resolved.

        Args:
            path: Absolute, as code inside would write it.
            make: Make missing directories on the way.
            follow: Follow the last part too if it is a link.

        Raises:
            SandboxError: The path leads out of the sandbox, or cannot be used as it is meant to be.
            FileNotFoundError: Something on the way is missing.
        """
        walk = _Walk(self, path)
        try:
            yield walk.go(path, make=make, follow=follow)
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            raise SandboxError(f"{path!r} cannot be used in the sandbox: {reason}.") from problem
        finally:
            walk.close()


class _Walk:
    """One way through the sandbox: the directories opened so far, and how often a link was followed."""

    def __init__(self, roots: Roots, asked: str) -> None:
        self._roots = roots
        self._asked = asked
        self._opened: list[int] = []
        self._root = ""
        self._links = 0

    def close(self) -> None:
        while self._opened:
            os.close(self._opened.pop())

    def go(self, path: str, *, make: bool, follow: bool) -> Place:
        parts = self._enter(path)
        while parts:
            part = parts.pop(0)
            if part in ("", "."):
                continue
            if part == "..":
                if len(self._opened) > 1:
                    os.close(self._opened.pop())
                else:
                    parts = self._enter(posixpath.join(posixpath.dirname(self._root), *parts))
                continue
            leads_to = self._link(part) if parts or follow else None
            if leads_to is not None:
                if posixpath.isabs(leads_to):
                    parts = self._enter(posixpath.join(leads_to, *parts))
                else:
                    parts = [*leads_to.split("/"), *parts]
            elif any(rest not in ("", ".") for rest in parts):
                self._descend(part, make=make)
            else:
                return Place(self._opened[-1], part)
        return Place(self._opened[-1], "")

    def _enter(self, path: str) -> list[str]:
        """Start again at the root that an absolute path lies in; returns the parts below it, `..` still among them."""
        for root in sorted(self._roots.hosts, key=len, reverse=True):
            wanted = [part for part in root.split("/") if part]
            parts = [part for part in path.split("/") if part not in ("", ".")]
            if parts[: len(wanted)] == wanted:
                self.close()
                self._root = root
                self._opened.append(os.open(self._roots.hosts[root], _DIRECTORY))
                return parts[len(wanted) :]
        raise SandboxError(f"The path {self._asked!r} leads out of the sandbox.")

    def _link(self, name: str) -> str | None:
        """Return where a link leads, None if the name is no link or does not exist."""
        try:
            leads_to = os.readlink(name, dir_fd=self._opened[-1])
        except OSError:
            return None
        self._links += 1
        if self._links > MOST_LINKS:
            raise SandboxError(f"The path {self._asked!r} goes through too many links.")
        return leads_to

    def _descend(self, name: str, *, make: bool) -> None:
        here = self._opened[-1]
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=here)
        self._opened.append(os.open(name, _DIRECTORY, dir_fd=here))


def read_file(place: Place, path: str, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes."""
    fd = os.open(
        place.name or ".", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place.directory
    )
    with os.fdopen(fd, "rb") as file:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            raise SandboxError(f"{path!r} in the sandbox is not a regular file.")
        content = file.read(limit + 1)
    if len(content) > limit:
        raise SandboxError(f"{path!r} in the sandbox is larger than {limit} bytes.")
    return content


def write_file(place: Place, path: str, content: bytes) -> None:
    """Create or replace a regular file; a read-only file is replaced too."""
    if not place.name:
        raise SandboxError(f"{path!r} in the sandbox is a directory.")
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(place.name, flags, 0o644, dir_fd=place.directory)
    except PermissionError:
        os.unlink(place.name, dir_fd=place.directory)
        fd = os.open(place.name, flags | os.O_EXCL, 0o644, dir_fd=place.directory)
    with os.fdopen(fd, "wb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise SandboxError(f"{path!r} in the sandbox is not a regular file.")
        os.ftruncate(fd, 0)
        file.write(content)


def remove_entry(place: Place) -> None:
    """Delete a file, a link or a whole directory; nothing happens if there is none."""
    for name in [place.name] if place.name else os.listdir(place.directory):
        clearing.delete(name, place.directory)
