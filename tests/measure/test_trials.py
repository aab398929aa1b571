"""Which tests a mutant meets first, and that nothing of it remains."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bot.sandbox import guest
from bot.sandbox.guest.plan import SWAP, Case, History, Plan, chunks

SOURCE = "def f(x):\n    y = x + 1\n    return y\n\n\ndef g(x):\n    return x - 1\n"


def plan(lines: dict[str, list[int]], first: list[str], *spots: tuple[int, str]) -> Plan:
    """Return the plan for tests that reach some lines, and mutants that put ` * ` in the place of an operator."""
    mutants = []
    for line, old in spots:
        start = SOURCE.index(old, sum(map(len, SOURCE.splitlines(keepends=True)[: line - 1])))
        row = {
            "first": line,
            "last": line,
            "start": start,
            "end": start + len(old),
            "text": "*",
            "without": [],
        }
        mutants.append({**row, "function": SOURCE.splitlines()[0 if line < 5 else 5][4:5]})
    return Plan(
        {
            "source": SOURCE,
            "tests": [*lines],
            "lines": lines,
            "import_lines": [1, 6],
            "statements": [1, 2, 3, 6, 7],
            "spawning": False,
            "first": first,
            "check": "compiles",
            "mutants": mutants,
        }
    )


def test_a_mutant_meets_the_tests_that_reach_its_line_and_no_others() -> None:
    lines = {"t.py::f": [2, 3], "t.py::g": [7], "t.py::both": [2, 3, 7], "t.py::none": []}
    found = plan(lines, [], (2, "+"), (7, "-"))
    assert [(case.way, {[*lines][place] for place in case.tests}) for case in found.cases] == [
        (SWAP, {"t.py::f", "t.py::both"}),
        (SWAP, {"t.py::g", "t.py::both"}),
    ]


def test_a_mutant_that_no_test_reaches_has_survived_without_a_run() -> None:
    found = plan({"t.py::f": [2, 3]}, [], (7, "-"))
    assert found.cases == []
    assert found.settled == {0: "survived"}


def test_tests_asked_for_come_first_and_then_those_that_execute_the_most() -> None:
    lines = {"t.py::a": [2], "t.py::b": [2, 3], "t.py::c": [2, 3, 7], "t.py::d": [2]}
    [case] = plan(lines, ["t.py::d"], (2, "+")).cases
    assert [[*lines][place] for place in case.tests] == ["t.py::d", "t.py::c", "t.py::b", "t.py::a"]


def test_the_latest_killers_of_neighbours_come_before_all_others() -> None:
    history = History()
    for killer in (4, 2, 4, 9):
        history.add(killer)
    assert history.order([1, 2, 3, 4]) == [4, 2, 1, 3]


def test_neighbours_are_judged_by_one_worker_and_those_with_most_tests_begin() -> None:
    [unit] = {case.unit for case in plan({"t.py::f": [2]}, [], (2, "+")).cases}
    cases = [
        Case(number, (0, 0, ""), unit, SWAP, tuple(range(tests)), group)
        for number, (tests, group) in enumerate([(1, "few"), (5, "many"), (2, "few"), (5, "many")])
    ]
    assert [[case.number for case in part] for part in chunks(cases)] == [[1, 3], [0, 2]]


LEAVES = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
from guest.children import adopt_orphans, become_a_trial, watch
adopt_orphans()
told, tell = os.pipe()
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    become_a_trial()
    os.write(writer, b"0\\n")
    threading.Thread(target=time.sleep, args=(1000,)).start()
    if os.fork() == 0:
        os.setsid()  # no group's signal reaches it any more
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(tell, str(os.getpid()).encode())
        time.sleep(1000)
    os.read(told, 100)
    os.write(writer, b"passed\\n")
    time.sleep(1000)
os.close(writer)
print(watch(child, reader, [600.0]).word)
with open(f"/proc/self/task/{os.getpid()}/children") as file:
    print(file.read().split())
"""


def test_nothing_that_a_mutant_has_started_outlives_it() -> None:
    home = Path(str(guest.__file__)).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", LEAVES, str(home)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout.splitlines() == ["passed", "[]"], done.stderr
