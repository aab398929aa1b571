"""Scenarios of one shape, gathered into tables: what differs between them becomes a column, the rest is the test.

Two scenarios have one shape if they read the same once their literals are taken out (an anti-unification over
literals). Literals that differ together are one column.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.models.offline import words
from bot.models.offline.layout import canonical
from bot.models.offline.outline import Outline
from bot.models.offline.scenario import Check, Scenario, Then
from bot.models.offline.selection import evidence
from bot.models.offline.shapes import distinct, family_of, manageable, shape_of, varying
from bot.models.offline.skeleton import Skeleton, skeleton_of

_LONGEST_CELL = 400
_RESERVED = frozenset(dir(builtins)) | {"pytest", "math", "re", "self", "request", "result", "expected"}


@dataclass(frozen=True, slots=True)
class Table:
    """Tests of one shape; with a single row it has no columns and is a plain test.

    Attributes:
        columns: Names of what differs, inputs first, then what is expected.
        inputs: How many of the columns are inputs.
        rows: A cell's text for each column, simple rows first.
        given, when, then, checks: The test, with the columns' names where rows differ.
        scenarios: What each row was made of.
    """

    subject: str
    given: tuple[str, ...]
    when: str
    then: Then | None
    checks: tuple[Check, ...]
    is_statement: bool
    scenarios: tuple[Scenario, ...]
    columns: tuple[str, ...] = ()
    inputs: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def gather(scenarios: Iterable[Scenario], outline: Outline, quote: str = '"') -> tuple[Table, ...]:
    """Return tables over all scenarios, by subject in source order, the simplest of a subject first."""
    groups: dict[tuple[object, ...], list[Skeleton]] = {}
    for scenario in scenarios:
        skeleton = skeleton_of(scenario, outline, quote)
        if skeleton is not None and _readable(skeleton):
            groups.setdefault(shape_of(skeleton), []).append(skeleton)
    tables: list[Table] = []
    for members in groups.values():
        for group in manageable(distinct(members)):
            tables.append(_table(group, quote))
    return tuple(sorted(tables, key=lambda table: (outline.order(table.subject), _complexity(table))))


def affordable(tables: Sequence[Table], limit: int) -> tuple[Table, ...]:
    """Return at most `limit` of the tables, in their order: documented ones, then those that tell most faults apart."""
    if len(tables) <= limit:
        return tuple(tables)
    left = list(range(len(tables)))
    chosen: list[int] = []
    seen: set[object] = set()
    while left and len(chosen) < limit:
        best = max(left, key=lambda place: (_worth(tables[place], seen), -place))
        left.remove(best)
        chosen.append(best)
        seen |= _evidence(tables[best])
    return tuple(tables[place] for place in sorted(chosen))


def _evidence(table: Table) -> frozenset[object]:
    return frozenset().union(*map(evidence, table.scenarios))


def _worth(table: Table, seen: set[object]) -> tuple[bool, int, int]:
    documented = any(scenario.documented for scenario in table.scenarios)
    return documented, len(_evidence(table) - seen), len(table.scenarios)


def _readable(skeleton: Skeleton) -> bool:
    """Whether a scenario makes a test that a person would read, and that can fail."""
    then = skeleton.scenario.then
    if then is not None and then.kind == "raises" and then.type in ("ImportError", "ModuleNotFoundError"):
        return False  # that is about the machine
    if then is not None and then.kind == "holds" and not then.text and not re.search(r"\(|\[", skeleton.when):
        return False
    return all(len(text) <= _LONGEST_CELL for text in skeleton.texts) and len(skeleton.scenario.given) <= 12


def _table(members: Sequence[Skeleton], quote: str) -> Table:
    first = members[0]
    columns = varying(members)
    names = _column_names(first, columns)
    filled = {slot: name for slots, name in zip(columns, names, strict=True) for slot in slots}
    inputs = {
        name: [member.texts[slots[0]] for member in members]
        for name, slots in zip(names, columns, strict=True)
    }
    cells = dict(inputs)
    then = _own_outcome(first, filled) or _unified(
        [m.scenario.then for m in members], "expected", cells, quote
    )
    checks = tuple(
        Check(
            first.fill(first.checks[place], filled),
            _known(
                _unified(
                    [member.scenario.checks[place].then for member in members],
                    _check_column(check.expression, cells),
                    cells,
                    quote,
                )
            ),
        )
        for place, check in enumerate(first.scenario.checks)
    )
    table = Table(
        subject=_common_subject(members),
        given=tuple(
            line for line in (first.fill(text, filled) for text in first.given) if not _is_void(line)
        ),
        when=first.fill(first.when, filled),
        then=then,
        checks=checks,
        is_statement=first.scenario.is_statement,
        scenarios=tuple(member.scenario for member in members),
    )
    if len(members) == 1:
        return table
    rows = list(zip(*cells.values(), strict=True))
    order = sorted(range(len(rows)), key=lambda place: _row_rank(rows[place], first.outline))
    return replace(
        table,
        columns=tuple(cells),
        inputs=len(inputs),
        rows=tuple(rows[place] for place in order),
        scenarios=tuple(table.scenarios[place] for place in order),
    )


def _row_rank(row: Sequence[str], known: Outline) -> tuple[object, ...]:
    """Sort rows from simple to complex, those over classes as the classes follow in the source."""
    classes = [known.order(cell) for cell in row if known.find(cell)]
    return classes, sum(len(cell) for cell in row if not known.find(cell)), tuple(row)


def _common_subject(members: Sequence[Skeleton]) -> str:
    subjects = {member.scenario.subject for member in members}
    return (
        subjects.pop() if len(subjects) == 1 else family_of(members[0].scenario.subject, members[0].outline)
    )


def _own_outcome(skeleton: Skeleton, filled: Mapping[int, str]) -> Then | None:
    """Return what comes of it where that is an object of the module, with the columns' names for its parts."""
    then = skeleton.scenario.then
    return replace(then, text=skeleton.fill(skeleton.then, filled)) if then and skeleton.then else None


def _is_void(line: str) -> bool:
    """Whether a statement only binds a column's name to itself."""
    left, equals, right = line.partition(" = ")
    return bool(equals) and left == right


def _known(then: Then | None) -> Then:
    return then if then is not None else Then("holds", "True")


def _unified(
    thens: Sequence[Then | None], column: str, cells: dict[str, list[str]], quote: str
) -> Then | None:
    """Return what all rows have in common, adding to `cells` a column for what is expected where they differ."""
    first = thens[0]
    if first is None or first.kind == "holds":
        return first
    known = [then for then in thens if then is not None]
    first = replace(first, warned=common_message([then.warned for then in known]))
    if first.kind == "raises":
        return replace(first, message=common_message([then.message for then in known]))
    texts = [canonical(then.text, quote) for then in known]
    if len(set(texts)) == 1:
        return replace(first, text=texts[0])
    for name, values in cells.items():
        if values == texts and all(re.match(r"['\"\d-]", text) for text in texts):
            return replace(first, text=name, type="")
    cells[column] = texts
    singletons = set(texts) <= {"True", "False", "None"}
    return replace(first, text=column, type="singleton" if singletons else "")


def common_message(messages: Sequence[str]) -> str:
    """Return what all messages share, cut at words: all, the beginning, or else the end; empty if that says little."""
    if len(set(messages)) == 1:
        return messages[0]
    start = _common_start(messages)
    start = re.sub(r"\S*$", "", start).rstrip(" :'\"([{<-,")
    end = _common_start([message[::-1] for message in messages])[::-1]
    end = re.sub(r"^\S*", "", end).lstrip(" :'\")]}>-,").rstrip("'\"")
    shared = max(start, end, key=len)
    return shared if len(re.findall(r"[A-Za-z]", shared)) >= 4 else ""


def _common_start(texts: Sequence[str]) -> str:
    low, high = min(texts), max(texts)
    length = next(
        (i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high))
    )
    return low[:length]


def _column_names(skeleton: Skeleton, columns: Sequence[tuple[int, ...]]) -> list[str]:
    taken = _RESERVED | skeleton.names_used
    bound = skeleton.names_bound
    names: list[str] = []
    for slots in columns:
        wanted = next((skeleton.hints[slot] for slot in slots if slot in skeleton.argument_slots), "")
        wanted = wanted or skeleton.hints[slots[0]]
        free = [
            wanted,
            f"{wanted}_{words.kind(skeleton.texts[slots[0]])}",
            f"other_{wanted}",
            f"another_{wanted}",
            f"third_{wanted}",
            f"last_{wanted}",
        ]
        voided = any(skeleton.binds(slot, wanted) for slot in slots)
        for name in free:
            if name not in names and (voided or (name not in taken and name not in bound)):
                names.append(name)
                break
        else:
            names.append(f"{wanted}_of_{'_'.join(names)}")
    return names


def _check_column(expression: str, cells: Mapping[str, Sequence[str]]) -> str:
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"(['\"]).*?\1", "", expression))
    called = re.match(r"(\w+)\(", expression)
    word = called[1] if called else words[-1] if words else "state"
    word = {"len": "length", "list": "items", "str": "text", "dict": "mapping"}.get(word, word).strip("_")
    options = [f"expected_{word}", f"expected_{'_'.join(words).strip('_')}", f"expected_{word}_afterwards"]
    options = [option.lower() for option in options]
    return next((name for name in options if name not in cells), options[-1] + "_too")


def _complexity(table: Table) -> tuple[object, ...]:
    then = table.then
    raised = then is not None and then.kind == "raises"
    return (raised, len(table.given), len(table.when) + sum(map(len, table.given)), table.when, table.given)
