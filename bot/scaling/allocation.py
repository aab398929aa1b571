"""Sharing a budget of samples, questions or iterations between functions by how hard they are (CodeRM, equation 2)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

Gain = Callable[[float, int], float]


def first_success(rate: float, budget: int) -> float:
    """Return the chance that one of `budget` tries succeeds, each with chance `rate` (equation 2)."""
    return 1.0 - float((1.0 - rate) ** budget)


def uncertain_vote(rate: float, budget: int) -> float:
    """Return how much a vote of `budget` tests is worth for a function whose candidates are right with chance `rate`.

    Equation 2 buys tests where a first success is unlikely, though tests choose between candidates and write none: where
    no candidate is right, or all are, no number of tests helps. Here a test is worth what there is to decide, rate times
    its complement, and each further one less, as the error of a mean shrinks.
    """
    return rate * (1 - rate) * (1 - float((1 + budget) ** -0.5))


def allocate(
    rates: Sequence[float],
    budget: int,
    *,
    floor: int = 1,
    most: int | None = None,
    gain: Gain = first_success,
) -> tuple[int, ...]:
    """Return how many units of a budget each function gets: one after another goes where it gains most.

    Args:
        rates: By function, the estimated chance that a sample is right, 0..1.
        budget: Units to share.
        floor: What each function gets first, while the budget lasts.
        most: What a function gets at most; None is no limit.
        gain: The worth of a number of units for a rate; it must grow ever more slowly, for the greedy choice to be the best.
    """
    if not rates:
        return ()
    shares = [0] * len(rates)
    left = budget
    for _ in range(floor):
        for number in range(len(rates)):
            if left and (most is None or shares[number] < most):
                shares[number] += 1
                left -= 1
    heap = [(-_next(gain, rate, shares[n]), n) for n, rate in enumerate(rates)]
    heapq.heapify(heap)
    while left and heap:
        _, number = heapq.heappop(heap)
        if most is not None and shares[number] >= most:
            continue
        shares[number] += 1
        left -= 1
        heapq.heappush(heap, (-_next(gain, rates[number], shares[number]), number))
    return tuple(shares)


def _next(gain: Gain, rate: float, have: int) -> float:
    return gain(rate, have + 1) - gain(rate, have)
