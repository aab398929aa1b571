"""A lock for each worker's name, held as long as its process lives: on a file beside SQLite's, or in Postgres.

By it a second process of the same name is refused, and a dead worker is told from one that is only slow.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from bot.store import database


class Lock(Protocol):
    """A lock that is held, until it is released or its process ends."""

    def is_held(self) -> bool:
        """Return whether it still is: a connection to a database can break."""

    def release(self) -> None:
        """Let others have it."""


class Locks(Protocol):
    """The locks of all workers of one database."""

    def acquire(self, name: str) -> Lock | None:
        """Return the lock of a name; None if another process holds it."""


def locks_of(url: str, engine: sa.Engine) -> Locks:
    """Return the locks that belong to a database."""
    if database.is_sqlite(url):
        return FileLocks(database.file_of(url))
    return AdvisoryLocks(engine)


class FileLocks:
    """Locks on files, which the system releases when their process ends."""

    def __init__(self, beside: Path) -> None:
        self._beside = beside

    def acquire(self, name: str) -> Lock | None:
        """Return the lock of a name; None if another process holds it."""
        safe = re.sub(r"[^\w.-]", "_", name)[:80]
        path = self._beside.with_name(f"{self._beside.name}.worker-{safe}.lock")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return _FileLock(descriptor)


class _FileLock:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def is_held(self) -> bool:
        return self._descriptor >= 0

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class AdvisoryLocks:
    """Session locks of Postgres, which it releases when their connection ends."""

    def __init__(self, engine: sa.Engine) -> None:
        # A connection of its own for each lock: one that goes back to a pool would keep the lock.
        self._engine = sa.create_engine(
            engine.url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT", connect_args=_ALIVE
        )

    def acquire(self, name: str) -> Lock | None:
        """Return the lock of a name; None if another process holds it."""
        number = int.from_bytes(hashlib.sha256(f"testforge worker {name}".encode()).digest()[:8], signed=True)
        connection = self._engine.connect()
        try:
            if connection.execute(sa.select(sa.func.pg_try_advisory_lock(number))).scalar():
                return _AdvisoryLock(connection)
        except BaseException:
            connection.close()
            raise
        connection.close()
        return None


_ALIVE = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
"""A machine that is gone loses its locks within half a minute, not when TCP's own two hours are over."""


class _AdvisoryLock:
    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def is_held(self) -> bool:
        try:
            self._connection.execute(sa.select(sa.literal(1)))
        except SQLAlchemyError:
            return False
        return True

    def release(self) -> None:
        self._connection.close()
