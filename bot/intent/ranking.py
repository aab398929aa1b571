"""Which assertion to ask about next (METHODS 2.3)."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.programs.table import Table

Order = Literal["discriminative", "random", "ideal"]


@dataclass(frozen=True, slots=True)
class Pool:
    """What can be asked: the table of candidates and assertions, and how often the model gave each.

    Attributes:
        weights: By candidate, how many samples gave it.
        votes: By assertion, how many samples proposed it; 0 for those made of observed values.
    """

    table: Table
    weights: tuple[int, ...]
    votes: tuple[int, ...]


def ranked(
    pool: Pool,
    alive: Collection[int],
    asked: Collection[int],
    order: Order = "discriminative",
    *,
    seed: int = 0,
    answer: Callable[[int], str] | None = None,
    right: Mapping[int, bool] | None = None,
) -> list[int]:
    """Return the assertions that can be asked, best first.

    Args:
        pool: All of them.
        alive: Candidates that no answer has ruled out.
        asked: Assertions that have been asked already.
        order: `discriminative` makes the smaller of the groups that pass and fail as large as possible; candidates that
            raise or take too long are in neither. `random` shuffles. `ideal` knows the answer and which candidates are
            right, and leaves the largest share of right ones: for evaluation only.
        seed: Of `random`.
        answer: What the author would say, for `ideal`.
        right: Which candidates are right, for `ideal`.
    """
    left = [number for number in range(len(pool.table.assertions)) if number not in asked]
    if order == "random":
        random.Random(seed).shuffle(left)
        return left
    if order == "ideal":
        assert answer is not None
        assert right is not None
        return sorted(
            left,
            key=lambda number: (-_share(pool, alive, number, answer(number), right), *_ties(pool, number)),
        )
    scores = {number: min(sides(pool, alive, number)) for number in left}
    return sorted(left, key=lambda number: (-scores[number], *_ties(pool, number)))


def sides(pool: Pool, alive: Collection[int], assertion: int) -> tuple[int, int]:
    """Return how many candidates pass an assertion, and how many fail it.

    Each counts once, however many samples gave it: a common mistake is no reason to ask about it later.
    """
    letters = [pool.table.outcomes[candidate][assertion] for candidate in alive]
    return letters.count("P"), letters.count("F")


def prune(table: Table, alive: Sequence[int], assertion: int, answer: str) -> list[int]:
    """Return the candidates that an answer leaves: `yes` those that pass, `no` those that do not, `undefined` all."""
    if answer == "yes":
        return [candidate for candidate in alive if table.passes(candidate, assertion)]
    if answer == "no":
        return [candidate for candidate in alive if not table.passes(candidate, assertion)]
    return list(alive)


def _ties(pool: Pool, assertion: int) -> tuple[int, int, str]:
    """Return what decides between equals: what more samples proposed, then the simpler call."""
    one = pool.table.assertions[assertion]
    return -pool.votes[assertion], len(one.call) + len(one.predicate), one.call


def _share(
    pool: Pool, alive: Collection[int], assertion: int, answer: str, right: Mapping[int, bool]
) -> float:
    """Return the share of right candidates, by weight, that an answer would leave."""
    left = prune(pool.table, sorted(alive), assertion, answer)
    total = sum(pool.weights[candidate] for candidate in left)
    return (
        sum(pool.weights[candidate] for candidate in left if right.get(candidate)) / total if total else 0.0
    )
