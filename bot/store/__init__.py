"""What the server keeps: runs, the model calls of a run, the tests of a pull request, money. SQLite or Postgres.

Nothing here knows of GitHub or of how runs are queued. Every public method is one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.store import database, tables
from bot.store.journal import Journal
from bot.store.memory import Memory
from bot.store.questions import Questions
from bot.store.runs import Runs
from bot.store.spending import Spending

__all__ = ["Store", "open_store"]


@dataclass(frozen=True, slots=True)
class Store:
    """An open database.

    Attributes:
        url: Where it lies, in SQLAlchemy's form; it may hold a password.
    """

    url: str
    engine: sa.Engine
    runs: Runs
    memory: Memory
    questions: Questions
    spending: Spending

    def journal(self, run: str) -> Journal:
        """Return the model calls of a run."""
        return Journal(self.engine, run)

    def ping(self) -> None:
        """Ask the database something. Raises sqlalchemy.exc.SQLAlchemyError if it does not answer."""
        with self.engine.connect() as connection:
            connection.execute(sa.select(sa.literal(1)))

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def open_store(url: str) -> Store:
    """Open a database, and make its tables if they are missing.

    Args:
        url: `sqlite:///PATH`, or `postgresql://USER:PASSWORD@HOST/NAME`.

    Raises:
        UsageError: It is of another kind, or cannot be opened.
    """
    engine = database.connect(url)
    tables.create(engine)
    return Store(url, engine, Runs(engine), Memory(engine), Questions(engine), Spending(engine))
