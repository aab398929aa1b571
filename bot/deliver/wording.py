"""The words for evidence, the same wherever a run is told: plain text, safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.domain import Judgement, Mutant, Reason, TargetReport, ranges

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor movement
    r"|[\]PX^_].*?(?:\x07|\x1b\\|$)"  # titles, links and other strings
    r"|[ -/]*[0-~])",
    re.DOTALL,
)
# Controls, bidirectional overrides and isolates, and what else is invisible but changes how text looks.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
_WORDS = {
    Reason.FAILS: ("fails", "fail"),
    Reason.ERRORS: ("ends in an error", "end in errors"),
    Reason.FLAKY: ("is flaky", "are flaky"),
    Reason.SLOW: ("is slow", "are slow"),
    Reason.HOLLOW: ("is hollow", "are hollow"),
    Reason.ADDS_NOTHING: ("adds nothing", "add nothing"),
    Reason.DUPLICATE: ("is a duplicate", "are duplicates"),
    Reason.TOUCHES_SOURCE: ("needs source edits", "need source edits"),
    Reason.UNSAFE: ("is unsafe", "are unsafe"),
    Reason.DISMISSED: ("was dismissed earlier", "were dismissed earlier"),
    Reason.SUSPECTED_BUG: ("suspects a bug", "suspect a bug"),
}


def clean(text: str) -> str:
    """Return text of a repository or a model on one line, without escape sequences and control characters."""
    visible = _INVISIBLE.sub("", _ESCAPES.sub("", text).replace("\n", " ").replace("\t", " "))
    return visible.encode("utf-8", "backslashreplace").decode("utf-8")


def plural(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 test`, `3 tests`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def line_list(lines: Iterable[int], most: int = 6) -> str:
    """Return lines as ranges, `3-10, 12`, the first few if there are many."""
    spans = ranges(lines)
    shown = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans[:most])
    return f"{shown} and more" if len(spans) > most else shown


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one proposed test function proves, its parametrised cases taken together.

    Attributes:
        name: Its node id without the file, such as `TestCache::test_pop`.
        cases: How many of its cases are kept; 0 if it has none.
        lines: Lines that only it and those before it cover.
        kills: What it kills, as short descriptions of mutants.
        on_base: Its outcome on base: of its cases', `failed` before `error` before `passed`; None if not run there.
        approved: That an author approved it, and who; empty for a test that was written to prove something.
    """

    name: str
    cases: int
    lines: tuple[int, ...]
    kills: tuple[str, ...]
    on_base: str | None
    approved: str = ""


def evidence(report: TargetReport) -> tuple[Evidence, ...]:
    """Return the evidence of each proposed test function, in the order of the ledger."""
    mutants = _mutants(report)
    grouped: dict[str, list[Judgement]] = {}
    for row in report.kept:
        grouped.setdefault(_function(row.id), []).append(row)
    return tuple(
        Evidence(
            name=clean(name),
            cases=sum(row.id.endswith("]") for row in rows),
            lines=tuple(sorted({line for row in rows for line in row.lines_gained})),
            kills=tuple(
                describe(mutants[key]) if key in mutants else clean(key)
                for row in rows
                for key in row.mutants_killed
            ),
            on_base=_worst([row.on_base for row in rows]),
            approved=clean(next((row.note for row in rows if row.note), "")),
        )
        for name, rows in grouped.items()
    )


def _mutants(report: TargetReport) -> Mapping[str, Mutant]:
    """Return the mutants that were judged, by id."""
    deltas = [delta for delta in (report.mutation_file, report.mutation_changed) if delta is not None]
    return {v.mutant.id: v.mutant for delta in deltas for v in delta.after.verdicts}


def _function(node_id: str) -> str:
    """Return a node id without its file and without the parameters of its case."""
    _, _, inside = node_id.partition("::")
    name = inside or node_id
    return name.partition("[")[0] if name.endswith("]") else name


def _worst(outcomes: Sequence[str | None]) -> str | None:
    """Return the outcome that says most of several."""
    for outcome in ("failed", "error", "passed"):
        if outcome in outcomes:
            return outcome
    return None


def on_base(outcome: str | None) -> str:
    """Return what a test's outcome on the base commit means; empty if it was not run there."""
    return {
        "passed": "passes on base, so it guards against regression",
        "failed": "fails on base, so it shows the change",
        "error": "does not run on base, for it needs the change",
    }.get(outcome or "", "")


def all_on_base(outcome: str | None) -> str:
    """Return the same of all proposed tests of a file."""
    return {
        "passed": "all pass on base, so they guard against regression",
        "failed": "all fail on base, so they show the change",
        "error": "none runs on base, for they need the change",
    }.get(outcome or "", "")


def describe(mutant: Mutant) -> str:
    """Return a mutant in a few words: what became of which text, such as "`>` to `>=` in line 12"."""
    removed = _side(mutant.diff, "-")
    added = _side(mutant.diff, "+")
    if not removed and not added:
        return f"{clean(mutant.operator)} in line {mutant.first}"
    before, after = _difference(removed, added)
    if not before or not after:
        before, after = removed, added
    change = f"`{_short(before)}` to `{_short(after)}`" if after else f"`{_short(before)}` removed"
    return f"{change} in line {mutant.first}"


def _side(diff: str, sign: str) -> str:
    """Return the text of one side of a small diff, on one line."""
    lines = [line[1:].strip() for line in diff.splitlines() if line.startswith(sign)]
    return clean(" ".join(lines))


def _difference(before: str, after: str) -> tuple[str, str]:
    """Return the words in which two texts differ, without what both begin and end with."""
    old = re.findall(r"\w+|\s+|[^\w\s]+", before)
    new = re.findall(r"\w+|\s+|[^\w\s]+", after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return "".join(old[start : len(old) - end]).strip(), "".join(new[start : len(new) - end]).strip()


def _short(text: str, most: int = 24) -> str:
    """Return the beginning of a text that is too long to be part of a sentence."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def rejections(ledger: Iterable[Judgement]) -> str:
    """Return rejected tests by reason with counts, the most frequent first: `3 add nothing, 1 is flaky`."""
    counts: dict[Reason, int] = {}
    for row in ledger:
        if row.reason is not None:
            counts[row.reason] = counts.get(row.reason, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0].value))
    return ", ".join(f"{count} {_WORDS[reason][count > 1]}" for reason, count in ordered)
