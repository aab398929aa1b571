"""Which candidate to believe: CodeRM's majority vote (paper, equation 1), and CodeT's dual agreement as its peer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.programs.table import Table


@dataclass(frozen=True, slots=True)
class Score:
    """How a candidate fared.

    Attributes:
        candidate: Its index.
        score: What it is ranked by: unit tests passed (vote), or weight of its group times assertions passed (codet).
        units: Unit tests passed, of all.
        assertions: Assertions passed, repeated ones as often as samples gave them. They decide between equal scores.
    """

    candidate: int
    score: float
    units: int
    assertions: int


def unit_results(
    table: Table, samples: Sequence[Sequence[int]], programs: int
) -> tuple[tuple[bool, ...], ...]:
    """Return the matrix R: by candidate and unit test, whether the candidate passes all assertions of the unit test.

    Args:
        table: Outcomes of the candidates.
        samples: The unit tests, as indices of assertions. One without assertions says nothing and is left out.
        programs: Of how many programs; the table may hold more.
    """
    units = [unit for unit in samples if unit]
    return tuple(
        tuple(all(outcomes[number] == "P" for number in unit) for unit in units)
        for outcomes in table.outcomes[:programs]
    )


def majority(table: Table, samples: Sequence[Sequence[int]], programs: int) -> list[Score]:
    """Return the candidates by the number of unit tests that they pass, best first (paper, equation 1).

    Of equals, the one that passes more single assertions comes first.
    """
    scores = [
        Score(candidate, float(sum(row)), sum(row), _assertions(table, samples, candidate))
        for candidate, row in enumerate(unit_results(table, samples, programs))
    ]
    return sorted(scores, key=lambda score: (-score.score, -score.assertions, score.candidate))


def dual_agreement(table: Table, samples: Sequence[Sequence[int]], weights: Sequence[int]) -> list[Score]:
    """Return the candidates as CodeT ranks them, best first: those that pass the same assertions agree with each other.

    The score of a group is the square root of its candidates' weight times the assertions that it passes, each as often
    as samples gave it.
    """
    programs = len(weights)
    groups: dict[tuple[bool, ...], list[int]] = {}
    for candidate in range(programs):
        passed = tuple(letter == "P" for letter in table.outcomes[candidate])
        groups.setdefault(passed, []).append(candidate)
    units = unit_results(table, samples, programs)
    scores = []
    for members in groups.values():
        passed_by = _assertions(table, samples, members[0])
        weight = sum(weights[member] for member in members) ** 0.5
        scores += [Score(member, weight * passed_by, sum(units[member]), passed_by) for member in members]
    return sorted(scores, key=lambda score: (-score.score, -score.assertions, score.candidate))


def best(scores: Sequence[Score]) -> list[int]:
    """Return the candidates that share the highest score, ties not decided."""
    return [one.candidate for one in scores if one.score == scores[0].score] if scores else []


def _assertions(table: Table, samples: Sequence[Sequence[int]], candidate: int) -> int:
    return sum(table.passes(candidate, number) for unit in samples for number in unit)
