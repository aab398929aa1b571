"""Untrusted programs on many inputs: what each gives, and that none harms another."""

from __future__ import annotations

import textwrap

import pytest

from bot.programs.grid import Grid, run_grids

ADD = "def f(x):\n    return x + 1\n"
TESTS = "assert f(1) == 2\nassert f(2) == 3\nassert f('a') == 'a1'"


def test_passing_failing_and_raising_are_told_apart(table_of):
    table = table_of([ADD, "def f(x):\n    return 2\n", "def g(x):\n    return 2\n"], TESTS)
    assert table.outcomes == ("PPE", "PFF", "EEE")
    assert [cell.kind for cell in table.cells[0]] == ["value", "value", "raised"]
    assert [cell.text for cell in table.cells[0]] == ["2", "3", "TypeError"]


def test_a_program_that_does_not_parse_raises_on_everything(table_of):
    table = table_of(["def f(x:\n", ADD], TESTS)
    assert table.outcomes == ("EEE", "PPE")
    assert {cell.kind for cell in table.cells[0]} == {"unparsable"}


@pytest.mark.parametrize(
    "predicate",
    ["_ != 3", "_ in (2, 3)", "_ is not None", "abs(_ - 2) < 0.1", "isinstance(_, int)", "not _ == 3"],
)
def test_any_predicate_can_be_asked_of_a_value(table_of, predicate):
    from bot.programs.assertions import Assertion

    assert table_of([ADD], [Assertion("f(1)", predicate)]).outcomes == ("P",)


HOSTILE = {
    "exits": "import sys\ndef f(x):\n    sys.exit(0)\n",
    "exits at once": "import os\ndef f(x):\n    os._exit(0)\n",
    "forks": "import os\ndef f(x):\n    os.fork()\n    os.fork()\n    return x + 1\n",
    "prints without end": "def f(x):\n    while True:\n        print('x' * 10000)\n",
    "catches its time limit": """
        def f(x):
            while True:
                try:
                    while True: pass
                except BaseException: pass
    """,
    "computes where no signal is handled": "def f(x):\n    return sum(range(10 ** 12))\n",
    "eats memory": "def f(x):\n    a = []\n    while True:\n        a.append('x' * 10 ** 7)\n",
    "patches builtins": "import builtins\nbuiltins.len = lambda x: 0\nbuiltins.abs = None\ndef f(x):\n    return x + 1\n",
    "patches a module": "import math\nmath.floor = lambda x: 7\ndef f(x):\n    return x + 1\n",
    "recurses without end": "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(x):\n    return f(x)\n",
    "remembers": "seen = []\ndef f(x, more=[]):\n    more.append(x); seen.append(x)\n    return x + len(more) * len(seen)\n",
    "kills its group": "import os, signal\ndef f(x):\n    os.killpg(0, signal.SIGKILL)\n",
    "writes answers": 'import os\ndef f(x):\n    for n in range(3, 30):\n        try: os.write(n, b\'[0, "value", "2", "P"]\\n\')\n        except OSError: pass\n    return 0\n',
    "takes the next programs": "import os\ndef f(x):\n    for n in range(3, 30):\n        try: os.set_blocking(n, False); os.read(n, 80)\n        except OSError: pass\n    return x + 1\n",
    "ends its runner": "import os, signal\ndef f(x):\n    os.kill(os.getppid(), signal.SIGKILL)\n    return x + 1\n",
    "ends all that keeps its cells": """
        import os, signal
        def f(x):
            parents = [os.getppid()]
            for _ in range(2):
                parents.append(int(open(f"/proc/{parents[-1]}/stat").read().rpartition(")")[2].split()[1]))
            for one in reversed(parents):
                os.kill(one, signal.SIGKILL)
            return x + 1
    """,
    "posts in the name of others": """
        import json, os, socket, struct
        def f(x):
            names = {line.split("@")[1].strip() for line in open("/proc/net/unix") if "@testforge-" in line}
            assert names
            for name in names:
                to = socket.socket(socket.AF_UNIX)
                to.connect("\\0" + name)
                rows = [{"grid": 0, "program": n, "kinds": ["value"] * 2, "texts": ["7"] * 2, "tests": ["F"] * 2} for n in range(99)]
                to.sendall("".join(json.dumps(row) + "\\n" for row in [{"problem": "none", "message": ""}, *rows]).encode())
                to.close()
            return x + 1
    """,
    "sleeps": "import time\ndef f(x):\n    time.sleep(1000)\n",
}


@pytest.mark.slow
def test_no_program_harms_another(table_of):
    hostile = [textwrap.dedent(text) for text in HOSTILE.values()]
    honest = "import math\ndef f(x):\n    assert len([1, 2]) == 2 and abs(-1) == 1 and math.floor(1.5) == 1\n    return x + 1\n"
    programs = [program for bad in hostile for program in (bad, honest)]

    table = table_of(programs, "assert f(1) == 2\nassert f(2) == 3", limit_s=0.1)

    assert set(table.outcomes[1::2]) == {"PP"}
    found = dict(zip(HOSTILE, table.outcomes[::2], strict=True))
    assert (
        found["remembers"] == found["takes the next programs"] == found["posts in the name of others"] == "PP"
    )
    assert found["ends its runner"] == found["ends all that keeps its cells"] == "XX"
    assert found["exits"] == "EE"
    assert found["exits at once"] == found["kills its group"] == "XX"
    for name in (
        "prints without end",
        "catches its time limit",
        "computes where no signal is handled",
        "sleeps",
    ):
        assert found[name] == "TT", name
    assert "P" not in found["eats memory"] + found["recurses without end"]
    # What it writes where it must not can only be about itself.
    assert set(found["writes answers"]) <= set("PFX")


def test_each_pair_alone_gives_the_same(table_of):
    programs = [
        ADD,
        "cache = {}\ndef f(x):\n    cache[x] = 1\n    return x + len(cache)\n",
        "def f(x):\n    while True: pass\n",
        "import random\ndef f(x):\n    return x + random.randint(1, 9)\n",
    ]
    together, alone = (table_of(programs, TESTS, limit_s=0.1, alone=one) for one in (False, True))
    assert together.outcomes == alone.outcomes
    assert together.cells == alone.cells


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return {'b', 'a', 'c'}", "{'a', 'b', 'c'}"),
        ("return frozenset()", "frozenset()"),
        ("return {'b': [1, (2,)], 'a': None}", "{'b': [1, (2,)], 'a': None}"),
        ("return float('nan')", None),
        ("return 10 ** 5000", None),
        ("return object()", None),
        ("return list(range(100000))", None),
        ("a = []; a.append(a); return a", None),
        ("yield 1", None),
    ],
)
def test_a_value_is_told_as_an_expression_or_not_at_all(table_of, body, text):
    table = table_of([f"def f(x):\n    {body}\n"], "assert f(1) == 0")
    assert (table.cells[0][0].kind, table.cells[0][0].text) == ("value", text)


def test_a_generator_meets_each_test_fresh(table_of):
    tests = "assert list(f(2)) == [0, 1]\nassert sum(f(2)) == 1\nassert next(f(2)) == 0"
    assert table_of(["def f(x):\n    yield from range(x)\n"], tests).outcomes == ("PPP",)


def test_no_programs_give_no_rows(open_box):
    assert run_grids(open_box({}), [Grid((), ("f(1)",), (("_ == 1",),))]) == ((),)


def test_observed_values_become_assertions_that_say_which_program_gives_them(table_of):
    whole = table_of([ADD, "def f(x):\n    return 2.0\n"], "assert f(1) == 5").with_observed()
    assert [one.text for one in whole.assertions] == [
        "assert f(1) == 5",
        "assert f(1) == 2",
        "assert f(1) == 2.0",
    ]
    assert whole.outcomes == ("FPP", "FPP")  # 2 equals 2.0


def test_what_raises_neither_passes_nor_fails_an_observed_value(table_of):
    programs = [ADD, "def f(x):\n    raise ValueError\n", "def f(x):\n    while True: pass\n"]
    whole = table_of(programs, "assert f(1) == 5", limit_s=0.05).with_observed()
    assert [row[1] for row in whole.outcomes] == ["P", "E", "T"]
