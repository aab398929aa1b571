"""Where code of a repository runs: the protocol that the process sandbox and the Docker sandbox share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that runs a repository's code, as a sandbox sees it.

    Attributes:
        command: Path of the interpreter's executable.
        version: Such as `3.11`.
        import_roots: Directories of the tree to put on `sys.path`, relative to its root (`src`, `.`).
        extra_path: Host directories put at the end of `sys.path` (pytest and coverage, where the repository lacks them).
        mounts: Host directories that must be readable inside besides the system's (a virtual environment, its base).
        additions: Host directory with files that the build made (compiled modules, a version file); each is put into the
            copy of the tree at its own path, where the tree has none.
        image: For the Docker sandbox, the image; None elsewhere.
        key: Hash of what decided it; equal keys mean equal dependencies.
        pytest_options: What the repository's configuration adds to every run of pytest.
    """

    command: str
    version: str
    import_roots: tuple[str, ...] = (".",)
    extra_path: tuple[str, ...] = ()
    mounts: tuple[Path, ...] = ()
    image: str | None = None
    key: str = ""
    additions: str = ""
    pytest_options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """What a command may use: bytes for memory, files and output; a number of processes.

    `disk` is what all files of a sandbox may take together, in bytes.
    """

    memory: int = 4 * 1024**3
    file_size: int = 512 * 1024**2
    processes: int = 512
    output: int = 4 * 1024**2
    disk: int = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class Completed:
    """A finished command. `exit_code` is None if it was killed for its time limit; output is decoded, cut in the middle."""

    exit_code: int | None
    stdout: str
    stderr: str
    duration_s: float
    timed_out: bool = False


class Sandbox(Protocol):
    """A private copy of a tree and a place to run commands in, until closed; use it as a context manager.

    Paths given to `read`, `write` and the like are relative to the tree, or absolute below `tree` or `scratch`;
    anything that resolves outside them, links included, raises `SandboxError`.
    """

    kind: str
    interpreter: Interpreter
    tree: str
    """Absolute path of the copy, as commands inside see it; the working directory of commands."""
    scratch: str
    """Absolute path of an empty writable directory outside the tree, as commands inside see it."""
    guest: str
    """Absolute path, read-only, of the package `bot/sandbox/guest`, as commands inside see it."""

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        """Run a command in the tree with a clean environment; all its processes are gone when this returns."""
        ...

    def read(self, path: str, *, limit: int = 64 * 1024**2) -> bytes:
        """Return a file's content. Raises FileNotFoundError, or SandboxError if larger than `limit` bytes."""
        ...

    def write(self, path: str, content: bytes) -> None:
        """Create or overwrite a file, making its directories."""
        ...

    def remove(self, path: str) -> None:
        """Delete a file or a directory; nothing happens if there is none."""
        ...

    def files(self) -> tuple[str, ...]:
        """Return the paths of the tree's files, sorted, without links, caches and version control."""
        ...

    def close(self) -> None:
        """Kill what runs and delete the copy; closing twice is harmless."""
        ...

    def __enter__(self) -> Sandbox: ...

    def __exit__(self, *exception: object) -> None: ...


class Sandboxes(Protocol):
    """Opens sandboxes of one kind; one run of the pipeline uses one of these."""

    kind: str

    def open(self, tree: Path, interpreter: Interpreter, limits: Limits = Limits()) -> Sandbox:
        """Return a sandbox with a fresh copy of `tree`, a directory of the host that is only read."""
        ...
