"""Judging mutants, end to end: a real sandbox, a real suite, the engine in the guest."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import iniconfig
import pytest
from cosmic_ray.work_db import WorkDB, use_db

from bot.domain import (
    Mutant,
    MutantOutcome,
    MutantVerdict,
    MutationResult,
    SuiteRun,
    Target,
)
from bot.errors import MeasureError
from bot.measure.mutants import MutantSet, generate
from bot.measure.mutation import interval, judge
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox
from tests.conftest import write_tree

OpenBox = Callable[..., Sandbox]
KILLED, SURVIVED = MutantOutcome.KILLED, MutantOutcome.SURVIVED


class Scene:
    """A tree with one target, opened in a sandbox, its suite run."""

    def __init__(
        self, open_box: OpenBox, files: Mapping[str, str], path: str, roots: tuple[str, ...] = (".",)
    ) -> None:
        self.box = open_box(files, roots=roots)
        self.source = files[path]
        self.target = Target(path, "mod", self.source, frozenset(), whole_file=True)
        self.run = run_tests(self.box, cover=[path])

    def mutants(self, *wanted: tuple[str, str]) -> MutantSet:
        """Return the mutants whose line holds a text and whose operator's name holds another, one of each operator."""
        found = generate(self.target.path, self.source)
        lines = self.source.splitlines()
        chosen = {
            (mutant.first, mutant.operator): mutant
            for text, operator in wanted
            for mutant in found.mutants
            if text in lines[mutant.first - 1] and operator in mutant.operator
        }
        assert all(any(text in lines[first - 1] for first, _ in chosen) for text, _ in wanted), (
            "none is there"
        )
        return MutantSet(self.target.path, tuple(chosen.values()), len(chosen))

    def judge(self, mutants: MutantSet | None = None, **options: object) -> MutationResult:
        chosen = generate(self.target.path, self.source) if mutants is None else mutants
        return judge(self.box, self.target, chosen, self.run, **options)  # type: ignore[arg-type]

    def outcomes(self, *wanted: tuple[str, str]) -> dict[str, MutantOutcome]:
        """Judge mutants and return, by the text of their line, what became of the last of them."""
        result = self.judge(self.mutants(*wanted))
        lines = self.source.splitlines()
        found = {}
        for text, operator in wanted:
            for verdict in result.verdicts:
                if text in lines[verdict.mutant.first - 1] and operator in verdict.mutant.operator:
                    found[text] = verdict.outcome
        return found


PLACES = """\
import enum
import functools
from dataclasses import dataclass

LIMIT = 10


def scaled(x, factor=2):
    return x * factor + 1


class Shape:
    sides = 4

    @property
    def double(self):
        return self.sides + 4

    @staticmethod
    def static(x):
        return x + 5

    @classmethod
    def made(cls, x):
        return x + 6

    @functools.cached_property
    def once(self):
        return self.sides + 7

    def untested(self):
        return self.sides + 8


class Colour(enum.Enum):
    RED = 11
    BLUE = 12


@dataclass
class Point:
    x: int = 13


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) + 14

    return wrapper


@logged
def wrapped(x):
    return x + 15


@functools.lru_cache(maxsize=None)
def memo(x):
    return x + 16


partial = functools.partial(scaled, factor=17)


@functools.singledispatch
def kind(x):
    return 18


@kind.register
def _(x: int):
    return x + 19


def make_adder(n):
    def add(x):
        return x + n + 20

    return add


add_one = make_adder(1)


async def later(x):
    return x + 21


def table():
    return 22 + 1


TABLE = table()


def generated(n):
    for i in range(n):
        yield i + 23
"""
PLACES_TESTS = """\
import asyncio
import pytest
from pkg.mod import *
from pkg.mod import Shape as S, memo as m, partial as p, add_one as a

def test_limit(): assert LIMIT == 10
def test_scaled(): assert scaled(1) == 3
def test_sides(): assert S.sides == 4
def test_double(): assert S().double == 8
def test_static(): assert S.static(1) == 6
def test_made(): assert S.made(1) == 7
def test_once(): assert S().once == 11
def test_enum(): assert Colour.RED.value == 11
def test_point(): assert Point() == Point(13)
def test_wrapped(): assert wrapped(0) == 29
@pytest.mark.parametrize("x", [1, 2])
def test_memo(x): assert m(x) == x + 16
def test_partial(): assert p(1) == 18
def test_kind(): assert kind("") == 18 and kind(1) == 20
def test_closure(): assert a(0) == 21
def test_later(): assert asyncio.run(later(0)) == 21
def test_table(): assert TABLE == 23
def test_generated(): assert list(generated(1)) == [23]
"""


@pytest.fixture
def places(open_box: OpenBox) -> Scene:
    files = {"src/pkg/__init__.py": "", "src/pkg/mod.py": PLACES, "tests/test_mod.py": PLACES_TESTS}
    return Scene(open_box, files, "src/pkg/mod.py", roots=("src",))


def test_mutants_are_killed_wherever_their_code_lives(places: Scene) -> None:
    number = "NumberReplacer"
    tested = [
        ("LIMIT = 10", number),
        ("def scaled(x, factor=2)", number),
        ("return x * factor + 1", "Add_Sub"),
        ("sides = 4", number),
        ("return self.sides + 4", number),
        ("return x + 5", number),
        ("return x + 6", number),
        ("return self.sides + 7", number),
        ("RED = 11", number),
        ("x: int = 13", number),
        ("return function(*args) + 14", number),
        ("return x + 15", number),
        ("return x + 16", number),
        ("factor=17", number),
        ("return 18", number),
        ("return x + 19", number),
        ("return x + n + 20", number),
        ("return x + 21", number),
        ("return 22 + 1", "Add_Sub"),
        ("yield i + 23", number),
        ("@property", "RemoveDecorator"),
        ("@dataclass", "RemoveDecorator"),
        ("@logged", "RemoveDecorator"),
    ]
    untested = [
        ("return self.sides + 8", number),
        ("BLUE = 12", number),
        ("@functools.lru_cache", "Decorator"),
    ]
    found = places.outcomes(*tested, *untested)
    assert {text for text, outcome in found.items() if outcome is not KILLED} == {t for t, _ in untested}
    assert set(found.values()) == {KILLED, SURVIVED}


def test_the_same_inputs_give_the_same_verdicts_whatever_the_workers(places: Scene) -> None:
    every = generate(places.target.path, places.source, limit=24, seed=1)
    one = places.judge(every, workers=1)
    assert places.judge(every, workers=2) == one
    assert one.count(MutantOutcome.NOT_RUN) == 0
    killers = {verdict.killed_by for verdict in one.verdicts if verdict.outcome is KILLED}
    assert killers <= set(places.run.passed)


HARM = """\
import os
import sys
import threading
import time


def loop(n):
    while n > 0:
        n -= 1
    return n


def sleep(n):
    if n > 1:
        time.sleep(1000)
    return n


def deep(n):
    return 0 if n == 0 else deep(n - 1)


def eat(n):
    return len(bytearray(n * 1024**0))


def leave(n):
    if n > 5:
        os._exit(0)
    return n


def quit(n):
    if n > 6:
        sys.exit(0)
    return n


def spawn(n):
    if n > 7:
        if os.fork() == 0:
            time.sleep(1000)
        threading.Thread(target=time.sleep, args=(1000,)).start()
        raise ValueError
    return n
"""
HARM_TESTS = "from mod import *\n" + "\n".join(
    f"def test_{name}(): assert {name}({n}) == {value}"
    for name, n, value in [
        ("loop", 1, 0),
        ("sleep", 1, 1),
        ("deep", 3, 0),
        ("eat", 7, 7),
        ("leave", 5, 5),
        ("quit", 6, 6),
        ("spawn", 7, 7),
    ]
)


def test_a_mutant_that_does_harm_is_contained(open_box: OpenBox) -> None:
    scene = Scene(open_box, {"mod.py": HARM, "test_mod.py": HARM_TESTS}, "mod.py")
    found = scene.outcomes(
        ("n -= 1", "NumberReplacer"),
        ("if n > 1:", "Gt_GtE"),
        ("n == 0 else deep", "Sub_Add"),
        ("1024**0", "NumberReplacer"),
        ("if n > 5", "Gt_GtE"),
        ("if n > 6", "Gt_GtE"),
        ("if n > 7", "Gt_GtE"),
    )
    timeout = MutantOutcome.TIMEOUT
    assert found == {
        "n -= 1": timeout,
        "if n > 1:": timeout,
        "n == 0 else deep": KILLED,
        "1024**0": KILLED,
        "if n > 5": KILLED,
        "if n > 6": KILLED,
        "if n > 7": KILLED,
    }


def test_a_mutant_that_ends_at_a_second_try_with_twice_the_time_is_no_timeout(open_box: OpenBox) -> None:
    # The test takes 0.08 s of CPU time, so that the first limit is 1.3 s and the second 2.6 s.
    source = (
        "import time\n\n\ndef burn(x):\n    end = time.process_time() + 2 * x\n"
        "    while time.process_time() < end:\n        pass\n    return x\n"
    )
    tests = "import mod\ndef test_burn(): assert mod.burn(0.04) == 0.04\n"
    scene = Scene(open_box, {"mod.py": source, "test_mod.py": tests}, "mod.py")
    assert scene.outcomes(("2 * x", "Mul_Add"), ("< end", "Lt_IsNot")) == {
        "2 * x": SURVIVED,
        "< end": MutantOutcome.TIMEOUT,
    }


SUITES = {
    "mod.py": "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x + 2\n\n\ndef h(x):\n    return x + 3\n",
    "conftest.py": "import pytest\n@pytest.fixture(scope='session')\ndef value():\n    import mod\n    return mod.h(0)\n",
}

WAYS = {
    "lazily_imported": "from lazy import late\ndef test_1(): assert late(1) == 2\n",
    "under_two_names": "from alias import other\ndef test_2(): assert other.f2(1) == 3\n",
    "reloaded": "import importlib, mod\ndef test_3():\n    importlib.reload(mod)\n    assert mod.f3(1) == 4\n",
    "monkeypatched": "import mod\ndef test_4(monkeypatch):\n"
    "    monkeypatch.setattr(mod, 'f0', mod.f4)\n    assert mod.f0(1) == 5\n",
    "unittest": "import unittest, mod\nclass TestF(unittest.TestCase):\n"
    "    def setUp(self): self.x = mod.f5(1)\n    def test_5(self): self.assertEqual(self.x, 6)\n",
    "threads": "import threading, mod\ndef test_6():\n    found = []\n"
    "    t = threading.Thread(target=lambda: found.append(mod.f6(1)))\n    t.start(); t.join()\n"
    "    assert found == [7]\n",
    "session_fixture": "def test_7(value): assert value == 8\n",
    "parametrize": "import pytest, mod\n@pytest.mark.parametrize('x', [mod.f8(1)])\ndef test_8(x): assert x == 9\n",
    "subprocess": "import subprocess, sys\ndef test_9():\n    code = 'import mod; print(mod.f9(1))'\n"
    "    assert subprocess.run([sys.executable, '-c', code], capture_output=True).stdout == b'10\\n'\n",
    "multiprocessing": "import multiprocessing as mp, mod\ndef put(q): q.put(mod.f10(1))\ndef test_10():\n"
    "    c = mp.get_context('fork')\n    q = c.SimpleQueue()\n    p = c.Process(target=put, args=(q,))\n"
    "    p.start()\n    assert q.get() == 11\n    p.join()\n",
    "state": "import mod\nseen = []\ndef test_11():\n    assert not seen\n    seen.append(1)\n    assert mod.f11(1) == 12\n",
}


def test_a_function_is_mutated_however_a_test_gets_at_it(open_box: OpenBox) -> None:
    files = {f"test_{name}.py": tests for name, tests in WAYS.items()} | {
        "mod.py": "\n\n".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(len(WAYS) + 1)),
        "lazy.py": "def late(x):\n    from mod import f1\n\n    return f1(x)\n",
        "alias/__init__.py": "import importlib.util\n"
        "spec = importlib.util.spec_from_file_location('other', 'mod.py')\n"
        "other = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(other)\n",
        "conftest.py": "import pytest\n@pytest.fixture(scope='session')\ndef value():\n"
        "    import mod\n    return mod.f7(1)\n",
    }
    scene = Scene(open_box, files, "mod.py")
    assert len(scene.run.passed) == len(WAYS), scene.run
    found = scene.judge(scene.mutants(("return", "Add_Sub")))
    killers = {
        v.mutant.function: (v.killed_by or "").partition("::")[0].removesuffix(".py") for v in found.verdicts
    }
    assert killers == {"f0": ""} | {f"f{n}": f"test_{name}" for n, name in enumerate(WAYS, 1)}
    assert found.notes == ()


@pytest.mark.slow
def test_a_target_that_only_a_test_imports_is_mutated_when_it_is_imported(open_box: OpenBox) -> None:
    files = SUITES | {
        "pkg/sub/part.py": "ONE = 4 + 1\n\n\ndef f(x):\n    return x + 2\n",  # a namespace package
        "test_mod.py": "def test_f():\n    from pkg.sub import part\n    assert part.f(part.ONE) == 7\n",
        "test_other.py": "def test_other(): pass\n",
    }
    scene = Scene(open_box, files, "pkg/sub/part.py")
    found = scene.outcomes(("ONE = 4 + 1", "Add_Sub"), ("return x + 2", "Add_Sub"))
    assert found == {"ONE = 4 + 1": KILLED, "return x + 2": KILLED}


def test_configuration_that_disturbs_is_obeyed_and_does_no_harm(open_box: OpenBox) -> None:
    files = SUITES | {
        "pytest.ini": "[pytest]\naddopts = -n 2 --cov=mod --random-order --doctest-modules -x\n",
        "test_mod.py": "state = []\ndef test_h(value, tmp_path):\n    assert value == 3\n",
        "mod.py": SUITES["mod.py"].replace(
            "def g(x):\n", 'def g(x):\n    """Add.\n\n    >>> g(1)\n    3\n    """\n'
        ),
    }
    scene = Scene(open_box, files, "mod.py")
    assert "mod.py::mod.g" in scene.run.passed
    found = scene.outcomes(("x + 1", "Add_Sub"), ("x + 2", "Add_Sub"), ("x + 3", "Add_Sub"))
    assert found == {"x + 1": SURVIVED, "x + 2": KILLED, "x + 3": KILLED}


def test_threads_that_live_before_the_fork_make_each_mutant_a_process_of_its_own(open_box: OpenBox) -> None:
    tests = (
        "import threading, time, mod\n"
        "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
        "def test_f(): assert mod.f(1) == 2\n"
    )
    scene = Scene(open_box, SUITES | {"test_mod.py": tests}, "mod.py")
    result = scene.judge(scene.mutants(("x + 1", "Add_Sub"), ("x + 1", "Add_BitXor")))
    assert [verdict.outcome for verdict in result.verdicts] == [KILLED, KILLED]
    assert any("Threads" in note for note in result.notes)


def test_code_that_does_not_bear_a_fork_makes_each_mutant_a_process_of_its_own(open_box: OpenBox) -> None:
    files = {
        "mod.py": "import native\n\n\ndef f(x):\n    return native.value() + x + 1\n\n\ndef g(x):\n    return x + 2\n",
        # As many C extensions do that keep a connection or a thread pool.
        "native.py": "import os\n_OWNER = os.getpid()\n\n\ndef value():\n    if os.getpid() != _OWNER:\n"
        "        os.abort()\n    return 0\n",
        "test_mod.py": "import mod\ndef test_f(): assert mod.f(1) == 2\ndef test_g(): assert mod.g(1) == 3\n",
    }
    scene = Scene(open_box, files, "mod.py")
    result = scene.judge(scene.mutants(("x + 1", "Number"), ("x + 2", "Number")))
    assert {v.killed_by for v in result.verdicts} == {"test_mod.py::test_f", "test_mod.py::test_g"}
    assert any("do not pass in a fork" in note for note in result.notes)


def test_lines_that_coverage_is_told_to_leave_out_are_mutated_all_the_same(open_box: OpenBox) -> None:
    source = (
        "def f(x):\n    if x > 1:  # pragma: no cover\n        x = x + 2\n    return x + 3\n\n\n"
        "def g(x):  # pragma: no cover\n    return x + 4\n\n\ndef h(x):\n    while True:\n        return x\n"
    )
    tests = "from mod import *\ndef test_all(): assert (f(2), f(1), g(1), h(1)) == (7, 4, 5, 1)\n"
    scene = Scene(open_box, {"mod.py": source, "test_mod.py": tests}, "mod.py")
    assert scene.outcomes(
        ("x > 1", "AddNot"), ("x + 2", "Add_Sub"), ("x + 4", "Add_Sub"), ("while", "AddNot")
    ) == {
        "x > 1": KILLED,
        "x + 2": KILLED,
        "x + 4": KILLED,
        "while": KILLED,
    }


def test_a_mutant_of_a_default_argument_is_killed_by_those_who_rely_on_it(open_box: OpenBox) -> None:
    source = (
        "def f(x, y=1, *, z=True, u=None):\n    return (x, y, z)\n\n\n"
        "class C:\n    def m(self, n=-3):\n        return n\n\n\ndef idle(x=5):\n    return x\n\n\nTABLE = idle()\n"
    )
    tests = (
        "from mod import C, TABLE, f as renamed\ndef test_f(): assert renamed(0) == (0, 1, True)\n"
        "def test_m(): assert C().m() == -3\ndef test_table(): assert TABLE == 5\n"
    )
    scene = Scene(open_box, {"mod.py": source, "test_mod.py": tests}, "mod.py")
    result = scene.judge(
        scene.mutants(("def f", "True"), ("def f", "Number"), ("def m", "Number"), ("def idle", "Number"))
    )
    killers = {(v.mutant.function, v.killed_by) for v in result.verdicts}
    assert killers == {
        ("f", "test_mod.py::test_f"),
        ("C.m", "test_mod.py::test_m"),
        ("idle", "test_mod.py::test_table"),
    }


def test_a_module_that_a_plugin_imports_early_is_mutated_in_a_new_python(open_box: OpenBox) -> None:
    files = {
        "mod.py": "A = 5\n\n\ndef f(x):\n    return x + 1\n",
        "early.py": "import mod\n",
        "pytest.ini": "[pytest]\naddopts = -p early\n",
        "test_mod.py": "from mod import A, f\ndef test_a(): assert A == 5 and f(1) == 2\n",
    }
    scene = Scene(open_box, files, "mod.py")
    assert scene.outcomes(("A = 5", "Number"), ("x + 1", "Add_Sub")) == {"A = 5": KILLED, "x + 1": KILLED}


def test_a_module_that_pytest_has_imported_is_mutated_for_a_test_that_only_imports_it(
    open_box: OpenBox,
) -> None:
    package = Path(str(iniconfig.__file__)).parent
    files = {f"iniconfig/{file.name}": file.read_text(encoding="utf-8") for file in package.glob("*.py")}
    files["iniconfig/__init__.py"] += "\n\nLIMIT = 10\nRATIO = 1 / LIMIT\n"
    files["test_it.py"] = "def test_it():\n    import iniconfig\n    assert iniconfig.LIMIT == 10\n"
    scene = Scene(open_box, files, "iniconfig/__init__.py")
    assert scene.outcomes(("LIMIT = 10", "Number"), ("1 / LIMIT", "Div_Mul")) == {
        "LIMIT = 10": KILLED,
        "1 / LIMIT": SURVIVED,
    }


def test_tests_that_are_red_without_a_mutant_kill_nothing_and_are_named(open_box: OpenBox) -> None:
    tests = (
        "import os, pytest, mod\n"
        "def test_once():\n"
        "    first = not os.path.exists('seen')\n"
        "    open('seen', 'w').close()\n"
        "    assert first and mod.f(1)\n"
        "def test_f(): assert mod.f(1)\n"
    )
    scene = Scene(open_box, SUITES | {"test_mod.py": tests}, "mod.py")
    result = scene.judge(scene.mutants(("x + 1", "Add_Sub"), ("x + 1", "Add_Mul")))
    assert {verdict.killed_by for verdict in result.verdicts} == {"test_mod.py::test_f", None}
    assert any("test_mod.py::test_once" in note for note in result.notes)


def test_a_suite_that_is_red_on_the_original_gives_an_error_and_no_score(open_box: OpenBox) -> None:
    tests = "import mod\ndef test_f(): assert mod.f(1) == 9\n"
    scene = Scene(open_box, SUITES | {"test_mod.py": tests}, "mod.py")
    with pytest.raises(MeasureError, match="without a mutant"):
        scene.judge(tests=["test_mod.py::test_f"])


def test_a_test_that_depends_on_another_does_not_kill_by_running_alone(open_box: OpenBox) -> None:
    tests = (
        "import mod\nstate = {}\n"
        "def test_z(): state['x'] = mod.f(1)\n"
        "def test_a(): assert state['x'] and mod.f(1)\n"
    )
    scene = Scene(open_box, SUITES | {"test_mod.py": tests}, "mod.py")
    assert scene.outcomes(("x + 1", "Add_Mul")) == {"x + 1": SURVIVED}


def test_tests_that_do_not_import_the_module_are_not_run_for_it(open_box: OpenBox) -> None:
    files = {
        "mod.py": "A = 5\nB = 6\n",
        "test_mod.py": "from mod import A\ndef test_a(): assert A == 5\n",
        "test_other.py": "def test_other():\n    with open('runs', 'a') as f: f.write('x')\n",
    }
    scene = Scene(open_box, files, "mod.py")
    assert scene.outcomes(("A = 5", "Number"), ("B = 6", "Number")) == {"A = 5": KILLED, "B = 6": SURVIVED}
    assert scene.box.read("runs") == b"x"


def test_without_tests_every_mutant_survives(open_box: OpenBox) -> None:
    scene = Scene(open_box, SUITES, "mod.py")
    result = scene.judge()
    assert {verdict.outcome for verdict in result.verdicts} == {SURVIVED}
    assert result.score == 0.0


def test_without_mutants_there_is_no_score(open_box: OpenBox) -> None:
    files = {"mod.py": "def f(x):\n    return x\n", "test_mod.py": "import mod\ndef test_f(): mod.f(1)\n"}
    result = Scene(open_box, files, "mod.py").judge()
    assert result.verdicts == ()
    assert result.score is None
    assert interval(result) is None


def test_known_verdicts_are_kept_and_survivors_meet_only_new_tests(open_box: OpenBox) -> None:
    tests = "import mod\ndef test_f(): assert mod.f(1) == 2\ndef test_loose(): assert mod.g(1)\n"
    files = SUITES | {"test_mod.py": tests, "test_new.py": "import mod\ndef test_g(): assert mod.g(2) == 4\n"}
    scene = Scene(open_box, files, "mod.py")
    mutants = scene.mutants(("x + 1", "Add_Mul"), ("x + 2", "Add_Mul"), ("x + 3", "Add_Mul"))
    old = ["test_mod.py::test_f", "test_mod.py::test_loose"]
    before = scene.judge(mutants, tests=old)
    assert [v.killed_by for v in before.verdicts] == ["test_mod.py::test_f", None, None]
    known = {v.mutant.id: v for v in before.verdicts}
    # A lie, to see that it is believed and not found out by a run.
    lie = next(v for v in before.verdicts if v.outcome is KILLED)
    known[lie.mutant.id] = MutantVerdict(lie.mutant, KILLED, "test_mod.py::test_loose")
    after = scene.judge(mutants, known=known, seen=old)
    assert [v.killed_by for v in after.verdicts] == ["test_mod.py::test_loose", None, None]
    stronger = scene.judge(scene.mutants(("x + 2", "Add_Sub")), known=known, seen=old)
    assert {v.killed_by for v in stronger.verdicts} <= {"test_new.py::test_g", "test_mod.py::test_loose"}


def test_tests_to_try_first_are_tried_first(open_box: OpenBox) -> None:
    tests = "import mod\n" + "".join(f"def test_{n}(): assert mod.f(1) == 2\n" for n in "abc")
    scene = Scene(open_box, SUITES | {"test_mod.py": tests}, "mod.py")
    mutants = scene.mutants(("x + 1", "Add_Sub"))
    assert {v.killed_by for v in scene.judge(mutants).verdicts} == {"test_mod.py::test_a"}
    first = scene.judge(mutants, first=["test_mod.py::test_c"])
    assert {v.killed_by for v in first.verdicts} == {"test_mod.py::test_c"}


def test_a_source_that_only_the_guest_can_compile_is_decided_there(open_box: OpenBox) -> None:
    scene = Scene(
        open_box, SUITES | {"test_mod.py": "import mod\ndef test_f(): assert mod.f(1) == 2\n"}, "mod.py"
    )
    found = generate("mod.py", scene.source)
    broken = Mutant(
        "x:0", "mod.py", "x", "f", 2, 2, scene.source.index("return x"), len(scene.source), "retur n", ""
    )
    same = Mutant(
        "x:1",
        "mod.py",
        "x",
        "f",
        2,
        2,
        scene.source.index("return x") + 6,
        scene.source.index("return x") + 7,
        "  ",
        "",
    )
    undecided = MutantSet("mod.py", (broken, same, *found.mutants[:1]), 3, decided=False)
    outcomes = [verdict.outcome for verdict in scene.judge(undecided).verdicts]
    assert outcomes[:2] == [MutantOutcome.INCOMPETENT, MutantOutcome.EQUIVALENT]


SMALL = """\
LIMITS = (1, 3)


def clamp(x, low=LIMITS[0]):
    if x < low or not x:
        return low
    for step in range(2):
        x += step
    return x
"""
SMALL_TESTS = """\
from small import clamp


def test_low():
    assert clamp(0) == 1


def test_high():
    assert clamp(3) >= 3
"""


@pytest.mark.slow
def test_verdicts_are_those_of_cosmic_ray(open_box: OpenBox, tmp_path: Path) -> None:
    files = {"small.py": SMALL, "test_small.py": SMALL_TESTS}
    scene = Scene(open_box, files, "small.py")
    ours = {v.mutant.id: v.outcome for v in scene.judge().verdicts}
    place = write_tree(tmp_path / "cosmic", files)
    (place / "config.toml").write_text(
        '[cosmic-ray]\nmodule-path = "small.py"\ntimeout = 20.0\nexcluded-modules = []\n'
        f'test-command = "{sys.executable} -m pytest -x -q -p no:cacheprovider"\n'
        '[cosmic-ray.distributor]\nname = "local"\n'
    )
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    tool = [sys.executable, "-m", "cosmic_ray.cli"]
    subprocess.run([*tool, "init", "config.toml", "work.sqlite"], cwd=place, env=env, check=True)
    with use_db(str(place / "work.sqlite"), WorkDB.Mode.open) as database:
        items = [*database.work_items]
        assert len(items) == len(ours)
        database.clear()
        database.add_work_items(items[::2])
    subprocess.run([*tool, "exec", "config.toml", "work.sqlite"], cwd=place, env=env, check=True)
    with use_db(str(place / "work.sqlite"), WorkDB.Mode.open) as database:
        jobs = {item.job_id: item.mutations[0] for item in database.work_items}
        theirs = {
            f"{jobs[job].operator_name}:{jobs[job].occurrence}": result.test_outcome.value
            for job, result in database.results
        }
    caught = {MutantOutcome.KILLED, MutantOutcome.TIMEOUT, MutantOutcome.INCOMPETENT}
    assert len(theirs) > 8
    assert {id_: ours[id_] in caught for id_ in theirs} == {
        id_: outcome != "survived" for id_, outcome in theirs.items()
    }
    assert len(set(theirs.values())) == 2


def test_coverage_of_another_file_is_an_error() -> None:
    mutants = generate("mod.py", "x = 1\n")
    run = SuiteRun()
    target = Target("mod.py", "mod", "x = 1\n", frozenset())
    with pytest.raises(MeasureError, match=r"mod\.py is not known"):
        judge(None, target, mutants, run, tests=["a"])  # type: ignore[arg-type]


def result_of(killed: int, survived: int, of: int) -> MutationResult:
    mutant = generate("mod.py", "x = 1\n").mutants[0]
    outcomes = [KILLED] * killed + [SURVIVED] * survived
    return MutationResult(tuple(MutantVerdict(mutant, outcome) for outcome in outcomes), of)


def test_the_interval_of_a_sample_narrows_to_the_score_when_all_were_judged() -> None:
    assert interval(result_of(30, 20, 50)) == (0.6, 0.6)
    wide, narrow = interval(result_of(30, 20, 5000)), interval(result_of(30, 20, 60))
    assert wide is not None
    assert narrow is not None
    assert wide[0] < narrow[0] < 0.6 < narrow[1] < wide[1]
    # Wilson's interval for 30 of 50 without any correction is 0.4618 to 0.7239.
    assert wide == pytest.approx((0.4618, 0.7239), abs=0.002)
