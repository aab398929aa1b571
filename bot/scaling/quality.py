"""How good tests are as judges of right and wrong code: accuracy, F1, and how often they accept or reject wrongly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often a judge was right; a positive is code that the judge accepts.

    Rates are fractions 0..1, None where nothing could have been judged that way. The CodeRM paper prints FAR and FRR
    over other denominators (appendix D, equations 7 and 8): both forms are here, each under its own name.
    """

    tp: int = 0
    tn: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Confusion) -> Confusion:
        return Confusion(self.tp + other.tp, self.tn + other.tn, self.fp + other.fp, self.fn + other.fn)

    @property
    def accuracy(self) -> float | None:
        """Share of judgements that are right."""
        return _ratio(self.tp + self.tn, self.tp + self.tn + self.fp + self.fn)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def far(self) -> float | None:
        """False acceptance rate: the share of wrong code that is accepted, FP / (FP + TN)."""
        return _ratio(self.fp, self.fp + self.tn)

    @property
    def frr(self) -> float | None:
        """False rejection rate: the share of right code that is rejected, FN / (FN + TP)."""
        return _ratio(self.fn, self.fn + self.tp)

    @property
    def far_of_paper(self) -> float | None:
        """CodeRM's equation 7: the share of accepted code that is wrong, FP / (FP + TP)."""
        return _ratio(self.fp, self.fp + self.tp)

    @property
    def frr_of_paper(self) -> float | None:
        """CodeRM's equation 8: the share of rejected code that is right, FN / (FN + TN)."""
        return _ratio(self.fn, self.fn + self.tn)


def confusion(
    accepted: Sequence[bool], right: Sequence[bool], weights: Sequence[int] | None = None
) -> Confusion:
    """Return how well a judge told right from wrong code.

    Args:
        accepted: By candidate, whether the judge accepts it.
        right: By candidate, whether it is right.
        weights: By candidate, how often it counts; None is once.
    """
    counts = {(a, r): 0 for a in (True, False) for r in (True, False)}
    for number, pair in enumerate(zip(accepted, right, strict=True)):
        counts[pair] += weights[number] if weights else 1
    return Confusion(counts[True, True], counts[False, False], counts[True, False], counts[False, True])


def voted(results: Sequence[Sequence[bool]]) -> tuple[bool, ...]:
    """Return what a vote of unit tests accepts: the candidates that pass most of them (paper, appendix D)."""
    sums = [sum(row) for row in results]
    return tuple(one == max(sums) for one in sums) if sums else ()


def single(results: Sequence[Sequence[bool]]) -> Iterable[tuple[bool, ...]]:
    """Yield what each unit test by itself accepts."""
    yield from zip(*results, strict=True)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
