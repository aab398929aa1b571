"""Mutants whose values never differ from the original's: they survive without a run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain import MutantOutcome
from bot.measure.mutants import generate
from bot.sandbox import Sandbox
from bot.sandbox.guest import purity
from bot.sandbox.guest.defaults import function_of
from bot.sandbox.guest.expressions import OPERATIONS, Exchange, exchange
from bot.sandbox.guest.units import Module
from tests.measure.test_mutation import Scene

OpenBox = Callable[..., Sandbox]
KILLED, SURVIVED = MutantOutcome.KILLED, MutantOutcome.SURVIVED


def exchanged(source: str, old: str, new: str) -> Exchange | None:
    """Return what `exchange` says of a mutant that puts `new` in the place of the first `old`."""
    module = Module(source)
    start = source.index(old)
    line = source.count("\n", 0, start) + 1
    unit = module.unit(line, line)
    function = function_of(ast.parse(module.text(unit)), unit)
    assert function is not None
    return exchange(module, function.body, (start, start + len(old), new))


def evaluated(expression: ast.expr, names: dict[str, Any]) -> Any:
    tree = ast.fix_missing_locations(ast.Expression(expression))
    return eval(compile(tree, "<rewritten>", "eval"), {**OPERATIONS, **names})


LEAVES = st.sampled_from(
    ["a", "b", "c", "1", "-2", "'x'", "None", "True", "(1, 'x')", "a.low", "b[0]", "c[1:]"]
)
OPERATORS = st.sampled_from(["<", "==", "is", "not in", "in", ">=", "and", "or", "+", "-", "*", "%", "|"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, OPERATORS, inner),
        st.builds("(not {})".format, inner),
        st.builds("len({})".format, inner),
        st.builds("({}).upper().strip()".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    ),
    max_leaves=6,
)
VALUES = st.one_of(
    st.integers(-3, 3),
    st.text("xy", max_size=2),
    st.none(),
    st.booleans(),
    st.just((1, "x")),
    st.just([0, "y"]),
)


class Box:
    low = 1


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS, VALUES, VALUES, st.one_of(VALUES, st.just(Box())))
def test_a_rewritten_expression_gives_what_the_original_gives_or_nothing(
    text: str, b: Any, c: Any, a: Any
) -> None:
    found = exchanged(f"def f(a, b, c):\n    return {text} == 7\n", "== 7", "!= 7")
    names = {"a": a, "b": b, "c": c, "len": len}
    if found is None:
        return
    for rewritten, operator in ((found.plain, "=="), (found.mutated, "!=")):
        try:
            value = evaluated(rewritten, names)
        except Exception:
            continue
        assert purity.same(value, eval(f"{text} {operator} 7", names))


class Watchful:
    """Calls itself out wherever an operator or an attribute would call it."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __eq__(self, _: object) -> bool:
        self.heard.append("eq")
        return True

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        self.heard.append("bool")
        return True

    def __len__(self) -> int:
        self.heard.append("len")
        return 1

    def __contains__(self, _: object) -> bool:
        self.heard.append("in")
        return True

    def __getitem__(self, _: object) -> int:
        self.heard.append("item")
        return 1

    def __add__(self, _: object) -> int:
        self.heard.append("add")
        return 1

    @property
    def shown(self) -> int:
        self.heard.append("property")
        return 1

    def __getattr__(self, name: str) -> int:
        self.heard.append(name)
        return 1

    def upper(self) -> str:
        self.heard.append("upper")
        return ""


@pytest.mark.parametrize(
    "text",
    [
        *(
            "x == 1",
            "1 == x",
            "(x, 1) == (1, 1)",
            "1 in [x]",
            "1 in x",
            "x[0] == 1",
            "x + 1 == 2",
            "x.shown == 1",
        ),
        *(
            "x.missing == 1",
            "x.upper() == 'X'",
            "len(x) == 1",
            "(x and 1) == 1",
            "(not x) == 1",
            "(1 if x else 2) == 1",
        ),
    ],
)
def test_no_code_of_the_repository_runs_for_a_look(text: str) -> None:
    found = exchanged(f"def f(x, len):\n    return {text} or 5\n", "or", "and")
    assert found is not None
    watchful = Watchful()
    for rewritten in (found.plain, found.mutated):
        with pytest.raises(purity.ImpureError):
            evaluated(rewritten, {"x": watchful, "len": len})
    assert watchful.heard == []


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        ("def f(x=1):\n    return x\n", "=1", "=2"),  # it counts where the function is defined
        ("def f(x):\n    return x ** 2 == 4\n", "** 2", "** 3"),
        ("def f(x):\n    return f'{x + 1}'\n", "+", "-"),
        ("def f(x):\n    return x is 1000\n", "is", "is not"),
        ("def f(x):\n    return g(x + 1, y=2)\n", "g(", "h("),
        ("def f(x):\n    return [x * 2 for x in x]\n", "for x in x", "for x in ()"),
        ("class C:\n    def f(self):\n        return self.__x + 1\n", "+", "-"),
        ("def f(x):\n    x[x + 1] = 2\n", "x[x", "x[-x"),
        ("def f(x):\n    try:\n        pass\n    except KeyError:\n        pass\n", "KeyError", "Other"),
        ("def f(x):\n    return x == 1\n", "==", "=="),
    ],
)
def test_what_cannot_be_looked_at_is_no_exchange(source: str, old: str, new: str) -> None:
    assert exchanged(source, old, new) is None


def test_an_exchange_that_changes_what_is_around_it_is_seen_as_a_larger_one() -> None:
    # `x * 2` becomes `x + 2`, but what is computed then is `(y - x) + 2`.
    found = exchanged("def f(x, y):\n    return y - x * 2\n", "*", "+")
    assert found is not None
    assert found.names == ("x", "y")
    assert evaluated(found.mutated, {"x": 1, "y": 5}) == 6


def test_only_truth_counts_of_a_condition() -> None:
    source = "def f(x, y):\n    while x and y:\n        return 1\n    return x and y\n"
    found = exchanged(source, "and", "or")
    assert found is not None
    assert evaluated(found.plain, {"x": 2, "y": 3}) is evaluated(found.mutated, {"x": 2, "y": 3}) is True


KINDS = """\
def sign(x):
    if x > 0 and x != 100:
        return 1
    return -1


def loud(x):
    return x > 500 and x < 600
"""
TESTS = """\
import importlib, subprocess, sys
import mod

def begin():
    with open(__file__ + ".runs", "a") as file:
        file.write("x")

def test_sign():
    begin()
    assert [mod.sign(x) for x in (-5, 7)] == [-1, 1]

def test_quiet():
    begin()
    assert not mod.loud(3)
"""


def expected(source: str, calls: Callable[[dict[str, Any]], bool]) -> dict[str, bool]:
    """Return whether some calls fail under each mutant, by its id."""
    found = {}
    for mutant in generate("mod.py", source).mutants:
        names: dict[str, Any] = {}
        exec(
            compile(source[: mutant.start] + mutant.replacement + source[mutant.end :], "mod", "exec"), names
        )
        found[mutant.id] = not calls(names)
    return found


def signs(names: dict[str, Any]) -> bool:
    return [names["sign"](x) for x in (-5, 7)] == [-1, 1] and not names["loud"](3)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_mutants_that_change_no_value_survive_without_a_run(open_box: OpenBox) -> None:
    scene = Scene(open_box, {"mod.py": KINDS, "test_mod.py": TESTS}, "mod.py")
    before = len(scene.box.read("test_mod.py.runs"))
    result = scene.judge()
    runs = len(scene.box.read("test_mod.py.runs")) - before
    assert {v.mutant.id: v.outcome is KILLED for v in result.verdicts} == expected(KINDS, signs)
    assert result.notes == ()
    killed, survived = result.count(KILLED), result.count(SURVIVED)
    assert survived > 12
    # The controls, a killer for each mutant, each killer once without one; and no run for most of the survivors.
    assert runs < 4 + killed + 2 + survived / 2


UNSEEN = {
    # What a mutant does in another process, or in a module made anew, nobody has watched.
    "subprocess": "    code = 'import mod; print(mod.loud(600), mod.loud(550))'\n"
    "    done = subprocess.run([sys.executable, '-c', code], capture_output=True)\n"
    "    assert done.stdout.split() == [b'False', b'True']\n",
    "reload": "    importlib.reload(mod)\n    assert (mod.loud(600), mod.loud(550)) == (False, True)\n",
    # A test that sees the watching.
    "code": "    assert not any(map(callable, mod.loud.__code__.co_consts))\n"
    "    assert (mod.loud(600), mod.loud(550)) == (False, True)\n",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("how", UNSEEN)
def test_a_mutant_that_is_caught_where_nobody_watches_does_not_survive(how: str, open_box: OpenBox) -> None:
    scene = Scene(
        open_box, {"mod.py": KINDS, "test_mod.py": f"{TESTS}\ndef test_more():\n{UNSEEN[how]}"}, "mod.py"
    )
    result = scene.judge()
    assert {v.mutant.id: v.outcome is KILLED for v in result.verdicts} == expected(
        KINDS, lambda names: signs(names) and [names["loud"](x) for x in (600, 550)] == [False, True]
    )
    assert result.notes == ()
