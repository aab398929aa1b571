"""Test outcomes by exact node id: one run of pytest in a sandbox, read from the guest's journal (METHODS 1.5)."""

from __future__ import annotations

import json
import posixpath
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from bot.domain import CollectionError, Outcome, SuiteRun, TestResult
from bot.errors import MeasureError
from bot.measure.coverage import CoverageReader
from bot.sandbox import Completed, Sandbox

GRACE_S = 10.0
"""What the guest gets beyond its own time limit to end its children and write why."""
OUTPUT_LENGTH = 20_000


def run_tests(
    box: Sandbox,
    selection: Sequence[str] = (),
    *,
    cover: Sequence[str] = (),
    order_seed: int | None = None,
    hash_seed: int = 0,
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
        timeout_s: Limit for the run, in seconds.
        test_timeout_s: Limit for one test and for importing one test file, in seconds.

    Returns:
        Every result. Red tests, crashes and hangs are results, not errors.

    Raises:
        MeasureError: The guest itself gave no result.
    """
    place = posixpath.join(box.scratch, f"run-{uuid.uuid4().hex}")
    journal = posixpath.join(place, "journal.jsonl")
    job = {
        "tree": box.tree,
        "scratch": place,
        "journal": journal,
        "selection": list(selection),
        "cover": list(cover),
        "order_seed": order_seed,
        "timeout_s": timeout_s,
        "test_timeout_s": test_timeout_s,
    }
    box.write(posixpath.join(place, "job.json"), json.dumps(job).encode())
    try:
        completed = box.run(
            [box.interpreter.command, posixpath.join(box.guest, "run.py"), posixpath.join(place, "job.json")],
            timeout_s=timeout_s + GRACE_S,
            env={"PYTHONHASHSEED": str(hash_seed)},
        )
        events = _events(box, journal)
    finally:
        box.remove(place)
    if not events:
        raise MeasureError(
            "The tests could not be started: the interpreter of the repository's environment gave no result.",
            detail=_output(completed),
        )
    return _suite_run(events, completed, timeout_s)


def _events(box: Sandbox, journal: str) -> list[dict[str, Any]]:
    try:
        content = box.read(journal, limit=1024**3)
    except FileNotFoundError:
        return []
    # The last line may be cut where the sandbox was ended.
    lines = content.splitlines() if content.endswith(b"\n") else content.splitlines()[:-1]
    return [json.loads(line) for line in lines]


def _suite_run(events: Sequence[Mapping[str, Any]], completed: Completed, timeout_s: float) -> SuiteRun:
    results: dict[str, TestResult] = {}
    begun: dict[str, Mapping[str, Any]] = {}
    errors: dict[str, str] = {}
    coverage = CoverageReader()
    crash = _runner_crash(completed, timeout_s)
    for event in events:
        match event["event"]:
            case "begin":
                begun[event["id"]] = event
            case "test":
                results[event["id"]] = _result(event, begun.get(event["id"], {}))
            case "collected":
                errors |= event["errors"]
            case "uncollectable":
                errors[event["path"]] = event["message"]
            case "crash":
                crash = event["message"]
            case "file" | "cover" | "uses":
                coverage.add(event)
    for name, event in begun.items():
        if name not in results:  # the runner itself was ended: it could not say so any more
            results[name] = _cut_short(event, crash, completed.timed_out)
    return SuiteRun(
        results=tuple(results.values()),
        collection_errors=tuple(CollectionError(path, errors[path]) for path in sorted(errors)),
        coverage=coverage.files(list(results)),
        crash=crash,
        output=_output(completed),
        duration_s=completed.duration_s,
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


def _cut_short(begun: Mapping[str, Any], crash: str, timed_out: bool) -> TestResult:
    """Return the result of a test that was running when everything ended."""
    return TestResult(
        id=begun["id"],
        outcome=Outcome.TIMED_OUT if timed_out else Outcome.ERROR,
        message=crash or "the run ended while it was running",
        function=begun["function"],
        case=begun["case"],
    )


def _output(completed: Completed) -> str:
    return (completed.stdout + completed.stderr)[-OUTPUT_LENGTH:]
