"""The canary among mutants: one that changes nothing, so that a test which kills it is not killing mutants at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.domain import MutantOutcome, SuiteRun
from bot.errors import MeasureError


def add(job: dict[str, Any], run: SuiteRun) -> None:
    """Add it to a job of the engine as the last mutant, in a place that the fewest seconds of tests reach.

    There is none where every mutant runs at import, or where the guest itself looks for equivalent ones.
    """
    if job["check"] != "compiles":
        return
    seconds = {result.id: result.duration_s for result in run.results}
    imported = frozenset(job["import_lines"])
    places = []
    for number, row in enumerate(job["mutants"]):
        lines = frozenset(range(row["first"], row["last"] + 1))
        reaching = [test for test, reached in job["lines"].items() if not lines.isdisjoint(reached)]
        if reaching and lines.isdisjoint(imported):
            places.append((sum(seconds.get(test, 0.0) for test in reaching), number))
    if places:
        row = job["mutants"][min(places)[1]]
        job["mutants"].append({**row, "text": job["source"][row["start"] : row["end"]], "without": []})


def check(row: Mapping[str, Any] | None, job: Mapping[str, Any]) -> None:
    """Look at its verdict.

    Args:
        row: The engine's, if it gave one.

    Raises:
        MeasureError: It was killed.
    """
    if row is not None and row["outcome"] == MutantOutcome.KILLED:
        raise MeasureError(
            f"The mutation score is not believed: {job['tests'][row['test']]} also kills a mutant that changes nothing, "
            "so it fails now and then, or something forges results."
        )
