"""The process sandbox: a private copy of a tree, and commands run in it on this machine.

Where bubblewrap works, commands see the system read-only, their copy, and the interpreter, and nothing else of the
host; elsewhere they are plain processes with a clean environment. In both, limits hold and nothing stays behind.
"""

from __future__ import annotations

import os
import posixpath
import shlex
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from bot.errors import SandboxError
from bot.sandbox import Completed, Interpreter, Limits, bubblewrap, clearing, leftovers
from bot.sandbox.commands import Opened, execute
from bot.sandbox.copying import copy_missing, copy_tree, delete_tree
from bot.sandbox.inside import Roots, read_file, remove_entry, write_file
from bot.sandbox.interpreters import bin_directory, needed_directories
from bot.sandbox.restoring import Restorer
from bot.sandbox.surroundings import NOT_LISTED, variables

PREFIX = "testforge-box-"
INSIDE = "/testforge"
GUEST = Path(__file__).with_name("guest")
STARTUP = Path(__file__).with_name("startup")
DEFAULT = Limits()


class ProcessSandboxes:
    """Opens process sandboxes.

    Args:
        walls: Whether to use bubblewrap; None (the default) uses it where it works.
    """

    kind = "process"

    def __init__(self, walls: bool | None = None) -> None:
        self.walls = bubblewrap.works() if walls is None else walls

    def open(
        self,
        tree: Path,
        interpreter: Interpreter,
        limits: Limits = DEFAULT,
        *,
        network: bool = False,
        writable: Sequence[Path] = (),
    ) -> ProcessSandbox:
        """Return a sandbox with a fresh copy of `tree`.

        Args:
            network: Whether commands may use the network, as an installation must.
            writable: Host directories that commands may write to, under their own paths.

        Raises:
            SandboxError: The tree cannot be copied.
        """
        leftovers.delete_abandoned(Path(tempfile.gettempdir()), PREFIX)
        box = ProcessSandbox(interpreter, limits, walls=self.walls, network=network, writable=writable)
        try:
            copy_tree(tree, box.host_tree)
            additions = [Path(interpreter.additions)] if interpreter.additions else []
            for place in additions:
                copy_missing(place, box.host_tree)
            box.restorer.copied_from(tree, *additions)
        except BaseException:
            box.close()
            raise
        return box


class ProcessSandbox:
    """One copy of a tree; see `bot.sandbox.Sandbox`. It is empty until something is copied into it.

    Attributes:
        walls: Whether commands run within bubblewrap.
        host_tree, host_scratch: Where the tree and the scratch directory lie on this host.
        restorer: Puts back what commands have deleted of the tree.
    """

    kind = "process"

    def __init__(
        self,
        interpreter: Interpreter,
        limits: Limits,
        *,
        walls: bool,
        network: bool = False,
        writable: Sequence[Path] = (),
    ) -> None:
        self.interpreter = interpreter
        self._limits = limits
        self.walls = walls
        self._network = network
        self._writable = tuple(writable)
        # The finalizer exists before the directory does: an interrupt between the two leaves nothing behind.
        self._home = Path(_temporary()).resolve() / f"{PREFIX}{os.getpid()}-{os.urandom(6).hex()}"
        locks: list[int] = []
        self._finalizer = weakref.finalize(self, _discard, self._home, locks, os.getpid())
        try:
            self._home.mkdir(mode=0o700)
            locks.append(leftovers.hold(self._home))
            for part in ("tree", "scratch", "tmp", "shm", "bin", "etc"):
                (self._home / part).mkdir(mode=0o700)
            self.host_tree, self.host_scratch = self._home / "tree", self._home / "scratch"
            self.restorer = Restorer(self.host_tree)
            self._opened = Opened.now(self._home, *self._writable)
            bubblewrap.write_accounts(self._home / "etc")
            own_bin = bin_directory(interpreter.command)
            if own_bin is None:
                _stand_in(self._home / "bin", interpreter.command)
        except OSError as problem:
            self.close()
            raise SandboxError(
                f"No sandbox could be made in {tempfile.gettempdir()}: {problem.strerror}. "
                "Free some space, or set TMPDIR to a directory that can be written."
            ) from problem
        except BaseException:
            self.close()
            raise
        base = INSIDE if walls else str(self._home)
        self.tree, self.scratch = f"{base}/tree", f"{base}/scratch"
        self.guest = f"{INSIDE}/guest" if walls else str(GUEST)
        self._bin = own_bin or f"{base}/bin"
        self._startup = f"{INSIDE}/startup" if walls else str(STARTUP)
        self._roots = Roots({self.tree: str(self.host_tree), self.scratch: str(self.host_scratch)})

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        """Run a command in the tree with a clean environment; all its processes are gone when this returns."""
        if not self._finalizer.alive:
            raise SandboxError("The sandbox is closed.")
        self._restore()
        environment = self._environment() | dict(env or {})
        # `env` says the same in both modes when there is no such command, and ends with 127.
        words = ["/usr/bin/env", "--", *command]
        if self.walls:
            words = bubblewrap.wrap(words, self._view(), self.tree)
        return execute(
            words,
            cwd=self._home if self.walls else self.host_tree,
            env=environment,
            limits=self._limits,
            timeout_s=timeout_s,
            stdin=stdin,
            opened=self._opened,
            mark="" if self.walls else f"HOME={self.scratch}/home\0",
        )

    def read(self, path: str, *, limit: int = 64 * 1024**2) -> bytes:
        """Return a file's content. Raises FileNotFoundError, or SandboxError if larger than `limit` bytes."""
        with self._roots.locate(self._absolute(path)) as place:
            return read_file(place, path, limit)

    def write(self, path: str, content: bytes) -> None:
        """Create or overwrite a file, making its directories."""
        self._restore()
        with self._roots.locate(self._absolute(path), make=True) as place:
            write_file(place, path, content)
        inside = self._in_tree(path)
        if inside is not None:
            self.restorer.written(inside, content)

    def remove(self, path: str) -> None:
        """Delete a file or a directory; nothing happens if there is none."""
        inside = self._in_tree(path)
        if inside is not None:
            self.restorer.removed(inside)
        try:
            with self._roots.locate(self._absolute(path), follow=False) as place:
                remove_entry(place)
        except FileNotFoundError:
            return

    def files(self) -> tuple[str, ...]:
        """Return the paths of the tree's files, sorted, without links, caches and version control."""
        self._restore()
        return tuple(sorted(clearing.files(str(self.host_tree), NOT_LISTED)))

    def close(self) -> None:
        """Delete the copy; closing twice is harmless."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _absolute(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.tree}/{path}"

    def _in_tree(self, path: str) -> str | None:
        """Return a path relative to the tree; None if it is elsewhere."""
        inside = posixpath.relpath(self._absolute(path), self.tree)
        return None if inside.startswith("..") else inside

    def _restore(self) -> None:
        """Make again what every command may count on, should one have deleted it: directories, the tree's files."""
        scratch = self.host_scratch
        for path in (
            self.host_tree,
            scratch,
            scratch / "home",
            scratch / "tmp",
            self._home / "tmp",
            self._home / "shm",
        ):
            if path.is_symlink() or not path.is_dir():
                path.unlink(missing_ok=True)
                path.mkdir(mode=0o700)
        try:
            self.restorer.restore()
        except OSError as problem:
            raise SandboxError(
                f"Files that the code under test deleted could not be put back: {problem.strerror}."
            ) from problem

    def _environment(self) -> dict[str, str]:
        extra = self.interpreter.extra_path
        values = variables(
            self.tree,
            self.scratch,
            roots=self.interpreter.import_roots,
            programs=[self._bin],
            startup=[self._startup] if extra else [],
        )
        if extra:
            values["TESTFORGE_EXTRA_PATH"] = os.pathsep.join(extra)
        return values

    def _view(self) -> bubblewrap.Walls:
        """Return what a command sees of the host."""
        shown = {*map(str, self.interpreter.mounts), *needed_directories(self.interpreter.command)}
        shown.update(self.interpreter.extra_path)
        return bubblewrap.Walls(
            readable=(
                *((path, path) for path in sorted(shown)),
                (str(GUEST), self.guest),
                (str(STARTUP), self._startup),
                (str(self._home / "bin"), f"{INSIDE}/bin"),
            ),
            writable=(
                (str(self.host_tree), self.tree),
                (str(self.host_scratch), self.scratch),
                (str(self._home / "tmp"), "/tmp"),
                (str(self._home / "shm"), "/dev/shm"),
                *((str(path), str(path)) for path in self._writable),
            ),
            etc=str(self._home / "etc"),
            network=self._network,
        )


def _temporary() -> str:
    """Return the directory for temporary files. Raises SandboxError if there is none that can be written."""
    try:
        return tempfile.gettempdir()
    except OSError as problem:
        raise SandboxError(
            f"There is no directory for temporary files: {problem.strerror}. Set TMPDIR to one that can be written."
        ) from problem


def _stand_in(directory: Path, command: str) -> None:
    """Make `python` and `python3` in a directory run an interpreter, under its own name as it would start itself."""
    for name in ("python", "python3"):
        script = directory / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(command)} "$@"\n')
        script.chmod(0o700)


def _discard(home: Path, locks: list[int], owner: int) -> None:
    """Delete a sandbox's directory, in the process that made it (a forked child ends with the same finalizers)."""
    if os.getpid() != owner:
        return
    try:
        delete_tree(home)
    except KeyboardInterrupt:
        delete_tree(home)
        raise
    finally:
        for lock in locks:
            os.close(lock)
