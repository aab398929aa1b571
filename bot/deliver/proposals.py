"""The proposed tests of a run, numbered: T1, T2 ... is how comments and commands name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bot.deliver.markdown import code, plain
from bot.deliver.wording import clean, evidence, plural
from bot.domain import Judgement, MutationDelta, RunReport, TargetReport

_CHANGED = re.compile(r"`(.*?)` (?:to `(.*)`|removed) in line (\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposed test function with what it proves, its cases taken together.

    Attributes:
        key: `T1`, `T2` ... in the order of the report.
        name: Its node id without the file, such as `TestCache::test_pop`.
        path: The test file.
        source: The source file that it tests.
        ids: The node ids of its cases.
        lines: Lines of `source` that only it and those before it cover.
        kills: What it kills, as short descriptions of mutants; `kill_lines` are their lines.
        functions: The changed functions that these lines lie in.
        on_base: Its outcome on base; None if it was not run there.
        approved: `approved by @alice` where that is why it is proposed.
    """

    key: str
    name: str
    path: str
    source: str
    ids: tuple[str, ...]
    cases: int
    lines: tuple[int, ...]
    kills: tuple[str, ...]
    kill_lines: tuple[int, ...]
    functions: tuple[str, ...]
    on_base: str | None
    runs: int
    approved: str = ""

    @property
    def count(self) -> int:
        """For how many tests it counts: each case is one."""
        return max(1, self.cases)

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Proposal:
        """Return what `as_json` wrote."""
        lists = ("ids", "lines", "kills", "kill_lines", "functions")
        return cls(**{**data, **{name: tuple(data[name]) for name in lists}})


def fault(kill: str) -> str:
    """Return the description of a killed mutant in Markdown: the code in it as code."""
    match = _CHANGED.fullmatch(kill)
    if match is None:
        return plain(kill)
    became = f"to {code(match[2])}" if match[2] is not None else "removed"
    return f"{code(match[1])} {became} in line {match[3]}"


def counted(tests: Iterable[Proposal]) -> str:
    """Return how many tests these are, with the noun; a case is a test, as in the headline of a run."""
    return plural(sum(test.count for test in tests), "test")


def faults(kills: Iterable[str], most: int) -> str:
    """Return killed mutants in Markdown, the first few, alike ones once."""
    shown = list(dict.fromkeys(fault(kill) for kill in kills))
    return ", ".join(shown[:most]) + (" and more" if len(shown) > most else "")


def proposals(report: RunReport) -> tuple[Proposal, ...]:
    """Return all proposed test functions of a run, in the order of its targets."""
    found: list[Proposal] = []
    for target in report.targets:
        if target.suite is None:
            continue
        places = _places(target)
        by_name: dict[str, list[Judgement]] = {}
        for row in target.kept:
            by_name.setdefault(_name(row.id), []).append(row)
        for proof in evidence(target):
            rows = by_name.get(proof.name, [])
            killed = [key for row in rows for key in row.mutants_killed]
            kill_lines = tuple(sorted({places[key][0] for key in killed if key in places}))
            functions = {places[key][1] for key in killed if key in places}
            functions |= {_function_at(target, line) for line in proof.lines}
            found.append(
                Proposal(
                    key=f"T{len(found) + 1}",
                    name=proof.name,
                    path=target.suite.path,
                    source=target.target.path,
                    ids=tuple(row.id for row in rows),
                    cases=proof.cases,
                    lines=proof.lines,
                    kills=proof.kills,
                    kill_lines=kill_lines,
                    functions=tuple(sorted(functions - {""})),
                    on_base=proof.on_base,
                    runs=min((row.runs for row in rows), default=0),
                    approved=proof.approved,
                )
            )
    return tuple(found)


def _places(report: TargetReport) -> Mapping[str, tuple[int, str]]:
    """Return line and function of each judged mutant, by id."""
    deltas: list[MutationDelta] = [
        d for d in (report.mutation_file, report.mutation_changed) if d is not None
    ]
    return {v.mutant.id: (v.mutant.first, v.mutant.function) for d in deltas for v in d.after.verdicts}


def _name(node_id: str) -> str:
    """Return a node id without its file and without the parameters of its case, as evidence names it."""
    inside = node_id.partition("::")[2] or node_id
    return clean(inside.partition("[")[0] if inside.endswith("]") else inside)


def _function_at(report: TargetReport, line: int) -> str:
    """Return the innermost changed function that holds a line; empty for none."""
    holding = [function for function in report.target.functions if function.first <= line <= function.last]
    return min(holding, key=lambda function: function.last - function.first).qualname if holding else ""
