"""The files that a command was asked to write, checked before the work and written after it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from bot.errors import TestforgeError, UsageError

_STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the report goes as JSON and the tests as a patch; None: nowhere, `-`: to stdout."""

    json: str | None = None
    patch: str | None = None

    @property
    def takes_stdout(self) -> bool:
        """Whether stdout is taken, so that the report for a person has to go elsewhere."""
        return _STDOUT in (self.json, self.patch)

    @property
    def patch_path(self) -> str:
        """The file that the patch is written to; empty if there is none."""
        return "" if self.patch in (None, _STDOUT) else str(self.patch)

    def check(self) -> None:
        """Raise UsageError if one of them cannot be written."""
        given = [path for path in (self.json, self.patch) if path is not None]
        if len(given) != len({os.path.realpath(path) if path != _STDOUT else path for path in given}):
            raise UsageError("--json and --patch name the same file. Name two.")
        for path in given:
            if path != _STDOUT:
                _check(Path(path))

    def write_json(self, content: bytes) -> None:
        """Write the JSON report, if one was asked for. Raises TestforgeError if that fails."""
        _write(self.json, content)

    def write_patch(self, patch: str) -> None:
        """Write the patch, if one was asked for; one that proposes nothing is empty. Raises TestforgeError if that fails."""
        _write(self.patch, patch.encode("utf-8", "surrogateescape"))


def _check(path: Path) -> None:
    """Raise UsageError if a file cannot be created or overwritten."""
    if path.is_dir():
        raise UsageError(f"{str(path)!r} is a directory. Name a file in it.")
    if not path.parent.is_dir():
        raise UsageError(
            f"There is no directory {str(path.parent)!r} to write {path.name!r} to. Make it first."
        )
    present = os.path.lexists(path)
    if (
        present and not path.is_file()
    ):  # a pipe or a device: to open and close it now would end it for its reader
        return
    try:
        path.open("ab").close()
        if not present:
            path.unlink()
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror or error}.") from None


def _write(path: str | None, content: bytes) -> None:
    """Write a file, or stdout."""
    if path is None:
        return
    try:
        if path == _STDOUT:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            Path(path).write_bytes(content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise TestforgeError(f"{path!r} could not be written: {error.strerror or error}.") from None
