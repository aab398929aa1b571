"""Which tests are worth keeping, by the lines and mutants they add."""

from __future__ import annotations

from bot.domain import (
    FileCoverage,
    Mutant,
    MutantOutcome,
    MutantVerdict,
    MutationResult,
    Outcome,
    SuiteRun,
    TestResult,
)
from bot.select.evidence import chosen, joined, lines_gained, reaching, strongest_first


def coverage(**lines: set[int]) -> FileCoverage:
    return FileCoverage(
        "m.py", frozenset(range(1, 11)), frozenset({1}), {t: frozenset(found) for t, found in lines.items()}
    )


def result(*killers: str | None) -> MutationResult:
    """Return verdicts on as many mutants, each with its killer."""
    return MutationResult(
        tuple(
            MutantVerdict(
                Mutant(str(number), "m.py", "op", "f", 1, 1, 0, 1, "", ""),
                MutantOutcome.KILLED if killer else MutantOutcome.SURVIVED,
                killer,
            )
            for number, killer in enumerate(killers)
        )
    )


def test_killers_stay_and_others_only_for_lines_that_killers_leave() -> None:
    cov = coverage(a={2, 3}, b={2, 3, 4}, c={5})
    assert chosen(cov, (), result("b"), ("a", "b", "c")) == ("b", "c")


def test_lines_of_existing_tests_and_of_the_import_are_no_gain() -> None:
    cov = coverage(old={2}, a={1, 2}, b={3})
    assert lines_gained(cov, ["old"], ["a", "b"]) == {"a": (), "b": (3,)}


def test_of_two_tests_with_the_same_line_the_first_gains_it() -> None:
    assert lines_gained(coverage(a={2}, b={2}), [], ["a", "b"]) == {"a": (2,), "b": ()}


def test_a_line_far_from_the_change_is_no_gain() -> None:
    cov = coverage(a={2}, b={7}, c={8})
    near = frozenset({6, 7})
    assert lines_gained(cov, [], ["a", "b", "c"], near) == {"a": (), "b": (7,), "c": ()}
    assert chosen(cov, (), result("c"), ("a", "b", "c"), near) == ("b", "c")


def test_without_coverage_mutants_alone_decide() -> None:
    assert chosen(None, (), result("a", None), ("a", "b")) == ("a",)


def test_the_test_that_kills_most_is_tried_first() -> None:
    assert strongest_first(result("a", "b", "b", None), ["a", "b", "c"]) == ("b", "a")


def test_only_tests_that_reach_more_than_the_import_count_as_reaching() -> None:
    assert reaching(coverage(a={1}, b={1, 2}), ["a", "b", "c"]) == ("b",)


def test_a_line_hidden_by_a_cache_in_one_order_is_seen_in_the_other() -> None:
    first = SuiteRun(results=(TestResult("a", Outcome.PASSED),), coverage={"m.py": coverage(a={2}, b=set())})
    second = SuiteRun(results=(TestResult("b", Outcome.PASSED),), coverage={"m.py": coverage(a=set(), b={2})})
    both = joined(first, second, path="m.py")
    assert both.coverage["m.py"].lines_by_test == {"a": {2}, "b": {2}}
    assert set(both.passed) == {"a", "b"}
