"""The runs: where each stands, what it found, and what was posted."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.store.tables import model_calls, runs, stops

ACTIVE = ("running",)
FINISHED = ("done", "failed", "cancelled", "superseded", "skipped", "asked")
"""`skipped`: there was nothing to do, and `reason` says why. `done`: its review was posted. `asked`: it only looked for
questions to the author."""

_BRIEF = [column for column in runs.c if column.name not in ("report", "review")]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a pull request at one head commit.

    Attributes:
        state: `running`, or how it ended: `done`, `failed`, `cancelled`, `superseded`, `skipped`, `asked`.
        stage: Where it is, for a person.
        status: The report's, once there is one.
        reason: Why it ended so, one or two sentences.
        url: Of the posted review.
        began, ended: Seconds since 1970.
    """

    id: str
    repository: str
    number: int
    head: str
    installation: int
    delivery: str
    actor: str
    event: str
    state: str
    stage: str
    status: str
    reason: str
    url: str
    check_run: int | None
    cost_usd: float
    began: float
    ended: float | None


class Runs:
    """All runs in the database."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def begin(
        self, run: str, *, repository: str, number: int, head: str, installation: int, delivery: str,
        actor: str = "", event: str = "",
    ) -> None:  # fmt: skip
        """Write down that a run has begun; one that is there already (a worker died) goes on."""
        row = {
            "repository": repository, "number": number, "head": head, "installation": installation,
            "delivery": delivery, "actor": actor, "event": event, "state": "running",
        }  # fmt: skip
        with self._engine.begin() as connection:
            changed = connection.execute(sa.update(runs).where(runs.c.id == run).values(**row))
            if not changed.rowcount:
                connection.execute(sa.insert(runs).values(id=run, began=time.time(), **row))

    def update(self, run: str, **values: Any) -> None:
        """Change columns of a run, such as `stage`, `check_run` or `url`."""
        with self._engine.begin() as connection:
            connection.execute(sa.update(runs).where(runs.c.id == run).values(**values))

    def keep_result(
        self, run: str, report: Mapping[str, Any], review: Mapping[str, Any] | None, cost_usd: float
    ) -> None:
        """Keep what a run found, before it is posted."""
        self.update(
            run,
            status=str(report.get("status", "")),
            report=json.dumps(dict(report)),
            review=None if review is None else json.dumps(dict(review)),
            cost_usd=cost_usd,
        )

    def finish(self, run: str, state: str, reason: str = "") -> None:
        """Write down how a run ended; the first end counts."""
        with self._engine.begin() as connection:
            connection.execute(
                sa.update(runs)
                .where(runs.c.id == run, runs.c.state.in_(ACTIVE))
                .values(state=state, reason=reason, ended=time.time())
            )

    def get(self, run: str) -> Run | None:
        """Return a run by its id."""
        found = self._select(runs.c.id == run, limit=1)
        return found[0] if found else None

    def report(self, run: str) -> dict[str, Any] | None:
        """Return a run's report, schema 1; None if it found nothing yet."""
        return self._json(run, runs.c.report)

    def review(self, run: str) -> dict[str, Any] | None:
        """Return the review that a run made, as it was built."""
        return self._json(run, runs.c.review)

    def recent(self, limit: int = 100) -> Sequence[Run]:
        """Return the newest runs of all repositories, newest first."""
        return self._select(limit=limit)

    def running(self) -> Sequence[Run]:
        """Return the runs that are under way, newest first."""
        return self._select(runs.c.state.in_(ACTIVE), limit=1000)

    def of_pull(self, repository: str, number: int, limit: int = 20) -> Sequence[Run]:
        """Return the newest runs of a pull request, newest first."""
        return self._select(runs.c.repository == repository, runs.c.number == number, limit=limit)

    def last_posted(self, repository: str, number: int, head: str | None = None) -> Run | None:
        """Return the newest run whose review was posted, at one head commit or at any."""
        where = [runs.c.repository == repository, runs.c.number == number, runs.c.state == "done"]
        if head is not None:
            where.append(runs.c.head == head)
        found = self._select(*where, limit=1)
        return found[0] if found else None

    def stop(self, repository: str, number: int, at: float, reason: str) -> None:
        """Say that nothing is wanted any more that was asked of a pull request until now.

        Args:
            number: The pull request; 0 means all of the repository.
            at: Until when, in seconds since 1970.
            reason: Who or what stopped it, as a sentence.
        """
        where = (stops.c.repository == repository) & (stops.c.number == number)
        with self._engine.begin() as connection:
            changed = connection.execute(sa.update(stops).where(where).values(at=at, reason=reason))
            if not changed.rowcount:
                connection.execute(
                    sa.insert(stops).values(repository=repository, number=number, at=at, reason=reason)
                )

    def stopped(self, repository: str, number: int, asked: float) -> str:
        """Return why what was asked at a time is not wanted any more; empty if it still is."""
        query = (
            sa.select(stops.c.reason)
            .where(stops.c.repository == repository, stops.c.number.in_((0, number)), stops.c.at >= asked)
            .order_by(stops.c.number.desc())
        )
        with self._engine.connect() as connection:
            return str(connection.execute(query).scalar() or "")

    def mean_cost(self, repository: str, last: int = 10) -> float:
        """Return what the last runs of a repository have cost on average, in USD; 0 if there were none."""
        newest = (
            sa.select(runs.c.cost_usd)
            .where(runs.c.repository == repository, runs.c.state == "done")
            .order_by(runs.c.began.desc())
            .limit(last)
            .subquery()
        )
        with self._engine.connect() as connection:
            return float(connection.execute(sa.select(sa.func.avg(newest.c.cost_usd))).scalar() or 0.0)

    def count(self) -> dict[str, int]:
        """Return how many runs there are in each state."""
        with self._engine.connect() as connection:
            rows = connection.execute(sa.select(runs.c.state, sa.func.count()).group_by(runs.c.state))
            return {str(state): int(number) for state, number in rows}

    def forget(self, before: float) -> int:
        """Delete runs that ended before a time in seconds since 1970, and their model calls; return how many."""
        old = sa.select(runs.c.id).where(runs.c.ended.is_not(None), runs.c.ended < before)
        with self._engine.begin() as connection:
            connection.execute(sa.delete(model_calls).where(model_calls.c.run.in_(old)))
            return int(
                connection.execute(
                    sa.delete(runs).where(runs.c.ended.is_not(None), runs.c.ended < before)
                ).rowcount
            )

    def _select(self, *where: sa.ColumnElement[bool], limit: int) -> Sequence[Run]:
        query = sa.select(*_BRIEF).where(*where).order_by(runs.c.began.desc(), runs.c.id.desc()).limit(limit)
        with self._engine.connect() as connection:
            return tuple(Run(**row) for row in connection.execute(query).mappings())

    def _json(self, run: str, column: sa.Column[str]) -> dict[str, Any] | None:
        with self._engine.connect() as connection:
            text = connection.execute(sa.select(column).where(runs.c.id == run)).scalar()
        return None if text is None else dict(json.loads(text))
