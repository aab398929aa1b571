"""Hollow tests: those that still pass when the functions they execute are emptied (DESIGN section 5)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain import SuiteRun, Target
from bot.errors import MeasureError
from bot.measure.guest_jobs import run_job
from bot.sandbox import Sandbox

START_S = 120.0
"""What importing the suite may take, in seconds."""


def hollow_tests(box: Sandbox, target: Target, run: SuiteRun, tests: Sequence[str]) -> frozenset[str]:
    """Return those tests that cannot fail by what the target does.

    A test is hollow if it still passes when the body of every function of the target that it executes is emptied,
    or if it executes none.

    Args:
        box: Where the tests are; its tree holds the target's text.
        target: The source file.
        run: A run of the tests with coverage of the target.
        tests: Node ids of passing tests to judge.

    Raises:
        MeasureError: The tests could not be run again.
    """
    coverage = run.coverage.get(target.path)
    if coverage is None:
        raise MeasureError(
            f"Which functions of {target.path} the tests execute is not known: their run has no coverage of it.",
            detail=run.crash,
        )
    seconds = {result.id: result.duration_s for result in run.results}
    asked = [
        {"id": test, "lines": sorted(coverage.lines_by_test.get(test, ())), "seconds": seconds.get(test, 0.0)}
        for test in dict.fromkeys(tests)
    ]
    reaching = [row for row in asked if row["lines"]]
    passing = _passing_when_emptied(box, target, reaching)
    return frozenset(tests) - {str(row["id"]) for row in reaching} | passing


def _passing_when_emptied(box: Sandbox, target: Target, tests: Sequence[dict[str, object]]) -> frozenset[str]:
    if not tests:
        return frozenset()
    # With nothing emptied it must pass; otherwise not passing says nothing here.
    canary = {**min(tests, key=lambda test: float(str(test["seconds"]))), "lines": []}
    job = {
        "path": target.path,
        "module": target.module,
        "source": target.source,
        "tests": [*tests, canary],
    }
    limit = START_S + sum(2.0 + 20.0 * float(str(test["seconds"])) for test in tests)
    answer = run_job(box, "hollow", job, timeout_s=limit)
    problems = [
        str(row.get("message", row.get("problem")))
        for row in answer.rows
        if "problem" in (row.get("event"), *row)
    ]
    if answer.forged:
        problems = [f"The check for hollow tests is not believed: {answer.forged}."]
    if problems or not answer.rows:
        raise MeasureError(
            problems[0] if problems else "The check for hollow tests gave no result.", detail=answer.output
        )
    checked = [row for row in answer.rows if row.get("event") == "checked"]
    if any(row["whole"] and not row["passes"] for row in checked):
        raise MeasureError(
            f"The check for hollow tests is not believed: {canary['id']} does not pass there even with nothing emptied."
        )
    return frozenset(str(row["id"]) for row in checked if row["passes"] and not row["whole"])
