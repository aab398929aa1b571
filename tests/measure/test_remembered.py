"""Verdicts outlive a run: each is used again as long as what it depends on has not changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bot.domain import MutantOutcome, MutantVerdict, MutationResult, Target
from bot.measure.mutants import generate
from bot.measure.remembered import Remembered, marks
from bot.measure.score import score_file
from bot.sandbox import Sandbox

OpenBox = Callable[..., Sandbox]
KILLED, SURVIVED = MutantOutcome.KILLED, MutantOutcome.SURVIVED

SOURCE = "ONE = 1\n\n\ndef f(x):\n    return x + 2\n\n\ndef g(x):\n    return x + 3\n"
TESTS = {"t.py::test_f": "1", "t.py::test_g": "1"}


def remembered(
    directory: Path, source: str = SOURCE, marks: Mapping[str, str] = TESTS, environment: str = "e"
) -> Remembered:
    return Remembered(directory, environment, Target("m.py", "m", source, frozenset()), marks)


def kept(directory: Path) -> None:
    """Keep: what is in `f` is killed by its test, all else has survived both tests."""
    verdicts = [
        MutantVerdict(mutant, KILLED, "t.py::test_f")
        if mutant.function == "f"
        else MutantVerdict(mutant, SURVIVED)
        for mutant in generate("m.py", SOURCE).mutants
    ]
    remembered(directory).keep(MutationResult(tuple(verdicts), len(verdicts)), TESTS)


def functions(directory: Path, source: str = SOURCE, **named: object) -> dict[str, frozenset[str]]:
    """Return, by function of the mutants recalled, the tests that those which survived have met."""
    known = remembered(directory, source, **named).recall(generate("m.py", source).mutants)  # type: ignore[arg-type]
    by_id = {mutant.id: mutant.function for mutant in generate("m.py", source).mutants}
    return {by_id[id_]: known.met.get(id_, frozenset()) for id_ in known.verdicts}


def test_what_has_not_changed_is_recalled(tmp_path: Path) -> None:
    kept(tmp_path)
    both = frozenset(TESTS)
    assert functions(tmp_path) == {"": both, "f": frozenset(), "g": both}


def test_a_function_that_moved_keeps_its_verdicts_and_one_that_changed_does_not(tmp_path: Path) -> None:
    kept(tmp_path)
    moved = SOURCE.replace("ONE = 1\n", "ONE = 1\nTWO = 2\n").replace("x + 3", "3 + x")
    assert set(functions(tmp_path, moved)) == {"f"}


@pytest.mark.parametrize(
    ("now", "recalled"),
    [
        ({**TESTS, "t.py::test_f": "2"}, {"": {"t.py::test_g"}, "g": {"t.py::test_g"}}),
        ({"t.py::test_f": "1"}, {"": {"t.py::test_f"}, "f": set(), "g": {"t.py::test_f"}}),
        ({**TESTS, "n.py::test_new": "1"}, {"": set(TESTS), "f": set(), "g": set(TESTS)}),
    ],
    ids=["the killer changed", "a test is gone", "a test is new"],
)
def test_a_kill_holds_while_its_killer_is_the_same_and_a_survival_for_the_tests_that_are(
    tmp_path: Path, now: dict[str, str], recalled: dict[str, set[str]]
) -> None:
    kept(tmp_path)
    assert functions(tmp_path, marks=now) == recalled


def test_another_environment_knows_nothing(tmp_path: Path) -> None:
    kept(tmp_path)
    assert functions(tmp_path, environment="other") == {}


def test_a_file_that_was_damaged_is_as_none(tmp_path: Path) -> None:
    kept(tmp_path)
    next(tmp_path.iterdir()).write_text("{")
    assert functions(tmp_path) == {}


def test_a_test_has_another_mark_when_its_file_or_a_conftest_above_it_changes(open_box: OpenBox) -> None:
    files = {"a/conftest.py": "", "a/b/test_x.py": "", "test_y.py": ""}
    box, tests = open_box(files), ["a/b/test_x.py::test_1", "test_y.py::test_2"]
    first = marks(box, tests)
    box.write("a/conftest.py", b"A = 1\n")
    second = marks(box, tests)
    assert [first[test] == second[test] for test in tests] == [False, True]


def test_a_run_with_nothing_new_runs_no_mutant(open_box: OpenBox, tmp_path: Path) -> None:
    tests = "import m\ndef test_f():\n    with open('runs', 'a') as file: file.write('f')\n    assert m.f(1) == 3\n"
    target = Target("m.py", "m", SOURCE, frozenset(), whole_file=True)
    box = open_box({"m.py": SOURCE, "test_m.py": tests})
    found, runs = [], []
    for _ in range(2):
        box.write("runs", b"")
        found.append(score_file(box, target, "test_m.py", max_mutants=None, seed=0, memory=tmp_path).mutation)
        runs.append(len(box.read("runs")))
    assert found[0] == found[1]
    assert found[0] is not None
    assert {v.mutant.function for v in found[0].verdicts if v.outcome is KILLED} == {"f"}
    # Some for outcome, coverage and hollowness, and none for a mutant.
    mutants = sum(v.mutant.function in ("f", "") for v in found[0].verdicts)
    assert 1 <= runs[1] <= runs[0] - mutants
