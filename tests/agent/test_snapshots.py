"""Which state of a suite is the best one."""

from __future__ import annotations

from dataclasses import replace

from bot.agent.snapshots import Snapshot, Snapshots
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


def suite(*tests: str) -> str:
    """Return a suite's text; the same name is the same test, `a:2` another version of `a`."""
    parts = (test.partition(":") for test in tests)
    return "".join(f"def test_{name}():\n    assert {version or 1}\n\n\n" for name, _, version in parts)


def run(passed: str = "", failed: str = "", lines: int = 1) -> SuiteRun:
    """Return a run in which the tests of these letters passed or failed, covering the first lines of mod.py."""
    results = [TestResult(f"t.py::test_{name}", Outcome.PASSED) for name in passed]
    results += [TestResult(f"t.py::test_{name}", Outcome.FAILED) for name in failed]
    covered = frozenset(range(1, lines + 1))
    by_test = {result.id: covered for result in results}
    coverage = FileCoverage("mod.py", frozenset(range(1, 100)), frozenset(), by_test)
    return SuiteRun(tuple(results), coverage={"mod.py": coverage})


def caught(*names: str) -> MutationResult:
    made = (Mutant(name, "mod.py", "op", "f", 1, 1, 0, 1, "", "") for name in names)
    return MutationResult(tuple(MutantVerdict(each, MutantOutcome.KILLED, "t.py::test_a") for each in made))


def as_it_is(snapshot: Snapshot) -> Snapshot:
    return snapshot


def never(snapshot: Snapshot) -> Snapshot:
    raise AssertionError("nothing needs to be judged")


def best_of(*states: tuple[str, SuiteRun | None, MutationResult | None]) -> str | None:
    snapshots = Snapshots("mod.py")
    for number, (content, ran, mutation) in enumerate(states):
        snapshots.record(content, number, ran, mutation)
    best = snapshots.best(as_it_is)
    return None if best is None else best.content


def test_an_unverified_state_is_never_the_best() -> None:
    assert best_of((suite("a"), run("a"), None), (suite("a", "b"), None, None)) == suite("a")


def test_without_a_verified_state_there_is_no_best() -> None:
    assert best_of((suite("a"), None, None)) is None
    assert best_of((suite("a"), SuiteRun(), None)) is None


def test_more_caught_mutants_win_over_more_covered_lines() -> None:
    sharp, broad = suite("a:9"), suite("b", "c")
    assert (
        best_of((sharp, run("a", lines=2), caught("m", "n")), (broad, run("bc", lines=9), caught("m")))
        == sharp
    )


def test_more_covered_lines_win_where_as_many_mutants_are_caught() -> None:
    assert best_of((suite("a"), run("a", lines=5), None), (suite("b"), run("b", lines=3), None)) == suite("a")


def test_more_passing_tests_win_where_as_much_is_covered() -> None:
    two, one = suite("a", "b"), suite("c")
    assert best_of((two, run("ab"), None), (one, run("c"), None)) == two


def test_fewer_failing_tests_win_where_the_passing_ones_are_the_same() -> None:
    clean, dirty = suite("a"), suite("a", "b")
    assert best_of((clean, run("a"), None), (dirty, run("a", "b"), None)) == clean


def test_fewer_failing_tests_win_where_others_do_as_much() -> None:
    clean, dirty = suite("a"), suite("b", "c")
    assert best_of((clean, run("a"), None), (dirty, run("b", "c"), None)) == clean


def test_the_later_state_wins_where_all_else_is_equal() -> None:
    assert best_of((suite("a"), run("a"), None), (suite("b"), run("b"), None)) == suite("b")


def test_lines_of_failing_tests_do_not_count() -> None:
    passing, failing = suite("a"), suite("b")
    assert best_of((passing, run("a", lines=1), None), (failing, run("", "b", lines=50), None)) == passing


def test_a_state_that_holds_all_tests_of_another_beats_it_without_judging() -> None:
    snapshots = Snapshots("mod.py")
    snapshots.record(suite("a"), 0, run("a"), None)
    snapshots.record(suite("a", "b"), 1, run("ab"), None)
    best = snapshots.best(never)
    assert best is not None
    assert best.content == suite("a", "b")


def test_a_changed_test_is_not_the_same_test_and_is_judged() -> None:
    judged = []

    def judge(snapshot: Snapshot) -> Snapshot:
        judged.append(snapshot.content)
        found = {"m"} if snapshot.content == suite("a") else set()
        return replace(snapshot, caught=frozenset(found))

    snapshots = Snapshots("mod.py")
    snapshots.record(suite("a"), 0, run("a"), None)
    snapshots.record(suite("a:2"), 1, run("a"), None)
    best = snapshots.best(judge)
    assert judged == [suite("a"), suite("a:2")]
    assert best is not None
    assert best.content == suite("a")


def test_only_a_few_of_many_rivals_are_judged() -> None:
    judged = []

    def judge(snapshot: Snapshot) -> Snapshot:
        judged.append(snapshot.content)
        return snapshot

    snapshots = Snapshots("mod.py")
    for number in range(9):
        snapshots.record(suite(f"a:{number + 1}"), number, run("a", lines=number + 1), None)
    best = snapshots.best(judge)
    assert judged == [suite(f"a:{n}") for n in (6, 7, 8, 9)]
    assert best is not None
    assert best.content == suite("a:9")


def test_a_text_that_comes_back_is_one_snapshot_and_the_latest() -> None:
    snapshots = Snapshots("mod.py")
    for content in (suite("a"), suite("b"), suite("a")):
        snapshots.record(content, 0, None, None)
    assert [each.content for each in snapshots.all()] == [suite("b"), suite("a")]
