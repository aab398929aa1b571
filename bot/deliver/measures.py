"""Measures before and after as a table of Markdown, with small bars."""

from __future__ import annotations

from collections.abc import Iterator

from bot.deliver.bars import percent
from bot.domain import MutationDelta, TargetReport

_BAR = 10  # characters of a bar


def table(target: TargetReport) -> str:
    """Return the table of measures before and after; empty where nothing could be measured."""
    coverage = target.coverage
    rows: list[str] = []
    named = (
        ("Changed lines", coverage.changed),
        ("Lines of the file", coverage.file),
        ("Branches of the file", coverage.branch),
    )
    for name, delta in named:
        if delta.after is not None:
            rows.append(
                f"| {name} | {percent(delta.before)} | {percent(delta.after)} | {bar(delta.before, delta.after)} |"
            )
    mutation = target.mutation_file if target.target.whole_file else target.mutation_changed
    what = "Mutants of the file" if target.target.whole_file else "Mutants of changed lines"
    rows.extend(_mutation(what, mutation))
    if not rows:
        return ""
    return "\n".join(["| | before | after | |", "|---|---:|---:|---|", *rows])


def _mutation(name: str, delta: MutationDelta | None) -> Iterator[str]:
    """Yield the row of the mutation score."""
    if delta is None or delta.after.score is None:
        return
    before, after = delta.before.score, delta.after.score
    counts = f"{delta.after.caught} of {delta.after.judged}"
    yield f"| {name} | {percent(before)} | {percent(after)} | {bar(before, after)} {counts} |"


def bar(before: float | None, after: float) -> str:
    """Return a small bar: what was there, what was added, what is missing."""
    end = round(after * _BAR)
    start = min(end, round((before or 0.0) * _BAR))
    return f"`{'█' * start}{'▓' * (end - start)}{'░' * (_BAR - end)}`"
