"""Test outcomes by exact node id: one run of pytest in a sandbox, read from the guest's journal (METHODS 1.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.domain import CollectionError, Outcome, SuiteRun, TestResult
from bot.errors import MeasureError
from bot.measure.coverage import CoverageReader
from bot.measure.guest_jobs import Answer, run_job
from bot.sandbox import Completed, Sandbox

GRACE_S = 10.0
"""What the guest gets beyond its own time limit to end its children and write why."""


def run_tests(
    box: Sandbox,
    selection: Sequence[str] = (),
    *,
    cover: Sequence[str] = (),
    order_seed: int | None = None,
    hash_seed: int = 0,
    elsewhere: bool = False,
    timeout_s: float = 120.0,
    test_timeout_s: float = 20.0,
) -> SuiteRun:
    """Run tests in a sandbox, under the repository's own pytest configuration.

    Args:
        box: Where to run them.
        selection: Files and exact node ids, relative to the tree; empty is the repository's default collection.
        cover: Source files to trace, lines and branches by test.
        order_seed: Shuffles the order of files, classes and tests; None keeps the repository's.
        hash_seed: PYTHONHASHSEED.
        elsewhere: Let each test see another machine: processor, release, C library, host name, number of cores.
        timeout_s: Limit for the run, in seconds.
        test_timeout_s: Limit for one test and for importing one test file, in seconds.

    Returns:
        Every result. Red tests, crashes and hangs are results, not errors.

    Raises:
        MeasureError: The guest itself gave no result.
    """
    job = {
        "selection": list(selection),
        "cover": list(cover),
        "order_seed": order_seed,
        "elsewhere": elsewhere,
        "timeout_s": timeout_s,
        "test_timeout_s": test_timeout_s,
    }
    answer = run_job(box, "run", job, timeout_s=timeout_s + GRACE_S, hash_seed=hash_seed)
    if not answer.rows and not answer.forged:
        raise MeasureError(
            "The tests could not be started: the interpreter of the repository's environment gave no result.",
            detail=answer.output,
        )
    return _suite_run(answer, timeout_s)


def _suite_run(answer: Answer, timeout_s: float) -> SuiteRun:
    results: dict[str, TestResult] = {}
    begun: dict[str, Mapping[str, Any]] = {}
    errors: dict[str, str] = {}
    coverage = CoverageReader()
    crash = _runner_crash(answer.completed, timeout_s)
    for event in answer.rows:
        match event.get("event"):
            case "begin":
                begun[event["id"]] = event
            case "test":
                found = _result(event, begun.get(event["id"], {}))
                # What is said of a test later never makes its result better.
                if found.id not in results or results[found.id].outcome is Outcome.PASSED:
                    results[found.id] = found
            case "collected":
                errors |= event["errors"]
            case "uncollectable":
                errors[event["path"]] = event["message"]
            case "crash":
                crash = event["message"]
            case "file" | "cover" | "uses" if not answer.forged:
                coverage.add(event)
    for name, start in begun.items():
        if name not in results:  # the runner itself was ended: it could not say so any more
            results[name] = _cut_short(start, crash, answer.completed.timed_out)
    if answer.forged:
        crash = f"its results are not believed, for {answer.forged}"
        results = {name: _not_believed(found, crash) for name, found in results.items()}
    return SuiteRun(
        results=tuple(results.values()),
        collection_errors=tuple(CollectionError(path, errors[path]) for path in sorted(errors)),
        coverage=coverage.files(list(results)),
        crash=crash,
        unsafe=answer.forged,
        output=answer.output,
        duration_s=answer.completed.duration_s,
    )


def _runner_crash(completed: Completed, timeout_s: float) -> str:
    """Return why the guest did not come to its end, however complete its journal looks: no disk, no memory."""
    if completed.timed_out or completed.exit_code is None:
        return f"timed out after {timeout_s:g} s"
    if completed.exit_code == 0:
        return ""
    lines = completed.stderr.strip().splitlines()
    return f"the test runner exited with {completed.exit_code}{': ' + lines[-1] if lines else ''}"


def _result(event: Mapping[str, Any], begun: Mapping[str, Any]) -> TestResult:
    return TestResult(
        id=event["id"],
        outcome=Outcome(event["outcome"]),
        duration_s=event["duration"],
        message=event["message"],
        detail=event["detail"],
        assertion=event["assertion"],
        function=begun.get("function", ""),
        case=begun.get("case", {}),
    )


def _not_believed(found: TestResult, why: str) -> TestResult:
    """Return an error in place of a result that is better than one."""
    return found if found.outcome.is_red else replace(found, outcome=Outcome.ERROR, message=why)


def _cut_short(begun: Mapping[str, Any], crash: str, timed_out: bool) -> TestResult:
    """Return the result of a test that was running when everything ended."""
    return TestResult(
        id=begun["id"],
        outcome=Outcome.TIMED_OUT if timed_out else Outcome.ERROR,
        message=crash or "the run ended while it was running",
        function=begun["function"],
        case=begun["case"],
    )
