"""The report for a person: suspected bugs first, then target by target what is proposed and what it proves."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.text import Text

from bot.deliver.bars import Bars, Row
from bot.deliver.paragraph import Paragraph
from bot.deliver.wording import Evidence, all_on_base, clean, evidence, line_list, on_base, plural, rejections
from bot.domain import MutantOutcome, MutationDelta, RunReport, Skipped, SuspectedBug, TargetReport, Usage

_STYLES = {
    "proposed": "bold green",
    "nothing-to-test": "bold",
    "no-useful-tests": "bold yellow",
    "inconclusive": "bold yellow",
    "failed": "bold red",
    "cancelled": "bold yellow",
}
_KILLS_SHOWN = 3
_NAMES_SHOWN = 5
_LOG_SHOWN = 15


def render(report: RunReport, *, applied: Sequence[str] = (), patch: str = "") -> ConsoleRenderable:
    """Return the report of a run, to be printed with rich at any width, with colours or without.

    Args:
        applied: The test files that have been written into the working tree.
        patch: The file that a patch has been written to.
    """
    return _Report(report, tuple(applied), patch)


@dataclass(frozen=True, slots=True)
class _Report:
    """The whole report."""

    report: RunReport
    applied: tuple[str, ...]
    patch: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._head()
        for target in self.report.targets:
            yield from _bugs(target.suspected_bugs)
        for target in self.report.targets:
            yield from _target(target)
        yield from _set_aside(self.report.targets)
        yield from _skipped(self.report.skipped)
        yield from self._end()

    def _head(self) -> Iterator[ConsoleRenderable]:
        """Yield the headline, and what was compared with what."""
        report = self.report
        yield Paragraph(headline(report), _STYLES.get(report.status, "bold"), 0)
        if report.reason and report.status != "proposed":
            yield from _told(report.reason)
        if report.base is not None:
            head = report.head[:9] if report.head is not None else "the working tree"
            compared = f"{report.base[:9]} to {head}, "
        else:
            compared = ""
        about = f"{compared}model {clean(report.model)}, sandbox {clean(report.sandbox)}"
        yield Paragraph(about, "dim", 0)

    def _end(self) -> Iterator[ConsoleRenderable]:
        """Yield cost and time, and what can be done next."""
        report = self.report
        usage = report.usage
        tokens = usage.prompt + usage.completion
        yield Text()
        spent = f"Took {seconds(report.wall_s)}, {plural(tokens, 'token')}, {_cost(usage)}."
        yield Paragraph(spent, "dim", 0)
        if self.applied:
            yield Paragraph(f"Written: {', '.join(map(clean, self.applied))}.", indent=0)
        if not any(target.kept for target in report.targets):
            return
        if self.patch:
            quoted = clean(shlex.quote(self.patch))
            yield Paragraph(f"Patch: {quoted}. Apply it with `git apply {quoted}`.", indent=0)
        elif not self.applied:
            advice = "Nothing was written. Add --apply to write the tests, or --patch FILE for a patch."
            yield Paragraph(advice, indent=0)


def headline(report: RunReport) -> str:
    """Return the one sentence that sums a run up."""
    kept = sum(len(target.kept) for target in report.targets)
    files = sum(bool(target.kept) for target in report.targets)
    bugs = sum(len(target.suspected_bugs) for target in report.targets)
    sentence = {
        "proposed": f"{plural(kept, 'test')} proposed for {plural(files, 'changed file')}",
        "nothing-to-test": "Nothing to test",
        "no-useful-tests": "No test was found that proves anything beyond the existing ones",
        "inconclusive": "Inconclusive: the tests could not be run",
        "failed": "Failed",
        "cancelled": f"Cancelled; {plural(kept, 'test')} found until then",
    }.get(report.status, clean(report.status))
    return sentence + (f"; {plural(bugs, 'suspected bug')}" if bugs else "")


def _bugs(bugs: Sequence[SuspectedBug]) -> Iterator[ConsoleRenderable]:
    """Yield the places where the code contradicts what its documentation says."""
    for bug in bugs:
        yield Text()
        kind = "Confirmed" if bug.confirmed_by else "Suspected"
        yield Paragraph(f"{kind} bug in {clean(bug.function)}", "bold red", 0)
        yield Paragraph(f"expected  {clean(bug.expected)}")
        yield Paragraph(f"observed  {clean(bug.observed)}")
        yield Paragraph(f"shown by  {clean(bug.test)} (not proposed: judge for yourself)", style="dim")


def _target(report: TargetReport) -> Iterator[ConsoleRenderable]:
    """Yield what was found out about one target."""
    target = report.target
    yield Text()
    yield Paragraph(clean(target.path), "bold", 0)
    # Overloads, and a property's getter and setter, share one name.
    names = list(dict.fromkeys(clean(function.qualname) for function in target.functions))
    if target.whole_file:
        yield Paragraph(f"whole file, {plural(len(names), 'function')}", style="dim")
    elif names:
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        yield Paragraph(f"changed: {', '.join(names[:_NAMES_SHOWN])}{more}", style="dim")
    if report.status != "proposed":
        yield from _told(f"{report.status}: {report.reason}" if report.reason else report.status, by=2)
    if report.suite is not None:
        verb = "new file" if report.suite.is_new else "extends"
        yield Paragraph(f"{verb} {clean(report.suite.path)}", style="dim")
    proofs = evidence(report)
    outcomes = {proof.on_base for proof in proofs}
    alike = len(proofs) > 1 and len(outcomes) == 1
    if alike and all_on_base(proofs[0].on_base):
        yield Paragraph(all_on_base(proofs[0].on_base), "dim")
    for proof in proofs:
        yield from _proof(proof, with_base=not alike)
    rows = _measures(report)
    if rows:
        yield Text()
        yield Bars(rows)
    yield from _left_out(report)


def _proof(proof: Evidence, *, with_base: bool) -> Iterator[ConsoleRenderable]:
    """Yield a proposed test and what it proves."""
    name = Text("  + ", style="green")
    name.append(proof.name, style="default")
    if proof.cases > 1:
        name.append(f" ({proof.cases} cases)", style="dim")
    yield name
    parts = []
    if proof.lines:
        parts.append(f"covers {'lines' if len(proof.lines) > 1 else 'line'} {line_list(proof.lines)}")
    if proof.kills:
        more = len(proof.kills) - _KILLS_SHOWN
        shown = ", ".join(proof.kills[:_KILLS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        parts.append(f"kills {plural(len(proof.kills), 'mutant')}: {shown}")
    if with_base and on_base(proof.on_base):
        parts.append(on_base(proof.on_base))
    if parts:
        yield Paragraph("; ".join(parts), "dim", 6)


def _measures(report: TargetReport) -> list[Row]:
    """Return coverage and mutation score as rows; what could not be measured at all is left out."""
    rows = []
    coverage = report.coverage
    for name, delta in (
        ("changed lines", coverage.changed),
        ("file's lines", coverage.file),
        ("file's branches", coverage.branch),
    ):
        if (delta.before, delta.after) != (None, None):
            rows.append(Row(name, delta.before, delta.after))
    for name, mutation in (
        ("mutants, changed", report.mutation_changed),
        ("mutants, file", report.mutation_file),
    ):
        if mutation is not None and mutation.after.score is not None:
            rows.append(Row(name, mutation.before.score, mutation.after.score, _caught(mutation)))
    names = {row.name for row in rows}
    # Of a whole file every line is a changed one, so half of the rows would say the same twice.
    twice = (
        {"changed lines": "file's lines", "mutants, changed": "mutants, file"}
        if report.target.whole_file
        else {}
    )
    return [row for row in rows if twice.get(row.name) not in names]


def _caught(mutation: MutationDelta) -> str:
    """Return how many mutants the score stands on."""
    after = mutation.after
    sampled = ", sampled" if after.sampled_from > after.judged + after.count(MutantOutcome.NOT_RUN) else ""
    return f"{after.caught} of {after.judged}{sampled}"


def _left_out(report: TargetReport) -> Iterator[ConsoleRenderable]:
    """Yield the tests that were written but are not proposed, by reason."""
    rejected = [row for row in report.ledger if not row.kept]
    if rejected:
        yield Text()
        yield Paragraph(f"{plural(len(rejected), 'test')} rejected: {rejections(rejected)}")


def _set_aside(targets: Sequence[TargetReport]) -> Iterator[ConsoleRenderable]:
    """Yield the existing tests that failed before anything was added, once for all targets."""
    red = list(dict.fromkeys(test for target in targets for test in target.red_tests))
    if red:
        title = f"{plural(len(red), 'existing test')} failed before anything was added; set aside"
        yield Text()
        yield Paragraph(title, "bold yellow", 0)
    for test in red[:_NAMES_SHOWN]:
        yield Paragraph(clean(test))
    if len(red) > _NAMES_SHOWN:
        yield Paragraph(f"and {len(red) - _NAMES_SHOWN} more")


def _skipped(skipped: Sequence[Skipped]) -> Iterator[ConsoleRenderable]:
    """Yield the changed files that need no tests."""
    if skipped:
        yield Text()
        yield Paragraph("Not tested", "bold", 0)
    for file in skipped:
        yield Paragraph(f"{clean(file.path)} {clean(file.reason)}")


def _told(reason: str, by: int = 0) -> Iterator[ConsoleRenderable]:
    """Yield a reason: its sentence, and below it the end of the log that may come with it."""
    sentence, *log = reason.splitlines() or [""]
    yield Paragraph(clean(sentence), indent=by)
    if len(log) > _LOG_SHOWN:
        yield Paragraph(f"({len(log) - _LOG_SHOWN} lines before these)", style="dim", indent=by + 4)
    for line in log[-_LOG_SHOWN:]:
        yield Paragraph(clean(line), style="dim", indent=by + 4)


def seconds(value: float) -> str:
    """Return a duration as a person says it: `0.4 s`, `12 s`, `3 min 5 s`."""
    if value < 10:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _cost(usage: Usage) -> str:
    """Return what model calls cost, as far as their prices are known."""
    if not usage.is_unpriced:
        return dollars(usage.cost_usd)
    return (
        f"{dollars(usage.cost_usd)} and what nobody knows the price of"
        if usage.cost_usd
        else "at an unknown price"
    )


def dollars(value: float) -> str:
    """Return an amount of USD; `$0` if nothing was paid."""
    if value == 0:
        return "$0"
    return f"${value:.2f}" if value >= 0.01 else f"${value:.4f}"
