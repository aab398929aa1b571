"""A tree made ready to be sent into a container: what there is, and the content of its files one after the other."""

from __future__ import annotations

import copy
import os
import stat
from collections.abc import Container, Iterator
from pathlib import Path

from bot.errors import SandboxError
from bot.sandbox.copying import NOT_COPIED

CHUNK = 1 << 20
Entry = tuple[str, str, int, int, int | str]
"""Path, kind (`directory`, `link`, `file`), permissions, time of change in ns, and size in bytes or where a link leads."""


class Packed:
    """The entries of a tree, by the rules of `copying.copy_tree`: only links that stay inside, nothing but files else.

    Args:
        tree: A directory of the host, which is only read.

    Raises:
        SandboxError: Something in it cannot be read.
    """

    def __init__(self, tree: Path) -> None:
        self._root = tree.resolve()
        try:
            self.entries = list(self._walk(self._root, ""))
        except OSError as problem:
            raise _unreadable(problem) from problem

    def only(self, names: Container[str]) -> Packed:
        """Return the same tree with some of its entries."""
        part = copy.copy(self)
        part.entries = [entry for entry in self.entries if entry[0] in names]
        return part

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(entry[4] for entry in self.entries if isinstance(entry[4], int))

    def content(self) -> Iterator[bytes]:
        """Yield the content of the files in the entries' order, each exactly as long as its entry says.

        Raises:
            SandboxError: A file has become shorter meanwhile, or cannot be read.
        """
        for name, kind, _, _, size in self.entries:
            if kind == "file":
                yield from _read(self._root / name, int(size))

    def _walk(self, directory: Path, prefix: str) -> Iterator[Entry]:
        with os.scandir(directory) as found:
            for entry in sorted(found, key=lambda entry: entry.name):
                name, about = prefix + entry.name, entry.stat(follow_symlinks=False)
                if entry.is_symlink():
                    leads_to = str(Path(entry.path).readlink())
                    inside = Path(os.path.realpath(entry.path)).is_relative_to(self._root)
                    if inside and not leads_to.startswith("/"):
                        yield name, "link", 0, 0, leads_to
                elif entry.is_dir():
                    if entry.name not in NOT_COPIED:
                        yield name, "directory", 0, 0, 0
                        yield from self._walk(Path(entry.path), f"{name}/")
                elif entry.is_file():
                    mode = stat.S_IMODE(about.st_mode) & 0o777 | stat.S_IRUSR | stat.S_IWUSR
                    yield name, "file", mode, about.st_mtime_ns, about.st_size


def _read(path: Path, size: int) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while size:
                data = file.read(min(size, CHUNK))
                if not data:
                    raise SandboxError(
                        f"{path} changed while it was copied into a sandbox; run testforge again."
                    )
                size -= len(data)
                yield data
    except OSError as problem:
        raise _unreadable(problem) from problem


def _unreadable(problem: OSError) -> SandboxError:
    return SandboxError(
        f"The repository could not be copied into a sandbox: {problem.strerror}: {problem.filename}."
    )
