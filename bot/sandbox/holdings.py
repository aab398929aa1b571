"""The files of a container, as its warden writes, reads and lists them; loaded there without the rest of testforge."""

# pathlib, shutil and contextlib would cost more to import than all the rest (pyproject lets ruff allow it).

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO

from bot.sandbox import clearing

Request = dict[str, Any]
Reply = tuple[dict[str, Any], bytes]

MOST_FILES = 200_000


class Refused(Exception):  # noqa: N818
    """A request that cannot be met; its text is for a person."""


class Holdings:
    """Meets requests about the directories `tree` and `scratch` below `home`.

    Args:
        home: The directory that may be written to.
        source: Where the content of a tree comes from.
    """

    def __init__(self, home: str, source: BinaryIO) -> None:
        self.tree, self.scratch = home + "/tree", home + "/scratch"
        self.source = source
        self.given: dict[str, None] = {}

    def do_fill(self, request: Request, payload: bytes) -> Reply:
        """Write a tree's files, which follow the request, then those of `additions` that it does not have."""
        left = sum(more for _, kind, _, _, more in request["entries"] if kind == "file")
        try:
            self.restore()
            for name, kind, mode, changed, more in request["entries"]:
                path = self.tree + "/" + name
                self.given[name] = None
                if kind == "directory":
                    os.mkdir(path)
                elif kind == "link":
                    os.symlink(more, path)
                else:
                    with open(path, "xb") as file:
                        for size in pieces(more):
                            left -= size
                            file.write(self.source.read(size))
                    os.chmod(path, mode)
                    os.utime(path, ns=(changed, changed))
        except OSError:
            for size in pieces(left):
                self.source.read(size)
            raise
        if request["additions"]:
            self.add(request["additions"], self.tree)
        return {}, b""

    def add(self, source: str, target: str) -> None:
        """Copy the files of one directory that another one does not have."""
        for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
            to = target + "/" + entry.name
            if entry.is_dir(follow_symlinks=False):
                if not os.path.lexists(to):
                    os.mkdir(to)
                if not os.path.islink(to):
                    self.add(entry.path, to)
            elif entry.is_file(follow_symlinks=False) and not os.path.lexists(to):
                about = entry.stat()
                with open(entry.path, "rb") as file, open(to, "wb") as copy:
                    copy.write(file.read())
                os.chmod(to, about.st_mode & 0o777 | 0o600)
                os.utime(to, ns=(about.st_atime_ns, about.st_mtime_ns))

    def do_read(self, request: Request, payload: bytes) -> Reply:
        """Return the content of a regular file."""
        path = self.located(request["path"])
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(file, "rb") as stream:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise Refused("it is not a regular file")
            content = stream.read(request["limit"] + 1)
        if len(content) > request["limit"]:
            raise Refused(f"it is larger than {request['limit']} bytes")
        return {}, content

    def do_write(self, request: Request, payload: bytes) -> Reply:
        """Create or overwrite a regular file; a read-only one is replaced."""
        self.restore()
        path = self.located(request["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if request["path"].startswith(self.tree + "/"):
            self.given[request["path"][len(self.tree) + 1 :]] = None
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            file = os.open(path, flags, 0o644)
        except PermissionError:
            os.unlink(path)
            file = os.open(path, flags | os.O_EXCL, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise Refused("it is not a regular file")
            os.ftruncate(file, 0)
            write_all(file, payload)
        finally:
            os.close(file)
        return {}, b""

    def do_remove(self, request: Request, payload: bytes) -> Reply:
        """Delete a file or a directory."""
        name = request["path"].rstrip("/")
        for given in [one for one in self.given if (self.tree + "/" + one + "/").startswith(name + "/")]:
            del self.given[given]
        if name in (self.tree, self.scratch):
            clearing.delete(name)
            self.restore()
        else:
            clearing.delete(os.path.join(self.located(os.path.dirname(name)), os.path.basename(name)))
        return {}, b""

    def do_files(self, request: Request, payload: bytes) -> Reply:
        """Return the paths of the regular files of the tree."""
        self.restore()
        found = clearing.files(self.tree, frozenset(request["without"]))
        if len(found) > MOST_FILES:
            raise Refused(f"it holds more than {MOST_FILES} files")
        return {}, json.dumps(sorted(found)).encode("ascii")

    def located(self, path: str) -> str:
        """Return where a path leads, links followed; nothing runs now that could change it meanwhile."""
        real = os.path.realpath(path)
        if not any(real == root or real.startswith(root + "/") for root in (self.tree, self.scratch)):
            raise Refused("it leads out of the sandbox")
        return real

    def lost(self) -> list[str]:
        """Return what was put into the tree from outside and is not there any more: code has deleted it."""
        return [name for name in self.given if not os.path.lexists(self.tree + "/" + name)]

    def restore(self) -> None:
        """Make again the directories that every command may count on, should one have deleted them."""
        for path in (self.tree, self.scratch, self.scratch + "/home", self.scratch + "/tmp"):
            if os.path.islink(path) or not os.path.isdir(path):
                if os.path.lexists(path):
                    os.unlink(path)
                os.mkdir(path, 0o700)


def pieces(size: int) -> Iterator[int]:
    """Divide so many bytes into portions that need little memory."""
    while size:
        portion = min(size, 1 << 20)
        yield portion
        size -= portion


def write_all(file: int, data: bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
