"""The score card, for a person and as JSON."""

from __future__ import annotations

import io
import json
from dataclasses import replace

from rich.console import Console
from sample_report import mutant

from bot.deliver import record, scorecard
from bot.domain import (
    CollectionError,
    Mutant,
    MutantOutcome,
    MutantVerdict,
    MutationResult,
    Outcome,
    SuiteRun,
    TestResult,
)
from bot.measure.score import Score

K, S = MutantOutcome.KILLED, MutantOutcome.SURVIVED
RUN = SuiteRun(
    results=(
        TestResult("t.py::a", Outcome.PASSED, 0.1),
        TestResult("t.py::b", Outcome.PASSED, 0.1),
        TestResult("t.py::c", Outcome.FAILED, 0.1, "AssertionError: assert 3 == [4]"),
        TestResult("t.py::d", Outcome.TIMED_OUT, 9.0, "20 s"),
    ),
    duration_s=1.5,
)
VERDICTS = (
    *(MutantVerdict(mutant(n), K) for n in range(1, 7)),
    MutantVerdict(mutant(7), MutantOutcome.TIMEOUT),
    MutantVerdict(mutant(8), MutantOutcome.EQUIVALENT),
    MutantVerdict(mutant(9, line=12), S),
)
SCORE = Score(RUN, 0.85, None, MutationResult(VERDICTS, 9), frozenset({"t.py::b"}), True)


def printed(score: Score, interval: tuple[float, float] | None = None) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=80, markup=False, highlight=False, emoji=False)
    console.print(scorecard.render(score, "src/a.py", "t.py", interval))
    return stream.getvalue()


def test_the_whole_card_in_plain_text():
    assert (
        printed(SCORE)
        == """\
t.py against src/a.py
2 passed, 1 failed, 1 timed out

Not green
  t.py::c: AssertionError: assert 3 == [4]
  t.py::d: 20 s

  lines     85%  [##############..]
  mutants   88%  [##############..]  7 of 8
  Of the mutants, 1 by time-out, 1 equivalent.

1 test hollow: still green with every function body emptied
  t.py::b

Changes that no test notices
  price
    `>` to `>=` in line 12
"""
    )


def test_a_sampled_score_shows_its_interval():
    text = printed(replace(SCORE, mutation=MutationResult(VERDICTS, 400)), (0.6123, 0.9654))
    assert "a sample of 400: the whole lies in 0.61 to 0.97 (95%)" in " ".join(text.split())


def test_a_score_of_all_mutants_has_no_interval_to_show():
    assert printed(SCORE, (0.875, 0.875)) == printed(SCORE)


def test_survivors_are_ten_at_most_and_spread_over_functions():
    def one(number: int, function: str) -> MutantVerdict:
        diff = f"-x = {number}\n+x = {number + 1}"
        return MutantVerdict(Mutant(f"M{number}", "a.py", "op", function, number, number, 0, 1, "", diff), S)

    verdicts = (*(one(n, "long") for n in range(1, 21)), one(30, "short"), one(31, ""))
    text = printed(replace(SCORE, mutation=MutationResult(verdicts, 22)))
    assert "Changes that no test notices (10 of 22)" in text
    assert text.count(" in line ") == 10
    assert "  short\n    `30` to `31` in line 30\n" in text
    assert "  outside functions\n" in text


def test_what_was_not_measured_is_not_shown():
    text = printed(Score(SuiteRun(), None, None, None, frozenset(), False))
    assert text == "t.py against src/a.py\n0 passed\n"


def test_a_file_that_cannot_be_collected_is_told():
    run = SuiteRun(
        collection_errors=(CollectionError("t.py", "t.py:1: in <module>\nE   ImportError: no module"),),
        crash="exited with 139",
    )
    text = printed(Score(run, None, None, None, frozenset(), False))
    assert "Not all tests were run: exited with 139" in text
    assert "t.py could not be collected: ImportError: no module" in text


def test_the_card_as_json():
    data = json.loads(record.dump(scorecard.as_json(SCORE, "src/a.py", "t.py", None)))
    assert data["schema"] == 1
    assert data["pass_at_1"] is True
    assert data["outcomes"] == {
        "passed": 2,
        "failed": 1,
        "error": 0,
        "skipped": 0,
        "xfailed": 0,
        "timed out": 1,
    }
    assert data["coverage"] == {"lines": 0.85, "branches": None}
    mutation = data["mutation"]
    assert (mutation["score"], mutation["killed"], mutation["timeout"], mutation["survived"]) == (
        0.875,
        6,
        1,
        1,
    )
    assert (mutation["interval_95"], mutation["sampled_from"]) == (None, 9)
    assert [survivor["lines"] for survivor in mutation["survivors"]] == [[12, 12]]
    assert data["hollow"] == ["t.py::b"]
    assert [test["hollow"] for test in data["tests"]] == [False, True, False, False]


def test_what_was_not_measured_is_null():
    data = scorecard.as_json(Score(SuiteRun(), None, None, None, frozenset(), False), "a.py", "t.py", None)
    assert (data["mutation"], data["coverage"]) == (None, {"lines": None, "branches": None})
