"""How the turns of a run's agent are shared between its targets: by how hard their changed functions look (CodeRM, 3.3)."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from bot.domain import Function, Target
from bot.scaling.allocation import allocate
from bot.scaling.difficulty import estimate

FLOOR = 0.5
"""What a target gets at least, as a share of what each would get if all got the same; at least one turn."""
MOST = 2
"""What a target gets at most, as a multiple of the same."""
USUAL = 0.5
"""The rate of what cannot be estimated: statements outside of functions, and what does not parse."""


def share_iterations(targets: Sequence[Target], each: int) -> Mapping[str, int]:
    """Return how many turns each target gets, by path: together as many as if each had got the same.

    Every target has its floor first. Then one turn after another goes to the changed function that gains most by it, by
    equation 2; a target has what its functions have. So a file with many or hard functions gets more than one with a
    single easy one.

    Args:
        targets: In any order; the shares do not depend on it, but for equals.
        each: What each target gets on average.
    """
    if each <= 0 or len(targets) <= 1:
        return {target.path: each for target in targets}
    floor = max(1, int(each * FLOOR))
    shares = {target.path: floor for target in targets}
    units = [(target.path, rate) for target in targets for rate in _rates(target)]
    left = (each - floor) * len(targets)
    while left:
        open_ = [unit for unit in units if shares[unit[0]] < MOST * each]
        room = {path: MOST * each - shares[path] for path, _ in open_}
        for (path, _), more in zip(open_, allocate([rate for _, rate in open_], left, floor=0), strict=True):
            given = min(more, room[path])
            room[path] -= given
            shares[path] += given
            left -= given
    return shares


def _rates(target: Target) -> list[float]:
    """Return the estimated chance that a test for it is right, for each changed function of a target."""
    return [_rate(target, function) for function in target.functions] or [USUAL]


def _rate(target: Target, function: Function) -> float:
    name = function.qualname.rpartition(".")[2]
    lines = target.source.splitlines(keepends=True)[function.first - 1 : function.last]
    for source in (textwrap.dedent("".join(lines)), target.source):
        try:
            return estimate(source, name)
        except (ValueError, SyntaxError, RecursionError):  # its text alone does not always parse
            continue
    return USUAL
