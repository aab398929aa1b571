"""Writers of SQLite take turns within a process.

SQLite lets one write at a time and lets the others look again now and then, so that one of many threads can be passed
over for seconds, while each commit waits for the disk. Here who came first writes first. Other processes are still
waited for in SQLite's own way.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPICursor

_READS = ("SELECT", "PRAGMA", "EXPLAIN")
_HELD = "testforge-turn"


class Turns:
    """A lock that is given to those who wait for it in the order in which they came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Event] = deque()

    def take(self, timeout_s: float) -> bool:
        """Wait for one's turn; return False if it does not come within so many seconds."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(timeout_s):
            return True
        with self._lock:
            if mine.is_set():
                return True
            self._waiting.remove(mine)
            return False

    def give_back(self) -> None:
        """Let the next one have it."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


def order_writers(engine: sa.Engine, patience_s: float) -> None:
    """Let all transactions of an engine that write do so one after the other.

    A turn begins with the first statement that may write, and ends when the connection goes back to the pool.

    Args:
        patience_s: Who waited so long goes on without a turn, and leaves it to SQLite.
    """
    turns = Turns()

    @event.listens_for(engine, "before_cursor_execute")
    def _begin(connection: sa.Connection, _cursor: DBAPICursor, statement: str, *_more: Any) -> None:
        if connection.info.get(_HELD) or statement.lstrip()[:8].upper().startswith(_READS):
            return
        if turns.take(patience_s):
            connection.info[_HELD] = True

    @event.listens_for(engine, "checkin")
    def _end(_connection: Any, record: Any) -> None:
        if record.info.pop(_HELD, False):
            turns.give_back()
