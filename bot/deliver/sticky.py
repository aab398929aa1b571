"""The one summary comment of a pull request, edited from run to run."""

from __future__ import annotations

from collections.abc import Iterator

from bot.deliver.bars import percent
from bot.deliver.body import title
from bot.deliver.boxes import draw
from bot.deliver.facts import Facts
from bot.deliver.markdown import cell, code, plain
from bot.deliver.measures import bar
from bot.domain import TargetReport

_ROWS = 20


def render(facts: Facts) -> str:
    """Return the comment: how the last run ended, measure by measure, and the boxes to tick."""
    return "\n\n".join(part for part in _parts(facts) if part)


def _parts(facts: Facts) -> Iterator[str]:
    report = facts.report
    yield f"**testforge**, {code((report.head or '')[:9])}: {plain(title(facts))}."
    if report.reason and report.status != "proposed":
        yield plain(next(iter(report.reason.splitlines()), ""))
    bugs = sum(len(target.suspected_bugs) for target in report.targets)
    if bugs:
        yield "The review says more of what may be bugs."
    yield _table(facts)
    boxes = ["review"]
    if facts.tests and not facts.is_fork:
        offered = {"suggestions": ["apply", "pr"], "stacked-pr": ["apply"], "commit": []}[facts.deliver]
        boxes += offered if facts.can_push else ["pr"]
    yield "\n".join(draw(name) for name in boxes)
    yield "<sub>Ticking a box is the same as the command. `/testforge help` lists them all.</sub>"


def _table(facts: Facts) -> str:
    """Return changed lines and mutants before and after, a row a file."""
    targets = facts.report.targets
    rows = [row for target in targets[:_ROWS] for row in _row(facts, target)]
    if not rows:
        return ""
    if len(targets) > _ROWS:
        rows.append(f"| and {len(targets) - _ROWS} more | | | |")
    return "\n".join(["| | tests | changed lines | mutants |", "|---|---:|---|---|", *rows])


def _row(facts: Facts, target: TargetReport) -> Iterator[str]:
    lines = target.coverage.changed
    mutation = target.mutation_changed
    cells = [
        f"{percent(lines.before)} → {percent(lines.after)} {bar(lines.before, lines.after)}"
        if lines.after is not None
        else "",
        f"{percent(mutation.before.score)} → {percent(mutation.after.score)} {bar(mutation.before.score, mutation.after.score)}"
        if mutation is not None and mutation.after.score is not None
        else "",
    ]
    yield f"| {cell(target.target.path)} | {sum(test.count for test in facts.tests_of(target.target.path))} | {cells[0]} | {cells[1]} |"
