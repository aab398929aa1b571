"""The dialogue: ask the best question, rule candidates out by its answer, rank again (METHODS 2.3 to 2.5).

It knows neither GitHub nor a terminal: it asks an `Author`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bot.intent.ranking import Order, Pool, prune, ranked, sides
from bot.programs.assertions import Assertion

Answer = Literal["yes", "no", "undefined", "stop"]


class Author(Protocol):
    """Who knows what the function should do: a person, or a reference implementation that plays one."""

    def ask(self, assertion: Assertion, number: int) -> Answer:
        """Return whether an assertion should hold. `number` counts the questions from 1."""
        ...


@dataclass(frozen=True, slots=True)
class State:
    """Where a dialogue stands.

    Attributes:
        alive: Candidates that agree with every answer but those overruled, by index.
        answers: Assertions by index with their answers, in the order given.
        overruled: Assertions whose answers no candidate has together with the later ones.
    """

    alive: tuple[int, ...]
    answers: tuple[tuple[int, Answer], ...] = ()
    overruled: tuple[int, ...] = ()

    @property
    def asked(self) -> frozenset[int]:
        """The assertions that were asked about."""
        return frozenset(assertion for assertion, _ in self.answers)

    @property
    def approved(self) -> tuple[int, ...]:
        """The assertions that the author said yes to."""
        return tuple(assertion for assertion, answer in self.answers if answer == "yes")

    def answered(self, pool: Pool, assertion: int, answer: Answer) -> State:
        """Return the state after an answer; one to an earlier question replaces the earlier answer."""
        kept = tuple(row for row in self.answers if row[0] != assertion)
        return replay(pool, (*kept, (assertion, answer)))


def begin(pool: Pool) -> State:
    """Return the state before the first question."""
    return State(tuple(range(len(pool.weights))))


def replay(pool: Pool, answers: Sequence[tuple[int, Answer]]) -> State:
    """Return the state after a list of answers.

    Of answers that leave no candidate together the later ones count: they contradict each other, or no candidate is right.
    """
    alive = list(begin(pool).alive)
    overruled: list[int] = []
    for assertion, answer in reversed(answers):
        left = prune(pool.table, alive, assertion, answer)
        alive = left or alive
        if not left:
            overruled.append(assertion)
    return State(tuple(alive), tuple(answers), tuple(reversed(overruled)))


def next_question(
    pool: Pool, state: State, order: Order = "discriminative", *, seed: int = 0, useful: bool = True
) -> int | None:
    """Return the assertion to ask about; None if there is nothing left to ask.

    Args:
        pool: What can be asked.
        state: Where the dialogue stands.
        order: See `ranking.ranked`.
        seed: Of a random order.
        useful: Ask only what tells candidates apart: some pass it and some fail it.
    """
    for assertion in ranked(pool, state.alive, state.asked, order, seed=seed + len(state.answers)):
        if not useful or min(sides(pool, state.alive, assertion)) > 0:
            return assertion
        if order == "discriminative":
            return None  # no later one does, either
    return None


def converse(
    pool: Pool,
    author: Author,
    *,
    questions: int = 3,
    first: Callable[[State], int | None] = lambda _: None,
) -> Iterator[State]:
    """Ask an author and yield the state after each answer, until nothing is left to ask or the author stops.

    Args:
        pool: What can be asked.
        author: Who answers.
        questions: At most so many.
        first: Gives what is to be asked before all that tells candidates apart; None once there is nothing of that kind.
    """
    state = begin(pool)
    for number in range(1, questions + 1):
        assertion = first(state)
        if assertion is None:
            assertion = next_question(pool, state)
        if assertion is None:
            return
        answer = author.ask(pool.table.assertions[assertion], number)
        if answer == "stop":
            return
        state = state.answered(pool, assertion, answer)
        yield state


def best(pool: Pool, state: State, own: Sequence[int]) -> list[tuple[int, int]]:
    """Return the candidates that are left with their scores, best first: how many of the model's own assertions they pass.

    Assertions made of observed values do not count: each candidate passes one of them for every call.

    Args:
        pool: The candidates and assertions.
        state: Where the dialogue stands.
        own: The assertions that count, by index; one that several samples proposed can stand there several times.
    """
    scores = {
        candidate: sum(pool.table.passes(candidate, assertion) for assertion in own)
        for candidate in state.alive
    }
    return sorted(scores.items(), key=lambda row: (-row[1], -pool.weights[row[0]], row[0]))
