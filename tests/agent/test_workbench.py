"""The workbench: existing tests count together with the suite, and nothing is measured twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from prices import ALL_LINES, GOOD, SUITE_PATH, TARGET

from bot.agent.workbench import Workbench
from bot.domain import MutantOutcome
from bot.measure import baseline, mutation
from bot.measure.baseline import Baseline
from bot.sandbox import Sandbox

OpenBench = Callable[..., Workbench]

SHOUT = """from shop.prices import shout


def test_shout_adds_a_mark():
    assert shout("a") == "A!"
"""


def existing(box: Sandbox) -> Baseline:
    return baseline.take(box, [TARGET], selection=["tests/test_shout.py"], timeout_s=60)


@pytest.fixture(name="judged")
def _judged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, tuple[str, ...]]]:
    """How many mutants each judging was about, and which tests had been met before."""
    calls: list[tuple[int, tuple[str, ...]]] = []
    judge = mutation.judge

    def watched(box: Sandbox, target: Any, mutants: Any, run: Any, **options: Any) -> Any:
        known = options.get("known") or {}
        kept = sum(v.outcome is not MutantOutcome.SURVIVED for v in known.values())
        calls.append((len(mutants.mutants) - kept, options.get("seen", ())))
        return judge(box, target, mutants, run, **options)

    monkeypatch.setattr(mutation, "judge", watched)
    return calls


@pytest.mark.slow
def test_existing_tests_count_for_coverage_and_for_mutants(open_bench: OpenBench) -> None:
    bench = open_bench({"tests/test_shout.py": SHOUT}, baseline=existing)
    bench.write(SUITE_PATH, GOOD)
    covered = bench.covered()
    assert covered is not None
    assert covered.file.statements - covered.lines == {9}
    survivors = bench.mutation().survivors
    assert survivors
    assert {mutant.function for mutant in survivors} == {"discount"}


@pytest.mark.slow
def test_mutants_that_existing_tests_kill_are_never_run_again(
    open_bench: OpenBench, judged: list[tuple[int, tuple[str, ...]]]
) -> None:
    bench = open_bench({"tests/test_shout.py": SHOUT}, baseline=existing)
    bench.write(SUITE_PATH, GOOD)
    bench.mutation()
    (all_of_them, _), (rest, _) = judged
    assert all_of_them == len(bench.mutants.mutants)
    assert rest == all_of_them - sum(mutant.function == "shout" for mutant in bench.mutants.mutants)


@pytest.mark.slow
def test_after_an_import_or_a_test_is_added_only_survivors_meet_only_what_is_new(
    bench: Workbench, judged: list[tuple[int, tuple[str, ...]]]
) -> None:
    bench.write(SUITE_PATH, GOOD)
    before = bench.mutation()
    imports = GOOD.replace("import discount", "import discount, shout")
    bench.write(SUITE_PATH, imports)
    bench.mutation()
    bench.write(SUITE_PATH, imports + "\n\ndef test_shout():\n    assert shout('a') == 'A!'\n")
    after = bench.mutation()
    (first, met), (again, met_after_imports), (rest, met_after_test) = judged
    assert (first, met) == (len(bench.mutants.mutants), ())
    assert again == rest == len(before.survivors)
    assert len(met_after_imports) == len(met_after_test) == 2
    assert after.score is not None
    assert before.score is not None
    assert after.score > before.score


def test_a_suite_without_passing_tests_kills_nothing(bench: Workbench) -> None:
    bench.write(SUITE_PATH, "def test_a():\n    assert 0\n")
    result = bench.mutation()
    assert (result.score, len(result.survivors)) == (0.0, len(bench.mutants.mutants))


def test_a_changed_conftest_makes_the_suite_run_again(bench: Workbench) -> None:
    bench.write(SUITE_PATH, "def test_a(price):\n    assert price == 3\n")
    assert bench.run().passed == ()
    bench.write("tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef price():\n    return 3\n")
    assert bench.known_run() is None
    assert bench.run().passed == (f"{SUITE_PATH}::test_a",)


def test_a_file_made_by_a_command_makes_the_suite_run_again(bench: Workbench) -> None:
    bench.write(SUITE_PATH, GOOD)
    bench.run()
    bench.box.run(["bash", "-c", "echo 3 > tests/data.txt"], timeout_s=20)
    assert bench.absorb_command() is False
    assert bench.known_run() is None


def test_every_line_of_a_whole_file_counts_as_changed(bench: Workbench) -> None:
    assert bench.changed_lines >= ALL_LINES


@pytest.mark.slow
def test_that_a_suite_catches_too_little_is_found_out_on_a_part_of_the_mutants(
    bench: Workbench, judged: list[tuple[int, tuple[str, ...]]]
) -> None:
    bench.write(SUITE_PATH, GOOD)
    caught = bench.mutation().caught
    bench.write(
        SUITE_PATH, "from shop.prices import shout\n\n\ndef test_shout():\n    assert shout('a') == 'A!'\n"
    )
    judged.clear()
    assert bench.falls_short(caught)
    assert sum(number for number, _ in judged) < len(bench.mutants.mutants)
    assert not bench.falls_short(0)


def test_a_written_file_beside_the_suite_is_known(bench: Workbench) -> None:
    bench.write(SUITE_PATH, GOOD)
    assert bench.untouched
    bench.write("tests/conftest.py", "")
    assert not bench.untouched
