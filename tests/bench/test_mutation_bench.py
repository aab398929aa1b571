"""The mutation benchmark: what it measures with, and what it says where two tools disagree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot.domain import MutantOutcome, MutantVerdict, MutationResult
from bot.measure.mutants import generate

bench = pytest.importorskip("bench.mutation", reason="the benchmark is not part of the installed package")
goals = pytest.importorskip("bench.goals")
projects = pytest.importorskip("bench.projects")
rivals = pytest.importorskip("bench.rivals")
stopwatch = pytest.importorskip("bench.stopwatch")

EATS = "import sys\nroom = bytearray(60 * 1024**2)\nprint('ready', flush=True)\nsys.stdin.read()\n"


def test_the_memory_of_processes_below_is_seen() -> None:
    with (
        stopwatch.memory_watch(0.01) as peak,
        subprocess.Popen([sys.executable, "-c", EATS], stdin=-1, stdout=-1) as process,
    ):
        process.stdout.readline()
        while peak() < 60:
            continue
        process.communicate()
    assert 60 <= peak() < 500


def test_the_time_of_a_command_that_is_stopped_counts_what_it_did(tmp_path: Path) -> None:
    done = rivals._bounded(
        [sys.executable, "-c", "print('Progress 3/9', flush=True)\nwhile True: pass"], tmp_path, {}, 0.5
    )
    assert "Progress 3/9" in done.text
    assert done.spent.wall >= 0.5
    assert done.spent.cpu > 0
    assert done.judged(3).mutants == 3
    assert "no mutant when it was stopped after" in done.judged(0).why


def test_a_rival_that_fails_tells_its_last_words(tmp_path: Path) -> None:
    done = rivals._bounded([sys.executable, "-c", "print('no such option\\n'); exit(4)"], tmp_path, {}, 60)
    assert done.judged(0).why == "it ended with code 4 and no mutant judged; its last words: no such option"


def test_the_summary_says_what_was_missed() -> None:
    good = goals.Row(25.0, 20.0, 15.0, {"mutmut": (2.0, 1.5)}, 80, 80, 150.0)
    poor = goals.Row(11.0, 9.0, 8.0, {"mutmut": (0.9, 1.1)}, 78, 80, 600.0)
    assert not [line for line in goals.summary([good], 0.02) if "MISSED" in line]
    missed = [line for line in goals.summary([good, poor], 0.2) if "MISSED" in line]
    assert [line.split()[1] for line in missed] == ["20", "12", "99%", "faster", "500", "twice"]


def test_a_disagreement_is_told_with_both_outcomes() -> None:
    source = "def f(x):\n    return x + 1\n"
    first, second, *_ = generate("m.py", source).mutants
    result = MutationResult(
        (
            MutantVerdict(first, MutantOutcome.KILLED, "t.py::test_f"),
            MutantVerdict(second, MutantOutcome.SURVIVED),
        ),
        2,
    )
    project = projects.Project("p==1", "m.py", "t.py")
    found = bench._disagreements(project, result, {first.id: "survived", second.id: "survived"})
    assert [text.splitlines()[0] for _, text in found] == [
        f"disagree on m.py:2 {first.id}: killed by t.py::test_f, cosmic-ray survived"
    ]


@pytest.mark.parametrize("project", projects.PROJECTS, ids=lambda project: project.name)
def test_a_project_names_its_module(project: object) -> None:
    assert project.module.rpartition(".")[2] == Path(project.path).stem  # type: ignore[attr-defined]
    assert not project.module.startswith("src.")  # type: ignore[attr-defined]
