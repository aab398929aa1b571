"""What `testforge score` says of a test file: outcomes, coverage, mutation score, hollow tests, survivors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.text import Text

from bot.deliver.bars import Bars, Row
from bot.deliver.paragraph import Paragraph
from bot.deliver.record import SCHEMA, Json, mutation_counts
from bot.deliver.wording import clean, describe, plural
from bot.domain import Mutant, MutantOutcome, MutationResult, Outcome, SuiteRun, spread

if TYPE_CHECKING:
    from bot.measure.score import Score

_SURVIVORS_SHOWN = 10
_TESTS_SHOWN = 10
Interval = tuple[float, float]


def render(score: Score, source: str, test_file: str, interval: Interval | None) -> ConsoleRenderable:
    """Return the score card, to be printed with rich.

    Args:
        source, test_file: The paths that were given.
        interval: The mutation score's 95% interval; both ends are the score if no mutants were left out.
    """
    return _Card(score, source, test_file, interval)


def as_json(score: Score, source: str, test_file: str, interval: Interval | None) -> Json:
    """Return the score card as plain data, schema 1: fractions 0..1, seconds; null is what could not be measured."""
    run = score.run
    return {
        "schema": SCHEMA,
        "source": source,
        "test_file": test_file,
        "pass_at_1": score.pass_at_1,
        "outcomes": {outcome.value: len(run.ids(outcome)) for outcome in Outcome},
        "tests": [
            {
                "id": result.id,
                "outcome": result.outcome.value,
                "hollow": result.id in score.hollow,
                "message": result.message,
                "duration_s": round(result.duration_s, 3),
            }
            for result in run.results
        ],
        "collection_errors": [
            {"path": error.path, "message": error.message} for error in run.collection_errors
        ],
        "crash": run.crash or None,
        "coverage": {"lines": score.lines, "branches": score.branches},
        "mutation": None if score.mutation is None else _mutation(score.mutation, interval),
        "hollow": sorted(score.hollow),
        "duration_s": round(run.duration_s, 3),
    }


def _mutation(result: MutationResult, interval: Interval | None) -> Json:
    """Return mutation results with the survivors."""
    return {
        **mutation_counts(result),
        "interval_95": None if interval is None else list(interval),
        "sampled_from": result.sampled_from,
        "survivors": [
            {
                "id": mutant.id,
                "function": mutant.function,
                "lines": [mutant.first, mutant.last],
                "diff": mutant.diff,
            }
            for mutant in result.survivors
        ],
    }


@dataclass(frozen=True, slots=True)
class _Card:
    """The score card for a person."""

    score: Score
    source: str
    test_file: str
    interval: Interval | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Paragraph(f"{clean(self.test_file)} against {clean(self.source)}", "bold", 0)
        yield from _outcomes(self.score.run)
        rows = list(self._rows())
        if rows:
            yield Text()
            yield Bars(rows, before_known=False)
            yield from self._remarks()
        if self.score.hollow:
            yield Text()
            yield from _listed(
                f"{plural(len(self.score.hollow), 'test')} hollow: still green with every function body emptied",
                sorted(self.score.hollow),
            )
        if self.score.mutation is not None:
            yield from _survivors(self.score.mutation.survivors)

    def _rows(self) -> Iterator[Row]:
        """Yield what was measured."""
        if self.score.lines is not None:
            yield Row("lines", None, self.score.lines)
        if self.score.branches is not None:
            yield Row("branches", None, self.score.branches)
        mutation = self.score.mutation
        if mutation is not None and mutation.score is not None:
            yield Row("mutants", None, mutation.score, f"{mutation.caught} of {mutation.judged}")

    def _remarks(self) -> Iterator[ConsoleRenderable]:
        """Yield what else there is to know about the mutation score."""
        mutation = self.score.mutation
        if mutation is None:
            return
        parts = [
            f"{mutation.count(outcome)} {words}"
            for outcome, words in (
                (MutantOutcome.TIMEOUT, "by time-out"),
                (MutantOutcome.EQUIVALENT, "equivalent"),
                (MutantOutcome.INCOMPETENT, "incompetent"),
                (MutantOutcome.NOT_RUN, "not run"),
            )
            if mutation.count(outcome)
        ]
        low, high = self.interval or (0.0, 0.0)
        if low < high:
            parts.append(
                f"a sample of {mutation.sampled_from}: the whole lies in {low:.2f} to {high:.2f} (95%)"
            )
        if parts:
            yield Paragraph(f"Of the mutants, {', '.join(parts)}.", "dim")


def _outcomes(run: SuiteRun) -> Iterator[ConsoleRenderable]:
    """Yield how many tests had which outcome, and what went wrong."""
    counts = [
        f"{len(run.ids(outcome))} {outcome.value}"
        for outcome in Outcome
        if run.ids(outcome) or outcome is Outcome.PASSED
    ]
    yield Paragraph(", ".join(counts), indent=0)
    if run.crash:
        yield Paragraph(f"pytest {clean(run.crash)}", "red", 0)
    for error in run.collection_errors:
        yield Paragraph(f"{clean(error.path)} could not be collected: {clean(error.reason)}", "red", 0)
    wrong = [r for r in run.results if r.outcome.is_red]
    if wrong:
        yield Text()
        yield from _listed("Not green", [f"{result.id}: {result.message}" for result in wrong])


def _survivors(survivors: Sequence[Mutant]) -> Iterator[ConsoleRenderable]:
    """Yield surviving mutants, spread over functions, as many as are shown."""
    if not survivors:
        return
    yield Text()
    shown = spread(survivors, _SURVIVORS_SHOWN)
    more = f" ({len(shown)} of {len(survivors)})" if len(shown) < len(survivors) else ""
    yield Paragraph(f"Changes that no test notices{more}", "bold", 0)
    for function in dict.fromkeys(mutant.function for mutant in shown):
        yield Paragraph(clean(function) or "outside functions")
        for mutant in shown:
            if mutant.function == function:
                yield Paragraph(describe(mutant), indent=4, style="dim")


def _listed(title: str, items: Sequence[str]) -> Iterator[ConsoleRenderable]:
    """Yield a title and the first items below it."""
    yield Paragraph(title, "bold yellow", 0)
    for item in items[:_TESTS_SHOWN]:
        yield Paragraph(clean(item))
    if len(items) > _TESTS_SHOWN:
        yield Paragraph(f"and {len(items) - _TESTS_SHOWN} more")
