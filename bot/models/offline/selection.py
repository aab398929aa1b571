"""Which scenarios are worth a test: those that reach a line or tell a fault that the others do not, the simplest first."""

from __future__ import annotations

from collections.abc import Iterable

from bot.models.offline.scenario import Scenario

_NEW_SHAPE = 3.0
_NEW_ROW = 1.0
_PRIVATE = 4.0


def worthwhile(scenarios: Iterable[Scenario], spare: int = 40) -> tuple[Scenario, ...]:
    """Return the scenarios that together show all that all of them show, in their order.

    A greedy cover; a scenario that joins others as a row of their table is cheaper than one that needs a test of its
    own. Documented behaviour always stays.

    Args:
        spare: How many more are kept, the most telling of those that add nothing, because the faults they were
            chosen by are not all there are.
    """
    left = list(enumerate(scenarios))
    chosen = {place: scenario for place, scenario in left if scenario.documented}
    seen: set[object] = set()
    shapes: set[object] = set()
    for scenario in chosen.values():
        seen |= evidence(scenario)
        shapes.add(_shape(scenario))
    waiting = {place: evidence(s) - seen for place, s in left if place not in chosen}
    scenario_at = dict(left)
    while True:
        telling = [place for place, new in waiting.items() if new]
        if not telling:
            break
        best = max(telling, key=lambda place: (_value(scenario_at[place], waiting[place], shapes), -place))
        found = waiting.pop(best)
        chosen[best] = scenario_at[best]
        shapes.add(_shape(scenario_at[best]))
        waiting = {place: new - found for place, new in waiting.items()}
    rest = sorted(waiting, key=lambda place: _rank_of_spare(scenario_at[place], place, shapes))
    chosen.update((place, scenario_at[place]) for place in rest[:spare])
    return tuple(chosen[place] for place in sorted(chosen))


def _rank_of_spare(scenario: Scenario, place: int, shapes: set[object]) -> tuple[bool, bool, int, int, int]:
    return (
        is_private(scenario),
        _shape(scenario) not in shapes,
        -len(scenario.kills),
        _length(scenario),
        place,
    )


def evidence(scenario: Scenario) -> frozenset[object]:
    """Return what a scenario shows: the lines it reaches, the faults it tells."""
    return frozenset(scenario.kills) | scenario.lines


def _value(scenario: Scenario, new: frozenset[object], shapes: set[object]) -> float:
    cost = _NEW_ROW if _shape(scenario) in shapes else _NEW_SHAPE
    if is_private(scenario):
        cost *= _PRIVATE
    return len(new) / (cost + len(scenario.given) + _length(scenario) / 80)


def is_private(scenario: Scenario) -> bool:
    """Whether a scenario is about a name that only the module itself should use."""
    parts = scenario.subject.split(".")
    return any(part.startswith("_") and not part.endswith("__") for part in parts)


def _shape(scenario: Scenario) -> object:
    then = scenario.then
    return (
        scenario.subject,
        len(scenario.given),
        tuple(name for name, _ in scenario.args),
        then.kind if then else "",
        then.type if then and then.kind == "raises" else "",
    )


def _length(scenario: Scenario) -> int:
    return len(scenario.when) + sum(map(len, scenario.given))
