"""What the tools print is read by models, the built-in one included: these texts are exact."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.agent import observations
from bot.domain import (
    CollectionError,
    FileCoverage,
    Mutant,
    MutantOutcome,
    MutantVerdict,
    MutationResult,
    Outcome,
    SuiteRun,
    TestResult,
)
from bot.sandbox import Completed


def result(name: str, outcome: Outcome, detail: str = "", message: str = "") -> TestResult:
    return TestResult(f"tests/test_mod.py::{name}", outcome, detail=detail, message=message)


def mutant(number: int, function: str = "f") -> Mutant:
    return Mutant(
        f"m{number}", "mod.py", "core/NumberReplacer", function, number, number, 0, 1, "2", "-x = 1\n+x = 2"
    )


def judged(survivors: Sequence[Mutant], killed: int = 0) -> MutationResult:
    rows = [MutantVerdict(each, MutantOutcome.SURVIVED) for each in survivors]
    rows += [MutantVerdict(mutant(1000 + n), MutantOutcome.KILLED, "t") for n in range(killed)]
    return MutationResult(tuple(rows), len(rows))


def completed(stdout: str = "", stderr: str = "", code: int | None = 0, timed_out: bool = False) -> Completed:
    return Completed(code, stdout, stderr, 0.1, timed_out)


def test_a_run_prints_counts_failures_with_places_and_collection_errors() -> None:
    run = SuiteRun(
        results=(
            *(result(f"test_a[{n}]", Outcome.PASSED) for n in range(3)),
            result("test_b[2]", Outcome.FAILED, "tests/test_mod.py:14: in test_b\nE   assert 3 == 4"),
        ),
        collection_errors=(
            CollectionError("tests/test_mod.py", "ImportError: cannot import name 'x' from 'pkg.mod'"),
        ),
        duration_s=0.42,
    )
    assert observations.test_results(run) == (
        "3 passed, 1 failed, 1 errors, 0 skipped in 0.42 s\n"
        "ERROR tests/test_mod.py\n"
        "    E   ImportError: cannot import name 'x' from 'pkg.mod'\n"
        "FAILED tests/test_mod.py::test_b[2]\n"
        "    at tests/test_mod.py:14\n"
        "    E   assert 3 == 4"
    )


def test_a_traceback_is_reduced_to_its_places_and_error_lines() -> None:
    message = (
        "ImportError while importing test module 'x'.\nTraceback:\n"
        "tests/test_mod.py:1: in <module>\n    import pkg.mod\npkg/mod.py:7: in <module>\n    import none\n"
        "E   ModuleNotFoundError: No module named 'none'"
    )
    run = SuiteRun(collection_errors=(CollectionError("tests/test_mod.py", message),))
    assert observations.test_results(run).split("\n")[1:] == [
        "ERROR tests/test_mod.py",
        "    at tests/test_mod.py:1",
        "    at pkg/mod.py:7",
        "    E   ModuleNotFoundError: No module named 'none'",
    ]


def test_a_test_that_timed_out_is_printed_as_failed_with_its_message() -> None:
    run = SuiteRun((result("test_a", Outcome.TIMED_OUT, message="timed out after 20 s"),))
    assert observations.test_results(run) == (
        "0 passed, 1 failed, 0 errors, 0 skipped in 0.00 s\n"
        "FAILED tests/test_mod.py::test_a\n"
        "    E   timed out after 20 s"
    )


def test_an_expected_failure_is_counted_as_skipped() -> None:
    run = SuiteRun((result("test_a", Outcome.XFAILED), result("test_b", Outcome.SKIPPED)))
    assert observations.test_results(run) == "0 passed, 0 failed, 0 errors, 2 skipped in 0.00 s"


def test_a_run_that_did_not_finish_says_why_and_shows_the_end_of_the_output() -> None:
    run = SuiteRun(crash="timed out after 60 s", output="\n".join(f"line {n}" for n in range(50)))
    lines = observations.test_results(run).split("\n")
    assert lines[:3] == [
        "0 passed, 0 failed, 1 errors, 0 skipped in 0.00 s",
        "ERROR pytest",
        "    E   pytest did not finish: timed out after 60 s",
    ]
    assert lines[-1] == "    line 49"


def test_failures_past_the_limit_are_counted_and_none_is_cut_in_two() -> None:
    run = SuiteRun(tuple(result(f"test_{n}", Outcome.FAILED, "E   boom") for n in range(45)))
    lines = observations.test_results(run).split("\n")
    assert sum(line.startswith("FAILED") for line in lines) == observations.FAILURES
    assert lines[-2:] == ["    E   boom", "... 5 more failures and errors"]


def test_a_long_traceback_is_cut_between_lines_with_a_count() -> None:
    detail = "\n".join(f"E   row {n}" for n in range(60))
    lines = observations.test_results(SuiteRun((result("test_a", Outcome.FAILED, detail),))).split("\n")
    assert lines[-1] == f"    ... {60 - observations.DETAIL_LINES} more lines"


def test_coverage_prints_shares_and_everything_missing_with_changed_lines_starred() -> None:
    statements = frozenset({*range(1, 21), 30})
    file = FileCoverage(
        "pkg/mod.py", statements, frozenset(), {}, frozenset({(14, 15), (22, -1), (1, 2), (1, 3)})
    )
    printed = observations.coverage(
        file, statements - {12, 15, 16, 17, 18, 30}, frozenset({(1, 2), (1, 3)}), frozenset({15, 16, 17, 18})
    )
    assert printed == (
        "pkg/mod.py: 15 of 21 lines (71.4%), 2 of 4 branches (50.0%)\n"
        "missing lines: 12, 15-18*, 30\n"
        "missing branches: 14->15, 22->exit"
    )


def test_a_missing_range_that_is_changed_in_part_is_split_at_the_change() -> None:
    file = FileCoverage("mod.py", frozenset(range(1, 6)), frozenset(), {})
    printed = observations.coverage(file, frozenset(), frozenset(), frozenset({3, 4}))
    assert "missing lines: 1-2, 3-4*, 5\n" in printed


def test_full_coverage_prints_none_for_what_is_missing() -> None:
    file = FileCoverage("mod.py", frozenset({1}), frozenset({1}), {})
    assert observations.coverage(file, frozenset({1}), frozenset(), frozenset()) == (
        "mod.py: 1 of 1 lines (100.0%), 0 of 0 branches (100.0%)\nmissing lines: none\nmissing branches: none"
    )


def test_surviving_mutants_print_score_place_and_diff() -> None:
    printed = observations.mutants(judged([mutant(31, "Cache.pop")], killed=3), {"m31": 17})
    assert printed == (
        "3 of 4 mutants killed or timed out (score 0.750); 1 survive, 1 shown\n"
        "M17 core/NumberReplacer in Cache.pop, line 31\n"
        "-x = 1\n"
        "+x = 2"
    )


def test_without_mutants_there_is_no_score() -> None:
    assert observations.mutants(MutationResult(), {}) == (
        "0 of 0 mutants killed or timed out (no score); 0 survive, 0 shown"
    )


def test_at_most_thirty_survivors_are_shown_and_every_function_gets_its_turn() -> None:
    survivors = [mutant(n, "first") for n in range(1, 60)] + [mutant(n, "second") for n in range(60, 65)]
    printed = observations.mutants(judged(survivors), {each.id: each.first for each in survivors})
    assert printed.startswith(
        "0 of 64 mutants killed or timed out (score 0.000); 64 survive, 30 shown\nM1 core/"
    )
    assert len(re.findall(r"^M\d+ .* in second, line \d+$", printed, re.M)) == 5
    assert len(re.findall(r"^M\d+ ", printed, re.M)) == 30


def test_every_line_of_a_function_gets_its_turn_before_a_line_shows_a_second_mutant() -> None:
    crowded = [replace(mutant(1, "first"), id=f"c{n}") for n in range(40)]
    survivors = [*crowded, *(mutant(n, "first") for n in range(2, 12))]
    numbers = {each.id: number for number, each in enumerate(survivors, 1)}
    lines = re.findall(r"in first, line (\d+)$", observations.mutants(judged(survivors), numbers), re.M)
    assert sorted(set(lines), key=int) == [str(n) for n in range(1, 12)]
    assert lines.count("1") == 20


def test_a_mutant_outside_of_functions_is_in_the_module() -> None:
    printed = observations.mutants(judged([mutant(3, "")]), {"m3": 1})
    assert "M1 core/NumberReplacer in <module>, line 3" in printed


def test_a_command_prints_its_exit_code_and_streams() -> None:
    assert observations.command(completed("out\n", "err\n", code=2), 60) == (
        "exit code 2\n--- stdout\nout\n--- stderr\nerr"
    )


def test_empty_streams_are_left_out() -> None:
    assert observations.command(completed(), 60) == "exit code 0"


def test_a_command_past_its_time_limit_is_said_to_be_killed() -> None:
    assert observations.command(completed("begun", code=None, timed_out=True), 60) == (
        "killed after 60 s\n--- stdout\nbegun"
    )


def test_a_long_stream_is_cut_in_its_middle_and_the_cut_is_counted() -> None:
    text = "a" * 20_000 + "b" * 1_234 + "c" * 20_000
    printed = observations.command(completed(text), 60)
    assert printed == (
        "exit code 0\n--- stdout\n" + "a" * 20_000 + "[... 1234 characters cut ...]" + "c" * 20_000
    )


def test_numbered_lines_keep_their_numbers() -> None:
    assert observations.numbered("a\nb\nc\n", 2, 3) == "      2\tb\n      3\tc"


def test_a_view_stops_after_four_hundred_lines_and_says_where_it_goes_on() -> None:
    lines = observations.numbered("x\n" * 1000, 11).split("\n")
    assert len(lines) == 401
    assert lines[-1] == "... 590 more lines; the next is line 411"


def test_found_rows_are_counted_even_if_not_all_are_shown() -> None:
    rows = [f"f{n}.py" for n in range(250)]
    lines = observations.found(rows).split("\n")
    assert lines[:2] == ["f0.py", "f1.py"]
    assert lines[-1] == "250 found, 200 shown"
    assert observations.found([]) == "0 found"


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_a_cut_text_keeps_both_ends_and_tells_exactly_what_is_gone(text: str, limit: int) -> None:
    cut = observations.middle_cut(text, limit)
    head, tail = limit // 2, limit - limit // 2
    expected = text
    if len(text) > limit:
        expected = f"{text[:head]}[... {len(text) - limit} characters cut ...]{text[len(text) - tail :]}"
    assert cut == expected


@given(st.sets(st.integers(1, 60)), st.sets(st.integers(1, 60)), st.sets(st.integers(1, 60)))
def test_the_missing_lines_can_be_read_back_exactly(
    statements: set[int], covered: set[int], changed: set[int]
) -> None:
    file = FileCoverage("mod.py", frozenset(statements), frozenset(), {})
    printed = observations.coverage(file, frozenset(statements & covered), frozenset(), frozenset(changed))
    listed = re.search(r"^missing lines: (.*)$", printed, re.M)
    assert listed is not None
    read: dict[int, bool] = {}
    for item in [] if listed[1] == "none" else listed[1].split(", "):
        first, _, last = item.rstrip("*").partition("-")
        for line in range(int(first), int(last or first) + 1):
            read[line] = item.endswith("*")
    assert read == {line: line in changed for line in statements - covered}


def test_of_failures_that_fill_pages_the_later_ones_keep_title_and_last_line() -> None:
    detail = "\n".join([*(f"E   line {number} " + "x" * 500 for number in range(20)), "E   the last word"])
    results = tuple(TestResult(f"t.py::test_{n}", Outcome.FAILED, detail=detail) for n in range(30))
    printed = observations.test_results(SuiteRun(results))
    assert len(printed) < 20_000
    assert all(f"FAILED t.py::test_{n}\n" in printed for n in range(30))
    assert printed.endswith("FAILED t.py::test_29\n    E   the last word")
    assert "FAILED t.py::test_0\n    E   line 0" in printed


def test_a_view_of_very_long_lines_ends_early_and_says_where_to_go_on() -> None:
    printed = observations.numbered("y" * 5_000 + "\n" + ("x" * 1_999 + "\n") * 100)
    assert len(printed) < 65_000
    assert re.search(r"\.\.\. \d+ more lines; the next is line \d+$", printed)


def test_an_error_that_quotes_something_endless_is_short_and_keeps_both_ends() -> None:
    printed = observations.error(f"there is no tool {'x' * 50_000!r}; there are run_tests, finish")
    assert len(printed) < 4_100
    assert printed.startswith("error: there is no tool 'xxx")
    assert printed.endswith("; there are run_tests, finish")
