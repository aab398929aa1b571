"""The tests of a pull request over its pushes: what was proposed, what was accepted, what nobody wants to see again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from bot.store.tables import suites, tests


@dataclass(frozen=True, slots=True)
class Remembered:
    """A test that was proposed on a pull request.

    Attributes:
        behaviour: What it does, as a hash (`bot.select.behaviour`); its name does not count.
        label: What comments call it, such as `T3`.
        test: Its node id.
        target: The source file that it was written for.
        state: `proposed`, `accepted` or `dismissed`.
        head: The commit at which it was proposed last.
        actor, why: Who dismissed or accepted it, and in which words.
    """

    behaviour: str
    label: str
    test: str
    target: str
    state: str = "proposed"
    head: str = ""
    actor: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class RememberedSuite:
    """A suite that was proposed for a target: `functions` is a hash of the changed functions it was written for."""

    target: str
    functions: str
    content: str


class Memory:
    """The tests and suites of all pull requests."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def propose(self, repository: str, number: int, proposed: Iterable[Remembered]) -> None:
        """Write down tests as proposed; what was dismissed stays so."""
        with self._engine.begin() as connection:
            for test in proposed:
                where = _pull(repository, number) & (tests.c.behaviour == test.behaviour)
                values = {"label": test.label, "test": test.test, "target": test.target, "head": test.head}
                changed = connection.execute(sa.update(tests).where(where).values(**values, at=time.time()))
                if not changed.rowcount:
                    connection.execute(
                        sa.insert(tests).values(
                            repository=repository, number=number, behaviour=test.behaviour,
                            state=test.state, at=time.time(), **values,
                        )
                    )  # fmt: skip

    def mark(
        self, repository: str, number: int, labels: Iterable[str], state: str, *, actor: str, why: str = ""
    ) -> Sequence[Remembered]:
        """Change the state of the newest tests with these labels, such as `T3`; return those that there were."""
        wanted = {label.upper() for label in labels}
        newest: dict[str, list[Remembered]] = {}
        for test in self.tests(
            repository, number
        ):  # the longest known first, so a later head takes the label
            carriers = newest.setdefault(test.label.upper(), [])
            if carriers and carriers[0].head != test.head:
                carriers.clear()
            carriers.append(test)
        found = [test for label in sorted(wanted & newest.keys()) for test in newest[label]]
        with self._engine.begin() as connection:
            for test in found:
                connection.execute(
                    sa.update(tests)
                    .where(_pull(repository, number), tests.c.behaviour == test.behaviour)
                    .values(state=state, actor=actor, why=why)
                )
        return found

    def tests(self, repository: str, number: int, state: str | None = None) -> Sequence[Remembered]:
        """Return the tests of a pull request, in a state or in any, the longest known first."""
        where = _pull(repository, number)
        if state is not None:
            where &= tests.c.state == state
        columns = [tests.c[name] for name in Remembered.__slots__]
        query = sa.select(*columns).where(where).order_by(tests.c.at, tests.c.behaviour)
        with self._engine.connect() as connection:
            return tuple(Remembered(**row) for row in connection.execute(query).mappings())

    def dismissed(self, repository: str, number: int) -> frozenset[str]:
        """Return what the dismissed tests of a pull request do, as hashes."""
        return frozenset(test.behaviour for test in self.tests(repository, number, "dismissed"))

    def keep_suites(self, repository: str, number: int, kept: Iterable[RememberedSuite]) -> None:
        """Keep the suites that were proposed last for these targets."""
        with self._engine.begin() as connection:
            for suite in kept:
                where = (
                    (suites.c.repository == repository)
                    & (suites.c.number == number)
                    & (suites.c.target == suite.target)
                )
                values = {"functions": suite.functions, "content": suite.content, "at": time.time()}
                if not connection.execute(sa.update(suites).where(where).values(**values)).rowcount:
                    connection.execute(
                        sa.insert(suites).values(
                            repository=repository, number=number, target=suite.target, **values
                        )
                    )

    def suites(self, repository: str, number: int) -> Sequence[RememberedSuite]:
        """Return the suites last proposed on a pull request, by target."""
        columns = [suites.c[name] for name in RememberedSuite.__slots__]
        query = (
            sa.select(*columns)
            .where(suites.c.repository == repository, suites.c.number == number)
            .order_by(suites.c.target)
        )
        with self._engine.connect() as connection:
            return tuple(RememberedSuite(**row) for row in connection.execute(query).mappings())

    def forget(self, before: float) -> None:
        """Delete what was last proposed before a time in seconds since 1970."""
        with self._engine.begin() as connection:
            connection.execute(sa.delete(tests).where(tests.c.at < before))
            connection.execute(sa.delete(suites).where(suites.c.at < before))


def _pull(repository: str, number: int) -> sa.ColumnElement[bool]:
    return (tests.c.repository == repository) & (tests.c.number == number)
