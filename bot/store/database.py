"""The connection to the database: SQLite on one machine, Postgres for many."""

from __future__ import annotations

import re
import sqlite3
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, DatabaseError

from bot.errors import UsageError
from bot.store.turns import order_writers

BUSY_MS = 30_000
"""How long a writer of SQLite waits for another one."""
UNIXEPOCH_SINCE = (3, 42, 0)
"""The first SQLite whose `unixepoch` knows `subsec`, which DBOS asks for."""
CONNECTIONS = 10


def connect(url: str) -> sa.Engine:
    """Return an engine for a database that answers.

    Raises:
        UsageError: The URL is of no kind that is supported, or nothing answers there.
    """
    engine = sa.create_engine(_dialect(url), **_pool(url))
    if is_sqlite(url):
        event.listen(engine, "connect", prepare_sqlite)
        order_writers(engine, BUSY_MS / 1000)
    try:
        with engine.connect() as connection:
            connection.execute(sa.select(sa.literal(1)))
    except DatabaseError as error:
        engine.dispose()
        raise UsageError(
            f"The database {shown(url)} cannot be opened. Set TESTFORGE_DATABASE_URL to one that can.",
            str(error.orig).strip(),
        ) from None
    return engine


def is_sqlite(url: str) -> bool:
    """Whether a URL names a SQLite file."""
    return url.startswith("sqlite:///")


def shown(url: str) -> str:
    """Return a URL without its password, for a person to read."""
    try:
        return sa.make_url(url).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):  # a port that is no number
        return re.sub(r"//.*@", "//***@", url)


def file_of(url: str) -> Path:
    """Return the file of a SQLite database."""
    return Path(sa.make_url(url).database or "")


def prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Make a new connection safe for several processes: writers wait for each other and readers for nobody."""
    connection.isolation_level = "IMMEDIATE"
    connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA journal_mode=WAL")
    # An accepted delivery must also outlive the machine's power supply, not only this process.
    connection.execute("PRAGMA synchronous=FULL")
    if sqlite3.sqlite_version_info < UNIXEPOCH_SINCE:
        connection.create_function("unixepoch", -1, _unixepoch)


def _unixepoch(*arguments: Any) -> float | int:
    """Stand in for SQLite's function of this name, which older versions have without `subsec`."""
    return time.time() if "subsec" in arguments or "subsecond" in arguments else int(time.time())


def _dialect(url: str) -> sa.URL:
    """Return the URL with the driver that is installed."""
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError):
        raise UsageError(
            f"TESTFORGE_DATABASE_URL is no URL: {shown(url)!r}. Write sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME."
        ) from None
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername == "sqlite" and not parsed.host and parsed.database not in (None, "", ":memory:"):
        return parsed
    raise UsageError(
        f"The database {shown(url)} is of a kind that cannot be used. Write sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME."
    )


def _pool(url: str) -> dict[str, Any]:
    options: dict[str, Any] = {"pool_size": CONNECTIONS, "max_overflow": CONNECTIONS}
    if is_sqlite(url):
        return options
    return options | {"pool_pre_ping": True, "connect_args": {"connect_timeout": 10}}
