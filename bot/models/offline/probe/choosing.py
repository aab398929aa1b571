"""The fewest, simplest cases with all the evidence: lines, branches and faults shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import Any

from .programs import Case
from .telling import is_opaque

_OPAQUE = 400
_UGLY = re.compile(r"\\x|\\u|nan|inf|[^\x00-\x7f]|[0-9]{7,}")


class Wanted:
    """Which lines and branches are still worth a case: some, or where None is given, all."""

    def __init__(self, lines: frozenset[int] | None, origins: frozenset[int] | None) -> None:
        self.lines = lines
        self.origins = origins

    def has(self, feature: Any) -> bool:
        """Whether a feature of a case is such a line or a branch that starts on such a line."""
        if isinstance(feature, int):
            return self.lines is None or feature in self.lines
        branch = isinstance(feature, tuple) and len(feature) == 2 and isinstance(feature[1], bool)
        return branch and (self.origins is None or feature[0] // 1000 in self.origins)


everything = Wanted(None, None)


def is_private(case: Case) -> bool:
    """Whether a case uses a name that only the module itself should use."""
    return any(text.startswith("_") or "._" in text for text in case.key)


def _is_unmeant(case: Case) -> bool:
    """Whether a case ends in an exception that nobody raises on purpose."""
    then = case.outcome.then
    return then is not None and then.kind == "raises" and not then.deliberate


def _echoes(told: str, text: str) -> bool:
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(told, text)))  # noqa: B905
    return same > max(2, len(text) // 2)


def cost_of(case: Case) -> float:
    """Return how much a case asks of its reader; exceptions nobody meant, and odd texts, cost more."""
    outcome = case.outcome
    cost = 30.0 + case.size
    then = outcome.then
    if then is not None:
        cost += len(then.text) / 3
        if then.kind == "raises" and not then.deliberate:
            cost += 60
        if then.kind == "holds" and not then.text:
            cost += 80
        if then.text == "None" and not outcome.checks:
            cost += 40
        if is_opaque(then.text, case.when.text):
            cost += _OPAQUE
    cost += sum(8 + len(expression) / 3 + len(t.text) / 4 for expression, t in outcome.checks)
    if _UGLY.search(case.when.text):
        cost += 15
    if is_private(case):
        cost += 120
    if then is not None and case.when.args and _echoes(then.text, case.when.args[0].text):
        cost += 20  # what comes out nearly as it went in shows little
    if case.origin in ("example", "mined"):
        cost *= 0.6
    return cost


def telling(cases: Sequence[Case], kills: Mapping[int, Sequence[int]], wanted: Wanted) -> list[int]:
    """Return the indexes of the cases that have any evidence."""
    killers = {index for found in kills.values() for index in found}
    return [i for i, case in enumerate(cases) if i in killers or any(map(wanted.has, case.features))]


def choose(
    cases: Sequence[Case],
    kills: Mapping[int, Sequence[int]],
    most: int,
    wanted: Wanted,
    barred: Collection[int] = (),
) -> list[tuple[int, set[Any]]]:
    """Return indexes of cases that together have all the evidence, the most telling first, each with what it is
    credited with: features, and `("fault", number)`.

    Args:
        cases: All candidates with their outcomes.
        kills: By fault number, the indexes of cases that show it.
        most: Keep at most so many.
        wanted: Which lines and branches count as evidence.
        barred: Those that may not be chosen.
    """
    evidence: list[set[Any]] = [set() for _ in cases]
    for number, killers in kills.items():
        for index in killers:
            evidence[index].add(("fault", number))
    for index, case in enumerate(cases):
        if wanted.lines is None or not (is_private(case) or _is_unmeant(case)):
            evidence[index].update(feature for feature in case.features if wanted.has(feature))
    costs = [cost_of(case) for case in cases]
    left = set(range(len(cases))).difference(barred)
    chosen: list[tuple[int, set[Any]]] = []
    while left and len(chosen) < most:
        best, gain = -1, 0.0
        for index in sorted(left):
            if not evidence[index]:
                left.discard(index)
                continue
            worth = sum(1.0 if isinstance(e, tuple) and e[0] == "fault" else 0.5 for e in evidence[index])
            if worth / costs[index] > gain:
                best, gain = index, worth / costs[index]
        if best < 0:
            break
        left.discard(best)
        taken = set(evidence[best])
        chosen.append((best, taken))
        for index in left:
            evidence[index] -= taken
    return chosen
