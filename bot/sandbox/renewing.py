"""A sandbox in whose place a fresh one comes when its container dies: killed for want of memory, removed, or silent."""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Self, TypeVar

from bot.errors import LostError
from bot.sandbox import Completed, Sandbox

SPARE = 2
"""How many containers may die: what kills one more often is most likely the code in it."""

T = TypeVar("T")


class Renewing:
    """A sandbox that survives its container; see `bot.sandbox.Sandbox`.

    What was written through it is written into the fresh one, and what was being done is done again; what commands
    left in files is lost.

    Args:
        opened: Opens a sandbox; each is like the others.
        note: Told of every container that died.
    """

    def __init__(self, opened: Callable[[], Sandbox], note: Callable[[str], None]) -> None:
        self._opened = opened
        self._note = note
        self._box = opened()
        self._spare = SPARE
        self._given_up: LostError | None = None
        self._written: dict[str, bytes] = {}
        self._lock = threading.Lock()
        self.kind, self.interpreter = self._box.kind, self._box.interpreter
        self.tree, self.scratch, self.guest = self._box.tree, self._box.scratch, self._box.guest

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        """Run a command in the tree. Raises LostError once too many containers died."""
        return self._with(lambda box: box.run(command, timeout_s=timeout_s, env=env, stdin=stdin))

    def read(self, path: str, *, limit: int = 64 * 1024**2) -> bytes:
        """Return a file's content. Raises FileNotFoundError, or SandboxError if larger than `limit` bytes."""
        return self._with(lambda box: box.read(path, limit=limit))

    def write(self, path: str, content: bytes) -> None:
        """Create or overwrite a file, making its directories."""
        with self._lock:
            self._written[self._whole(path)] = content
        self._with(lambda box: box.write(path, content))

    def remove(self, path: str) -> None:
        """Delete a file or a directory; nothing happens if there is none."""
        whole = self._whole(path)
        with self._lock:
            for name in [name for name in self._written if f"{name}/".startswith(f"{whole}/")]:
                del self._written[name]
        self._with(lambda box: box.remove(path))

    def files(self) -> tuple[str, ...]:
        """Return the paths of the tree's files, sorted, without links, caches and version control."""
        return self._with(lambda box: box.files())

    def close(self) -> None:
        """Kill what runs and delete the copy; closing twice is harmless."""
        with self._lock:
            self._spare = 0
        self._box.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _whole(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self.tree, path))

    def _with(self, use: Callable[[Sandbox], T]) -> T:
        """Use the sandbox, or the one that comes in its place."""
        while self._given_up is None:
            box = self._box
            try:
                return use(box)
            except LostError as error:
                self._replace(box, error)
        raise self._given_up

    def _replace(self, lost: Sandbox, error: LostError) -> None:
        """Put a fresh sandbox with all that was written in the place of a lost one, unless another thread has."""
        with self._lock:
            if self._box is not lost:
                return
            lost.close()
            while self._spare:
                self._spare -= 1
                self._note("the container died; a fresh one goes on")
                fresh = self._opened()
                try:
                    for path, content in self._written.items():
                        fresh.write(path, content)
                except LostError as another:
                    fresh.close()
                    error = another
                except BaseException:
                    fresh.close()
                    raise
                else:
                    self._box = fresh
                    return
            self._given_up = error
