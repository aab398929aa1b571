"""Which scenarios have one shape, and so can share a table; and how large a group a table can hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.models.offline.outline import Outline
from bot.models.offline.scenario import Scenario, Then
from bot.models.offline.skeleton import Skeleton

MAX_COLUMNS = 4
MAX_ROWS = 32


def shape_of(skeleton: Skeleton) -> tuple[object, ...]:
    """Return what two scenarios must have in common to be rows of one table."""
    scenario = skeleton.scenario
    then = scenario.then
    return (
        family_of(scenario.subject, skeleton.outline),
        scenario.is_statement,
        skeleton.given,
        skeleton.when,
        tuple(name for name, _ in scenario.args),
        _outcome(then),
        tuple(
            (text, _outcome(check.then)) for text, check in zip(skeleton.checks, scenario.checks, strict=True)
        ),
        skeleton.arity,
    )


def family_of(subject: str, outline: Outline) -> str:
    """Return a subject with its class's root in place of the class."""
    owner, dot, rest = subject.partition(".")
    return f"{outline.root(owner)}{dot}{rest}"


def _outcome(then: Then | None) -> tuple[str, ...]:
    """Tell outcomes apart that cannot be asserted in one line."""
    if then is None:
        return ()
    if then.warning:
        return ("warns", then.warning, message_shape(then.warned), *_outcome(replace(then, warning="")))
    if then.kind == "raises":
        return ("raises", then.type, message_shape(then.message))
    if then.kind == "holds":
        return ("holds", then.text)
    if then.kind == "value" and then.text in ("float('nan')", 'float("nan")', "math.nan"):
        return ("nan",)
    return (then.kind,)


def distinct(members: Sequence[Skeleton]) -> list[Skeleton]:
    """Drop repeated scenarios, and those whose same input was seen to give two different things."""
    seen: dict[tuple[str, ...], Skeleton | None] = {}
    for member in members:
        known = seen.setdefault(member.texts, member)
        if known is not None and _results(known.scenario) != _results(member.scenario):
            seen[member.texts] = None
    return [member for member in seen.values() if member is not None]


def _results(scenario: Scenario) -> tuple[object, ...]:
    return (scenario.then, tuple(check.then for check in scenario.checks))


def manageable(members: Sequence[Skeleton]) -> list[list[Skeleton]]:
    """Split a group whose table would have too many columns, by what is given, then down to single rows."""
    if not members:
        return []
    if len(varying(members)) <= MAX_COLUMNS:
        return [list(members[start : start + MAX_ROWS]) for start in range(0, len(members), MAX_ROWS)]
    by_given: dict[tuple[str, ...], list[Skeleton]] = {}
    for member in members:
        by_given.setdefault(member.scenario.given, []).append(member)
    if len(by_given) == 1:
        return _clusters(members)
    return [part for group in by_given.values() for part in manageable(group)]


def _clusters(members: Sequence[Skeleton]) -> list[list[Skeleton]]:
    """Put members together that differ in few places."""
    clusters: list[list[Skeleton]] = []
    for member in members:
        fitting = (c for c in clusters if len(c) < MAX_ROWS and len(varying([*c, member])) <= MAX_COLUMNS)
        home = next(fitting, None)
        if home is None:
            clusters.append([member])
        else:
            home.append(member)
    return clusters


def varying(members: Sequence[Skeleton]) -> list[tuple[int, ...]]:
    """Return the columns: for each, the slots that hold the same text in every row and are not constant."""
    columns: dict[tuple[str, ...], list[int]] = {}
    for slot in range(members[0].arity):
        values = tuple(member.texts[slot] for member in members)
        if len(set(values)) > 1:
            columns.setdefault(values, []).append(slot)
    return [tuple(slots) for slots in columns.values()]


def message_shape(message: str) -> str:
    """Return a message without what depends on the input: quoted parts and numbers."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "*", message) if len(message) < 500 else message[:20]
