"""A run as JSON, schema 1: what `--json` writes and what a run's record holds. Keys are never left out."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bot.domain import (
    CoverageDeltas,
    Delta,
    Judgement,
    MutantOutcome,
    MutationDelta,
    MutationResult,
    RunReport,
    Skipped,
    TargetReport,
    ranges,
)

SCHEMA = 1

Json = dict[str, object]


def as_json(report: RunReport) -> Json:
    """Return a run as plain data: fractions 0..1, seconds, USD; null is what could not be measured.

    Changed files that needed no tests stand after the targets, with the status `nothing-to-test` and the reason.
    """
    usage = report.usage
    return {
        "schema": SCHEMA,
        "base": report.base,
        "head": report.head,
        "status": report.status,
        "reason": report.reason,
        "model": report.model,
        "sandbox": report.sandbox,
        "wall_s": round(report.wall_s, 3),
        "cost_usd": round(usage.cost_usd, 6),
        "tokens": {"prompt": usage.prompt, "completion": usage.completion, "cached": usage.cached},
        "targets": [*map(_target, report.targets), *map(_skipped, report.skipped)],
    }


def dump(data: Mapping[str, object]) -> bytes:
    """Return data as indented JSON in UTF-8, with a newline at its end."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    # A file name that is not UTF-8 holds lone surrogates; as an escape they are valid JSON.
    return text.encode("utf-8", "backslashreplace")


def _target(report: TargetReport) -> Json:
    """Return one target."""
    suite = report.suite
    return {
        "path": report.target.path,
        "status": report.status,
        "reason": report.reason,
        "changed_lines": [list(span) for span in ranges(report.target.changed_lines)],
        "suite": None
        if suite is None
        else {"path": suite.path, "is_new": suite.is_new, "content": suite.content},
        "tests": [_test(row) for row in report.ledger],
        "coverage": _coverage(report.coverage),
        "mutation": {
            "changed": _mutation(report.mutation_changed),
            "file": _mutation(report.mutation_file),
        },
        "suspected_bugs": [
            {"test": bug.test, "function": bug.function, "expected": bug.expected, "observed": bug.observed}
            for bug in report.suspected_bugs
        ],
        "iterations": report.iterations,
        "cost_usd": round(report.cost_usd, 6),
    }


def _skipped(skipped: Skipped) -> Json:
    """Return a changed file that needed no tests, in a target's form."""
    return {
        "path": skipped.path,
        "status": "nothing-to-test",
        "reason": skipped.reason,
        "changed_lines": [],
        "suite": None,
        "tests": [],
        "coverage": _coverage(CoverageDeltas()),
        "mutation": {"changed": None, "file": None},
        "suspected_bugs": [],
        "iterations": 0,
        "cost_usd": 0.0,
    }


def _test(row: Judgement) -> Json:
    """Return one row of the ledger."""
    return {
        "id": row.id,
        "verdict": "kept" if row.kept else "rejected",
        "reason": None if row.reason is None else row.reason.value,
        "lines_gained": list(row.lines_gained),
        "mutants_killed": list(row.mutants_killed),
        "on_base": row.on_base,
        "runs": row.runs,
        "duration_s": round(row.duration_s, 3),
    }


def _coverage(deltas: CoverageDeltas) -> Json:
    """Return the coverage before and after."""
    return {"file": _delta(deltas.file), "changed": _delta(deltas.changed), "branch": _delta(deltas.branch)}


def _delta(delta: Delta) -> Json:
    """Return one measure before and after."""
    return {"before": _fraction(delta.before), "after": _fraction(delta.after)}


def _mutation(delta: MutationDelta | None) -> Json | None:
    """Return mutation results before and after; None if no mutant was made."""
    if delta is None:
        return None
    return {"before": mutation_counts(delta.before), "after": mutation_counts(delta.after)}


def mutation_counts(result: MutationResult) -> Json:
    """Return a mutation score and its counts, each outcome apart (METHODS 1.6)."""
    counts = {outcome.value: result.count(outcome) for outcome in MutantOutcome}
    return {"score": _fraction(result.score), **counts}


def _fraction(value: float | None) -> float | None:
    """Return a fraction without the noise of floating point; None stays None."""
    return None if value is None else round(value, 6)
