"""What runs have cost, by repository and month."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa

from bot.store.tables import spending


class Spending:
    """The money of all repositories."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def note(self, run: str, repository: str, usd: float, *, month: str | None = None) -> None:
        """Write down what a run has cost; a second time replaces the first.

        Args:
            usd: USD, the run's whole cost until now.
            month: Such as `2026-11`; None is this one.
        """
        row = {"run": run, "repository": repository, "month": month or this_month(), "usd": usd}
        with self._engine.begin() as connection:
            changed = connection.execute(sa.update(spending).where(spending.c.run == run).values(usd=usd))
            if not changed.rowcount:
                connection.execute(sa.insert(spending).values(**row))

    def spent(self, repository: str, *, month: str | None = None) -> float:
        """Return what a repository's runs of a month have cost, in USD."""
        query = sa.select(sa.func.coalesce(sa.func.sum(spending.c.usd), 0.0)).where(
            spending.c.repository == repository, spending.c.month == (month or this_month())
        )
        with self._engine.connect() as connection:
            return float(connection.execute(query).scalar_one())


def this_month() -> str:
    """Return the calendar month in UTC."""
    return datetime.now(UTC).strftime("%Y-%m")
