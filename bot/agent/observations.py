"""What the tools print: one function a format, each bounded, with lists cut between items and the cut counted.

Models of every kind read these formats and the built-in one parses them, so tests hold them to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot.agent.brief import line_list
from bot.domain import (
    FileCoverage,
    Mutant,
    MutationResult,
    Outcome,
    SuiteRun,
    TestResult,
    spread,
)
from bot.sandbox import Completed

FAILURES = 40
DETAIL_LINES = 25
LINE_CHARACTERS = 2_000
RESULT_CHARACTERS = 16_000
LAST_CHARACTERS = 300
VIEW_CHARACTERS = 60_000
FOUND_CHARACTERS = 300
STREAM_CHARACTERS = 40_000
ERROR_CHARACTERS = 4_000
MUTANTS = 30
ROWS = 200
VIEW_LINES = 400
CRASH_LINES = 20

_ERROR = re.compile(r"E( |$)")
_FRAME = re.compile(r"(?!E |/)(\S.*:\d+): in .*$")


def test_results(run: SuiteRun) -> str:
    """Return a run of the suite: counts, then each test that failed with its place and the asserted values.

    Tests that timed out count as failed, expected failures as skipped; files that could not be collected, and a
    pytest that did not finish, count as errors.
    """
    count = {outcome: len(run.ids(outcome)) for outcome in Outcome}
    errors = count[Outcome.ERROR] + len(run.collection_errors) + bool(run.crash)
    header = (
        f"{count[Outcome.PASSED]} passed, {count[Outcome.FAILED] + count[Outcome.TIMED_OUT]} failed, "
        f"{errors} errors, {count[Outcome.SKIPPED] + count[Outcome.XFAILED]} skipped in {run.duration_s:.2f} s"
    )
    blocks = [_crash(run)] if run.crash else []
    blocks += [_block(f"ERROR {error.path}", _account(error.message)) for error in run.collection_errors]
    blocks += [_failure(result) for result in run.results if result.outcome.is_red]
    return "\n".join([header, *_clipped(_fitting(blocks), FAILURES, "failures and errors")])


def coverage(
    suite: FileCoverage, lines: frozenset[int], branches: frozenset[tuple[int, int]], changed: frozenset[int]
) -> str:
    """Return what of a file is covered and all that is missing, with changed lines starred.

    Args:
        suite: Which lines and branches the file has.
        lines: Those of its lines that are covered.
        branches: Those of its branches that are taken.
        changed: The changed lines.
    """
    shares = (
        _share(len(lines), len(suite.statements), "lines"),
        _share(len(branches), len(suite.branches), "branches"),
    )
    missing = sorted(suite.branches - branches)
    arrows = ", ".join(f"{start}->{end if end > 0 else 'exit'}" for start, end in missing)
    return (
        f"{suite.path}: {', '.join(shares)}\n"
        f"missing lines: {line_list(suite.statements - lines, changed)}\n"
        f"missing branches: {arrows or 'none'}"
    )


def mutants(result: MutationResult, numbers: Mapping[str, int]) -> str:
    """Return the score and the survivors as small diffs, at most MUTANTS of them, spread over functions and lines.

    Args:
        numbers: By mutant id, the number it is called by (`M17`).
    """
    survivors = result.survivors
    shown = spread(survivors, MUTANTS)
    score = "no score" if result.score is None else f"score {result.score:.3f}"
    header = (
        f"{result.caught} of {result.judged} mutants killed or timed out ({score}); "
        f"{len(survivors)} survive, {len(shown)} shown"
    )
    return "\n".join([header, *(_mutant(mutant, numbers[mutant.id]) for mutant in shown)])


def command(completed: Completed, timeout_s: float) -> str:
    """Return a command's exit code and what it printed; empty streams are left out, long ones cut in the middle."""
    ended = f"exit code {completed.exit_code}"
    if completed.timed_out or completed.exit_code is None:
        ended = f"killed after {timeout_s:g} s"
    sections = [ended]
    for name, text in (("stdout", completed.stdout), ("stderr", completed.stderr)):
        if text:
            sections.append(f"--- {name}\n{middle_cut(text, STREAM_CHARACTERS)}")
    return "\n".join(section.removesuffix("\n") for section in sections)


def numbered(text: str, first: int = 1, last: int | None = None) -> str:
    """Return lines `first` to `last` of a text with their numbers, at most VIEW_LINES of them."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    end = len(lines) if last is None else min(last, len(lines))
    stop = min(end, first + VIEW_LINES - 1)
    rows: list[str] = []
    left = VIEW_CHARACTERS
    for number in range(first, stop + 1):
        rows.append(f"{number:7}\t{middle_cut(lines[number - 1], LINE_CHARACTERS)}")
        left -= len(rows[-1])
        if left <= 0:
            stop = number
            break
    if stop < end:
        rows.append(f"... {end - stop} more lines; the next is line {stop + 1}")
    return "\n".join(rows)


def found(rows: Sequence[str]) -> str:
    """Return search results, one a line, at most ROWS of them, and how many there were."""
    shown = [middle_cut(row, FOUND_CHARACTERS) for row in rows[:ROWS]]
    count = f"{len(rows)} found" if len(rows) <= ROWS else f"{len(rows)} found, {ROWS} shown"
    return "\n".join([*shown, count])


def error(message: str) -> str:
    """Return what is printed for a call that could not be done; what it quotes of the call may be of any length."""
    return f"error: {middle_cut(message, ERROR_CHARACTERS)}"


def middle_cut(text: str, limit: int) -> str:
    """Return a text of at most about `limit` characters, what was cut from its middle counted."""
    if len(text) <= limit:
        return text
    head = limit // 2
    tail = limit - head
    return f"{text[:head]}[... {len(text) - limit} characters cut ...]{text[-tail:]}"


def _failure(result: TestResult) -> str:
    label = "ERROR" if result.outcome is Outcome.ERROR else "FAILED"
    return _block(f"{label} {result.id}", _account(result.detail or result.message))


def _crash(run: SuiteRun) -> str:
    printed = run.output.splitlines()[-CRASH_LINES:]
    return _block("ERROR pytest", [f"E   pytest did not finish: {run.crash}", *printed])


def _account(text: str) -> list[str]:
    """Return a traceback's places and error lines; a text without error lines is one."""
    lines = text.splitlines()
    if not any(_ERROR.match(line) for line in lines):
        return [f"E   {line}" for line in lines]
    return [_FRAME.sub(r"at \1", line) for line in lines if _ERROR.match(line) or _FRAME.match(line)]


def _block(title: str, lines: Sequence[str]) -> str:
    shown = [f"    {middle_cut(line.rstrip(), LINE_CHARACTERS)}" for line in lines if line.strip()]
    return "\n".join([title, *_clipped(shown, DETAIL_LINES, "lines", indent="    ")])


def _fitting(blocks: Sequence[str]) -> list[str]:
    """Return blocks whole as long as there is room for all of them together; of later ones the title and the last line.

    Failures of one cause fill pages, and what a model needs of the fortieth is that it is one, and its message.
    """
    fitting = []
    left = RESULT_CHARACTERS
    for block in blocks:
        left -= len(block)
        title, *lines = block.split("\n")
        fitting.append(
            block if left >= 0 or len(lines) < 2 else f"{title}\n{middle_cut(lines[-1], LAST_CHARACTERS)}"
        )
    return fitting


def _clipped(items: Sequence[str], limit: int, noun: str, indent: str = "") -> list[str]:
    if len(items) <= limit:
        return list(items)
    return [*items[:limit], f"{indent}... {len(items) - limit} more {noun}"]


def _share(part: int, whole: int, noun: str) -> str:
    percent = 100.0 * part / whole if whole else 100.0
    return f"{part} of {whole} {noun} ({percent:.1f}%)"


def _mutant(mutant: Mutant, number: int) -> str:
    diff = "\n".join(middle_cut(line, LINE_CHARACTERS) for line in mutant.diff.rstrip("\n").split("\n"))
    place = f"in {mutant.function or '<module>'}, line {mutant.first}"
    return f"M{number} {mutant.operator} {place}\n{diff}"
