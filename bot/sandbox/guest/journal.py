"""The journal of a run: one JSON object a line, written as things happen, so that a crash loses nothing before it.

Events, by `event`:
    file           path, statements, branches, top: what of a source file can be covered; `top`: lines in no function
    collecting     path: a test file is being imported
    uncollectable  path, message: it hung or ended the interpreter, and is left out
    collected      ids, errors (message by path)
    begin          id, function, case: a test starts
    test           id, outcome, duration, message, detail, assertion
    cover          context, path, lines, branches: executed in a context: "" imports, "test ID", "fixture KEY"
    uses           id, contexts: fixtures whose lines belong to a test as well
    problem        message: pytest could not start, or failed by itself
    checked        id, passes: whether a test passes with the functions that it executes emptied (`emptiness.py`)
    crash          message: why tests are missing from the journal; the last event
"""

from __future__ import annotations

import json
import os
from typing import Any

_COVERAGE = b'{"event": "cover"'


class Journal:
    """Appends events to a file; every call opens and closes it, so that no test can close or inherit it.

    Functions of the standard library are kept as attributes: tests replace those of `os` (pyfakefs, monkeypatch).
    A process forked by a test writes nothing.

    Args:
        path: Absolute path of the file.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._owner = os.getpid()
        self._open, self._write, self._close, self._getpid = os.open, os.write, os.close, os.getpid
        self._dumps = json.dumps

    @property
    def is_owner(self) -> bool:
        """Whether this process is the one that made the journal, and not a fork of it."""
        return self._getpid() == self._owner

    def write(self, event: str, **fields: Any) -> None:
        """Append one event.

        Args:
            event: Its kind.
            **fields: What JSON can hold.
        """
        if not self.is_owner:
            return
        line = self._dumps({"event": event, **fields}).encode("ascii") + b"\n"
        file = self._open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            while line:
                line = line[self._write(file, line) :]
        finally:
            self._close(file)


class Reader:
    """Reads a journal as it grows.

    Args:
        path: Absolute path of the file, which need not exist yet.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._offset = 0

    def new(self) -> list[dict[str, Any]]:
        """Return the events written since the last call, without those of coverage, which are long."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            return []
        whole = content.rpartition(b"\n")[0]
        self._offset += len(whole) + 1 if whole else 0
        return [json.loads(line) for line in whole.splitlines() if not line.startswith(_COVERAGE)]
