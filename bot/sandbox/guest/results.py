"""What became of one test: its reports of setup, call and teardown folded into one outcome, with a short account."""

from __future__ import annotations

import os
import unittest
from collections.abc import Sequence
from typing import Any

import pytest

MESSAGE_LENGTH = 500
DETAIL_LINES = 40
LINE_LENGTH = 400
FRAMES = 6

_DOCTEST_FAILURES = ("DocTestFailure", "MultipleDoctestFailures")
_TIMEOUT_PLUGIN = ("Timeout >", "Timeout (>")


def describe_failure(excinfo: Any, tree: str) -> dict[str, Any]:
    """Return a short account of an exception.

    Args:
        excinfo: pytest's ExceptionInfo.
        tree: Absolute path of the repository's copy; frames elsewhere are left out.

    Returns:
        `message` (one line), `detail` (frames as `path:line: in function`, then the error as `E` lines),
        `assertion` (whether a test's assertion failed), `timeout` (pytest-timeout ended it).
    """
    text = _text(excinfo)
    detail = [*_frames(excinfo, tree), *(f"E   {line}" for line in _text(excinfo, short=True).splitlines())]
    message = text.splitlines()[0] if text else excinfo.typename
    return {
        "message": message[:MESSAGE_LENGTH],
        "detail": "\n".join(line[:LINE_LENGTH] for line in _shortened(detail)),
        "assertion": _is_assertion(excinfo),
        "timeout": excinfo.typename == "Failed" and str(excinfo.value).startswith(_TIMEOUT_PLUGIN),
    }


def is_failure(excinfo: Any) -> bool:
    """Return whether an exception makes a test fail; one that skips it, or says that it may fail, does not."""
    return not isinstance(excinfo.value, (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest))


def fold(reports: Sequence[Any], raised: str = "") -> dict[str, Any]:
    """Return the outcome of a test from its reports.

    A failure of setup or teardown is an error. A test that passes although it was expected to fail, and is allowed
    to (`strict` is off), counts as xfailed: it is neither passing nor failing.

    Args:
        reports: pytest's reports in order, with the account of `describe_failure` as attribute `account` where
            they failed; those before the last setup belong to an attempt that was repeated.
        raised: Name of the exception that a phase of the last attempt ended with, whatever the reports say of it.

    Returns:
        `outcome`, `duration` (seconds), `message`, `detail`, `assertion`.
    """
    starts = [index for index, report in enumerate(reports) if report.when == "setup"]
    last = list(reports[starts[-1] :]) if starts else list(reports)
    outcome, cause = _verdict(last)
    account = getattr(cause, "account", None) or {}
    if account.get("timeout"):
        outcome = "timed out"
    message = account.get("message", "") or _fallback(cause, outcome)
    if outcome == "passed" and raised:
        outcome, message = "failed", f"it is reported as passed although it ended with {raised}"
    return {
        "outcome": outcome,
        "duration": round(sum(report.duration for report in last), 6),
        "message": message,
        "detail": account.get("detail", ""),
        "assertion": outcome == "failed" and bool(account.get("assertion", False)),
    }


def passed(reports: Sequence[Any]) -> bool:
    """Return whether these reports are those of a passing test."""
    return bool(fold(reports)["outcome"] == "passed")


def function_name(item: Any) -> str:
    """Return a test's name within its file, classes included and parameters left out."""
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return "::".join([*classes, getattr(item, "originalname", None) or item.name])


def _verdict(reports: Sequence[Any]) -> tuple[str, Any]:
    by_phase = {
        phase: [report for report in reports if report.when == phase]
        for phase in ("setup", "call", "teardown")
    }
    for report in by_phase["setup"]:
        if report.failed:
            return "error", report
        if report.skipped:
            return ("xfailed" if hasattr(report, "wasxfail") else "skipped"), report
    for report in by_phase["call"]:
        if report.failed:
            return "failed", report
    for report in by_phase["teardown"]:
        if report.failed:
            return "error", report
    # A subtest may report besides the test itself, which comes last.
    for report in by_phase["call"][-1:]:
        if hasattr(report, "wasxfail"):
            return "xfailed", report
        return ("skipped" if report.skipped else "passed"), report
    return "error", reports[-1] if reports else None


def _is_assertion(excinfo: Any) -> bool:
    expected = (AssertionError, pytest.fail.Exception)
    return isinstance(excinfo.value, expected) or excinfo.typename in _DOCTEST_FAILURES


def _text(excinfo: Any, short: bool = False) -> str:
    if excinfo.typename == "FixtureLookupError":
        return excinfo.value.msg or f"fixture '{excinfo.value.argname}' not found"
    try:
        return str(excinfo.exconly(tryshort=short))
    except Exception:
        # An exception whose own text cannot be made.
        return str(excinfo.typename)


def _frames(excinfo: Any, tree: str) -> list[str]:
    found = []
    for entry in excinfo.traceback:
        path = os.path.join(tree, str(entry.path))
        if path.startswith(tree + os.sep):
            found.append(
                f"{os.path.relpath(path, tree)}:{entry.lineno + 1}: in {entry.name}{_statement(entry)}"
            )
    half = FRAMES // 2
    return found if len(found) <= FRAMES else [*found[:half], "...", *found[-half:]]


def _statement(entry: Any) -> str:
    try:
        lines = str(entry.statement).strip().splitlines()
    except Exception:
        # The source is gone or was never a file.
        return ""
    return f"\n    {lines[0].strip()}" if lines else ""


def _shortened(lines: Sequence[str]) -> list[str]:
    flat = [part for line in lines for part in line.split("\n")]
    if len(flat) <= DETAIL_LINES:
        return flat
    half = DETAIL_LINES // 2
    return [*flat[:half], f"... {len(flat) - 2 * half} lines cut", *flat[-half:]]


def _fallback(report: Any, outcome: str) -> str:
    """Return a line for what has no exception: the reason of a skip, or a strict xfail that passed."""
    if report is None or outcome == "passed":
        return ""
    longrepr = report.longrepr
    reason = longrepr[2] if isinstance(longrepr, tuple) and len(longrepr) == 3 else longrepr
    reason = getattr(report, "wasxfail", None) or reason
    lines = str(reason or "").strip().splitlines()
    return lines[-1][:MESSAGE_LENGTH] if lines else ""
