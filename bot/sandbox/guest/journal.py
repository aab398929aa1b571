"""The journal of a run: one JSON object a line, posted as things happen, so that a crash loses nothing before it.

Events, by `event`:
    file           path, statements, branches, top: what of a source file can be covered; `top`: lines in no function
    collecting     path: a test file is being imported
    uncollectable  path, message: it hung or ended the interpreter, and is left out
    collected      ids, errors (message by path)
    begin          id, function, case: a test starts
    test           id, outcome, duration, message, detail, assertion
    cover          context, path, lines, branches: executed in a context: "" imports, "test ID", "fixture KEY"
    uses           id, contexts: fixtures whose lines belong to a test as well
    twin, canary   id, and then outcome: of a test that must fail (`canary.py`); the supervisor's alone
    over           all tests have run
    problem        message: pytest could not start, or failed by itself
    checked        id, passes, whole: whether a test passes with the functions that it executes emptied, and whether
                   nothing was emptied at all (`emptiness.py`)
    forged         message: why nothing of this can be believed
    crash          message: why tests are missing from the journal
    end            the last line of a complete journal
"""

from __future__ import annotations

import json
import os
from typing import Any

from .letterbox import Sender

_LATER = frozenset(["file", "cover", "uses"])
"""Events that may wait for the next one."""
_BEFORE_CODE = frozenset(["collecting", "begin"])
"""Events after which code of the repository runs, which may end the clerk: what was said before is in the file by then."""


class Journal:
    """Posts events to the clerk. A process forked by a test posts nothing.

    Functions of the standard library are kept as attributes: tests replace those of `os` (pyfakefs, monkeypatch).

    Args:
        address: The clerk's.
        waits: Whether to wait after every event until it has been dealt with, and not only before code of the repository.
    """

    def __init__(self, address: str, waits: bool = False) -> None:
        self._post = Sender(address).post
        self._waits = waits
        self._owner = os.getpid()
        self._getpid = os.getpid
        self._dumps = json.dumps
        self._waiting: list[bytes] = []

    @property
    def is_owner(self) -> bool:
        """Whether this process is the one that made the journal, and not a fork of it."""
        return self._getpid() == self._owner

    def write(self, event: str, **fields: Any) -> None:
        """Post one event, and those that have waited for it.

        Args:
            event: Its kind.
            **fields: What JSON can hold.
        """
        if not self.is_owner:
            return
        self._waiting.append(self._dumps({"event": event, **fields}).encode("ascii") + b"\n")
        if event not in _LATER:
            self.flush(self._waits or event in _BEFORE_CODE)

    def flush(self, waits: bool = True) -> None:
        """Post the events that wait.

        Args:
            waits: Whether to wait until they have been dealt with.
        """
        letter = b"".join(self._waiting)
        del self._waiting[:]
        if letter:
            self._post(letter, waits)
