"""The mutation score: which mutants the tests of a suite kill (METHODS 1.6).

The work is done by the engine in the guest (`bot/sandbox/guest/engine.py`); here it gets its job, and its results
become verdicts.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from bot.domain import FileCoverage, Mutant, MutantOutcome, MutantVerdict, MutationResult, SuiteRun, Target
from bot.errors import MeasureError, SandboxError
from bot.measure import canary
from bot.measure.guest_jobs import run_job
from bot.measure.mutants import MutantSet
from bot.sandbox import Sandbox

_KEPT = frozenset(
    [MutantOutcome.KILLED, MutantOutcome.TIMEOUT, MutantOutcome.INCOMPETENT, MutantOutcome.EQUIVALENT]
)
_SPAWNING = re.compile(
    rb"subprocess|multiprocessing|pytester|testdir|script_runner|os\.(?:system|fork|spawn|exec)"
)
_Z = 1.959964


def judge(
    box: Sandbox,
    target: Target,
    mutants: MutantSet,
    run: SuiteRun,
    *,
    tests: Sequence[str] | None = None,
    known: Mapping[str, MutantVerdict] | None = None,
    seen: Collection[str] = (),
    met: Mapping[str, Collection[str]] | None = None,
    workers: int = 2,
    first: Sequence[str] = (),
    timeout_s: float = 900.0,
) -> MutationResult:
    """Return what becomes of each mutant of a file under a suite's tests.

    A mutant that no test reaches survives without a run; code that runs at import is reached by every test. A test
    that does not pass without a mutant, run as the mutants will be, is left out. The same inputs give the same
    verdicts and the same `killed_by`, whatever the scheduling.

    Args:
        box: Where the tests are; its tree holds the target's original text.
        run: A run of these tests with coverage of `target.path`.
        tests: Node ids that may kill; by default those that passed in `run`.
        known: Earlier verdicts, by mutant id, on the same source. One that was killed or timed out keeps its verdict
            while its killer is among `tests`; incompetent and equivalent ones always keep theirs. Others are judged.
        seen: The tests that `known` survivors have already survived: they meet only the others, and a survivor that
            no other test reaches keeps its verdict. Empty: they meet all tests again.
        met: The same for single survivors, by mutant id.
        workers: Mutants judged at once.
        first: Tests to try before others, in this order.
        timeout_s: Wall limit of the whole, in seconds; mutants not judged by then are `not_run`.

    Raises:
        MeasureError: No test is green without a mutant, or the engine gave no result.
    """
    known = known or {}
    chosen = tuple(dict.fromkeys(run.passed if tests is None else tests))
    verdicts = {m.id: MutantVerdict(m, MutantOutcome.EQUIVALENT) for m in mutants.equivalent}
    verdicts |= {m.id: MutantVerdict(m, MutantOutcome.INCOMPETENT) for m in mutants.incompetent}
    verdicts |= {m.id: known[m.id] for m in mutants.mutants if _is_kept(known.get(m.id), frozenset(chosen))}
    if set(seen).issuperset(chosen):
        verdicts |= {m.id: known[m.id] for m in mutants.mutants if _survived(known.get(m.id))}
    waiting = [mutant for mutant in mutants.mutants if mutant.id not in verdicts]
    notes: tuple[str, ...] = ()
    if waiting and not chosen:
        verdicts |= {m.id: MutantVerdict(m, MutantOutcome.SURVIVED) for m in waiting}
    elif waiting:
        job = _job(box, target, mutants, waiting, chosen, _coverage(run, target), first, workers)
        survivors = {id_ for id_, verdict in known.items() if verdict.outcome is MutantOutcome.SURVIVED}
        _leave_out(job, waiting, {id_: {*seen, *(met or {}).get(id_, ())} for id_ in survivors})
        canary.add(job, run)
        rows = _run(box, job, timeout_s)
        verdicts |= {verdict.mutant.id: verdict for verdict in _verdicts(rows, job, waiting)}
        notes = _notes(rows, job)
    if mutants.excluded:
        notes = (*notes, f"Left out as configured: {mutants.excluded} mutants.")
    everything = (*mutants.mutants, *mutants.incompetent, *mutants.equivalent)
    return MutationResult(tuple(verdicts[mutant.id] for mutant in everything), mutants.total, notes)


def interval(result: MutationResult) -> tuple[float, float] | None:
    """Return the 95% interval of a sampled score: Wilson's, with the finite population correction.

    A sample of n mutants from N says as much as n (N - 1) / (N - n) mutants from infinitely many. Where all were
    judged, both ends are the score; None where there is no score.
    """
    score = result.score
    if score is None:
        return None
    judged = result.judged
    if result.sampled_from <= judged:
        return score, score
    size = judged * (result.sampled_from - 1) / (result.sampled_from - judged)
    middle = (score + _Z**2 / (2 * size)) / (1 + _Z**2 / size)
    reach = _Z / (1 + _Z**2 / size) * math.sqrt(score * (1 - score) / size + _Z**2 / (4 * size**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _is_kept(verdict: MutantVerdict | None, tests: frozenset[str]) -> bool:
    if verdict is None or verdict.outcome not in _KEPT:
        return False
    if verdict.outcome.is_caught:
        return verdict.killed_by in tests
    return True


def _survived(verdict: MutantVerdict | None) -> bool:
    return verdict is not None and verdict.outcome is MutantOutcome.SURVIVED


def _coverage(run: SuiteRun, target: Target) -> FileCoverage:
    coverage = run.coverage.get(target.path)
    if coverage is None:
        raise MeasureError(
            f"Which tests reach {target.path} is not known: the run of its tests has no coverage of this file.",
            detail=run.crash,
        )
    return coverage


def _job(
    box: Sandbox,
    target: Target,
    mutants: MutantSet,
    waiting: Sequence[Mutant],
    tests: Sequence[str],
    coverage: FileCoverage,
    first: Sequence[str],
    workers: int,
) -> dict[str, Any]:
    return {
        "path": posixpath.join(box.tree, target.path),
        "source": target.source,
        "check": "compiles" if mutants.decided else "equivalent",
        "mutants": [
            {
                "first": mutant.first,
                "last": mutant.last,
                "start": mutant.start,
                "end": mutant.end,
                "text": mutant.replacement,
                "function": mutant.function,
                "without": [],
            }
            for mutant in waiting
        ],
        "tests": list(tests),
        "first": [test for test in dict.fromkeys(first) if test in set(tests)],
        "lines": {test: sorted(coverage.lines_by_test.get(test, ())) for test in tests},
        "import_lines": sorted(coverage.import_lines),
        "statements": sorted(coverage.statements),
        "spawning": any(
            _may_spawn(box, file) for file in sorted({test.partition("::")[0] for test in tests})
        ),
        "workers": workers,
    }


def _may_spawn(box: Sandbox, file: str) -> bool:
    try:
        return _SPAWNING.search(box.read(file)) is not None
    except (OSError, SandboxError):
        return False


def _leave_out(job: dict[str, Any], waiting: Sequence[Mutant], met: Mapping[str, Collection[str]]) -> None:
    """Spare known survivors the tests that they have met."""
    for row, mutant in zip(job["mutants"], waiting, strict=True):
        if mutant.id in met:
            tests = met[mutant.id]
            row["without"] = [place for place, test in enumerate(job["tests"]) if test in tests]


def _run(box: Sandbox, job: dict[str, Any], timeout_s: float) -> tuple[dict[str, Any], ...]:
    """Return the engine's rows; after its time limit, those it has written by then."""
    answer = run_job(box, "mutate", job, timeout_s=timeout_s)
    if answer.forged:
        raise MeasureError(f"The mutation score is not believed: {answer.forged}.")
    for row in answer.rows:
        if "problem" in row:
            raise MeasureError(row["problem"], detail=row.get("detail", ""))
        if any(place >= len(job["tests"]) for place in (*row.get("red", ()), row.get("test") or 0)):
            raise MeasureError("The mutation score is not believed: a test was named that there is not.")
    if answer.completed.exit_code != 0 and not answer.completed.timed_out:
        raise MeasureError("The mutants could not be judged: the engine ended early.", detail=answer.output)
    return answer.rows


def _verdicts(
    rows: Sequence[Mapping[str, Any]], job: Mapping[str, Any], waiting: Sequence[Mutant]
) -> Iterator[MutantVerdict]:
    judged: dict[int, Mapping[str, Any]] = {}
    for found in rows:
        if "mutant" in found and judged.setdefault(found["mutant"], found) != found:
            raise MeasureError("The mutation score is not believed: a mutant was judged twice.")
    canary.check(judged.get(len(waiting)), job)
    for number, mutant in enumerate(waiting):
        row = judged.get(number)
        if row is None:
            yield MutantVerdict(mutant, MutantOutcome.NOT_RUN)
        else:
            killer = None if row["test"] is None else job["tests"][row["test"]]
            yield MutantVerdict(mutant, MutantOutcome(row["outcome"]), killer)


def _notes(rows: Sequence[Mapping[str, Any]], job: Mapping[str, Any]) -> tuple[str, ...]:
    notes = dict.fromkeys(row["note"] for row in rows if "note" in row)
    red = sorted({job["tests"][place] for row in rows for place in row.get("red", ())})
    if red:
        notes[f"Left out, since they do not pass again without a mutant: {', '.join(red)}."] = None
    return tuple(notes)
