"""Candidates ranked by the tests that they pass, with the evidence for each: what `testforge rank` tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.programs.assertions import Assertion, split
from bot.programs.cached import Candidates, Tests
from bot.programs.table import Problem, Table
from bot.scaling.vote import Score, dual_agreement, majority

Method = Literal["vote", "codet"]


@dataclass(frozen=True, slots=True)
class Contest:
    """One function's candidates and the unit tests that decide between them.

    Attributes:
        samples: The unit tests, as indices into the problem's assertions.
        unusable: Texts of tests in which nothing calls the function, or that do not parse.
    """

    function: str
    problem: Problem
    weights: tuple[int, ...]
    samples: tuple[tuple[int, ...], ...]
    unusable: tuple[str, ...] = ()


def contest(function: str, candidates: Candidates, tests: Tests) -> Contest:
    """Return a contest, with the tests cut into assertions about the function."""
    numbers: dict[Assertion, int] = {}
    cut = [split(text, function) for text in tests.asserts]
    units = tuple(
        tuple(numbers.setdefault(one, len(numbers)) for index in sample for one in cut[index])
        for sample in tests.samples
    )
    unusable = tuple(text for text, found in zip(tests.asserts, cut, strict=True) if not found)
    return Contest(
        function, Problem(candidates.programs, tuple(numbers)), candidates.weights, units, unusable
    )


def rank(given: Contest, table: Table, method: Method) -> list[Score]:
    """Return the candidates, best first, by majority vote (CodeRM) or dual agreement (CodeT)."""
    if method == "codet":
        return dual_agreement(table, given.samples, given.weights)
    return majority(table, given.samples, len(given.weights))


def evidence(given: Contest, table: Table, candidate: int) -> dict[str, object]:
    """Return what speaks for and against a candidate: assertions passed, failed, raised on, timed out on; the first it fails."""
    outcomes: Sequence[str] = table.outcomes[candidate]
    words = {"P": "passed", "F": "failed", "E": "raised", "T": "timed out", "X": "ended the interpreter"}
    counts = {word: outcomes.count(letter) for letter, word in words.items() if letter in outcomes}
    wrong = [
        one.text for one, letter in zip(given.problem.assertions, outcomes, strict=True) if letter != "P"
    ]
    return {"assertions": counts, "fails_first": wrong[:3]}
