"""The proposed suite on the base commit: what fails there shows the change, what passes guards it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.domain import Outcome, Suite
from bot.errors import MeasureError, SandboxError
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox

_WORDS = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "failed",
    Outcome.ERROR: "error",
}


def outcomes_on_base(
    box: Sandbox, suite: Suite, tests: Sequence[str], timeout_s: float
) -> Mapping[str, str | None]:
    """Return each test's outcome on base: `passed`, `failed` or `error`; None where it could not be run.

    Args:
        box: A sandbox over the base commit's tree.
        suite: The file as it is delivered.
        tests: Node ids of its kept tests.
        timeout_s: Limit for the run, in seconds.
    """
    try:
        box.write(suite.path, suite.content.encode())
        run = run_tests(box, [suite.path], timeout_s=timeout_s)
    except (MeasureError, SandboxError):
        return dict.fromkeys(tests)
    if any(error.path == suite.path for error in run.collection_errors):
        return dict.fromkeys(tests, "error")
    found = {result.id: _WORDS.get(result.outcome) for result in run.results}
    return {test: found.get(test) for test in tests}
