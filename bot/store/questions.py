"""Questions to the authors of pull requests, and what they were made from. They outlive restarts and pushes."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from bot.store.tables import inquiries, questions

State = Literal["open", "yes", "no", "undefined", "dropped", "expired"]
ANSWERS = ("yes", "no", "undefined")


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        key: `Q1`, `Q2` ... are its names; numbers are never used again on a pull request.
        path, function: What it is about.
        call, predicate: Of the assertion, as `bot.programs.assertions` has it.
        state: `open`, the answer, `dropped` (the function has changed) or `expired` (nobody answered).
        actor: Who answered.
        asked, answered: Seconds since 1970.
    """

    key: int
    path: str
    function: str
    call: str
    predicate: str
    state: str = "open"
    actor: str = ""
    asked: float = 0.0
    answered: float | None = None

    @property
    def name(self) -> str:
        """What comments call it."""
        return f"Q{self.key}"


@dataclass(frozen=True, slots=True)
class Asking:
    """What can be asked about a function.

    Attributes:
        head: The commit at which it was found out.
        inquiry: As `bot.intent.kept` writes it.
        questions: At most so many.
    """

    path: str
    function: str
    head: str
    inquiry: Mapping[str, Any]
    questions: int


class Questions:
    """The questions of all pull requests."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def keep(self, repository: str, number: int, found: Sequence[Asking]) -> None:
        """Replace what can be asked about a pull request; questions that are open stay so."""
        with self._engine.begin() as connection:
            connection.execute(sa.delete(inquiries).where(*_pull(inquiries, repository, number)))
            for one in found:
                connection.execute(
                    sa.insert(inquiries).values(
                        repository=repository, number=number, path=one.path, function=one.function,
                        head=one.head, inquiry=json.dumps(dict(one.inquiry)), questions=one.questions, at=time.time(),
                    )
                )  # fmt: skip

    def inquiries(self, repository: str, number: int) -> Sequence[Asking]:
        """Return what can be asked about a pull request, by path and function."""
        columns = [inquiries.c[name] for name in Asking.__slots__]
        query = (
            sa.select(*columns)
            .where(*_pull(inquiries, repository, number))
            .order_by(inquiries.c.path, inquiries.c.function)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).mappings()
            return tuple(Asking(**{**row, "inquiry": json.loads(row["inquiry"])}) for row in rows)

    def ask(self, repository: str, number: int, path: str, function: str, call: str, predicate: str) -> None:
        """Open the next question, unless one is open."""
        # Two may open it at once; the second finds its number taken.
        with suppress(sa.exc.IntegrityError), self._engine.begin() as connection:
            rows = connection.execute(
                sa.select(questions.c.key, questions.c.state).where(*_pull(questions, repository, number))
            ).all()
            if any(state == "open" for _, state in rows):
                return
            connection.execute(
                sa.insert(questions).values(
                    repository=repository, number=number, key=max((key for key, _ in rows), default=0) + 1,
                    path=path, function=function, call=call, predicate=predicate, state="open", asked=time.time(),
                )
            )  # fmt: skip

    def close(self, repository: str, number: int, key: int, state: State, *, actor: str = "") -> None:
        """Write down the answer to a question; or why there will be none, if it is still open."""
        answered = time.time() if state in ANSWERS else None
        of_any = sa.true() if state in ANSWERS else questions.c.state == "open"
        with self._engine.begin() as connection:
            connection.execute(
                sa.update(questions)
                .where(*_pull(questions, repository, number), questions.c.key == key, of_any)
                .values(state=state, actor=actor, answered=answered)
            )

    def of_pull(self, repository: str, number: int) -> Sequence[Question]:
        """Return the questions of a pull request, the first first."""
        columns = [questions.c[name] for name in Question.__slots__]
        query = sa.select(*columns).where(*_pull(questions, repository, number)).order_by(questions.c.key)
        with self._engine.connect() as connection:
            return tuple(Question(**row) for row in connection.execute(query).mappings())

    def open_since(self, before: float) -> Sequence[tuple[str, int, Question]]:
        """Return the questions that were asked before a time in seconds since 1970 and are open: repository, number, question."""
        columns = [questions.c[name] for name in Question.__slots__]
        query = sa.select(questions.c.repository, questions.c.number, *columns).where(
            questions.c.state == "open", questions.c.asked < before
        )
        with self._engine.connect() as connection:
            rows = [dict(row) for row in connection.execute(query).mappings()]
        return tuple((row.pop("repository"), row.pop("number"), Question(**row)) for row in rows)

    def forget(self, before: float) -> None:
        """Delete what was asked before a time in seconds since 1970."""
        with self._engine.begin() as connection:
            connection.execute(sa.delete(questions).where(questions.c.asked < before))
            connection.execute(sa.delete(inquiries).where(inquiries.c.at < before))


def _pull(table: sa.Table, repository: str, number: int) -> tuple[sa.ColumnElement[bool], ...]:
    return table.c.repository == repository, table.c.number == number
