from __future__ import annotations

import random
from pathlib import Path

import cosmic_ray.plugins
import idna.core
import packaging.version
import pytest
import yaml.constructor
from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code

from bot.domain import Mutant
from bot.measure.mutants import MutantSet, generate
from bot.measure.splices import splices

ODDITIES = """\
import os, sys
from typing import Protocol
def f(*, a, b=not 1, **k):
    try:
        return [
            1,  # one
            2j, 0x10,
        ]
    except (os.error, KeyError):
        pass
    except (KeyError):
        pass
    except (KeyError, ValueError) as e: raise
    except: pass
@decorate  # why
# between
@again(1)
async def g(x, /, *y):
    if(x): return -x
    elif not x is None and x != 3: x = y if x else ~x
    while True: break
    for i in(1, 2): continue
    assert x, f"{x + 1:>{10}} {y!r}"
    return x if x <= -1 else [*y, *x]
class C(P, metaclass=type(1)):
    x: int | None = +1; y = 1 if 2 else 3
    print(* f(), sep = "", ** {})
"""


def mutated(source: str, mutant: Mutant) -> str:
    return source[: mutant.start] + mutant.replacement + source[mutant.end :]


def everything(found: MutantSet) -> tuple[Mutant, ...]:
    return (*found.mutants, *found.equivalent, *found.incompetent)


def by_cosmic_ray(source: str, operator: str, occurrence: int) -> str | None:
    try:
        found: str | None = mutate_code(source, cosmic_ray.plugins.get_operator(operator)(), occurrence)
    except Exception:
        return None
    return found


REAL = [packaging.version, idna.core, yaml.constructor]


@pytest.mark.parametrize("module", REAL, ids=lambda module: module.__name__)
def test_every_splice_gives_the_text_that_cosmic_ray_gives(module: object) -> None:
    source = Path(str(module.__file__)).read_text(encoding="utf-8")  # type: ignore[attr-defined]
    for splice in random.Random(7).sample(splices(source), 12):
        text = source[: splice.start] + splice.replacement + source[splice.end :]
        assert text == by_cosmic_ray(source, splice.operator, splice.occurrence)


@pytest.mark.parametrize(
    "source",
    [ODDITIES, ODDITIES.replace("\n", "\r\n"), "\ufeff" + ODDITIES, "x = 1 +\ndef f(:\n  return 2 < 3\n"],
    ids=["plain", "crlf", "bom", "broken"],
)
def test_odd_syntax_gives_the_texts_that_cosmic_ray_gives(source: str) -> None:
    for splice in splices(source):
        want = by_cosmic_ray(source, splice.operator, splice.occurrence)
        got = source[: splice.start] + splice.replacement + source[splice.end :]
        assert (None if splice.crashes else got) == want


def test_the_list_is_that_of_cosmic_ray_init(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_text(ODDITIES)
    listed = [item.mutations[0] for item in _all_work_items([path], {})]
    assert [(s.operator, s.occurrence) for s in splices(ODDITIES)] == [
        (m.operator_name, m.occurrence) for m in listed
    ]
    assert [s.first for s in splices(ODDITIES)] == [m.start_pos[0] for m in listed]


def test_operators_that_need_arguments_are_not_in_the_standard_run() -> None:
    assert not [s for s in splices("x = 1\ny = x\n") if "Variable" in s.operator]


def test_an_exception_handler_that_crashes_the_operator_is_incompetent() -> None:
    found = generate("m.py", "import os\ntry: pass\nexcept (os.error, KeyError): pass\n")
    assert [m.operator for m in found.incompetent] == ["core/ExceptionReplacer"]
    assert "core/ExceptionReplacer:1" in [m.id for m in found.mutants]


def test_a_mutant_that_does_not_compile_is_incompetent() -> None:
    found = generate("m.py", "def f(*, a):\n    return a\n")
    assert found.mutants == ()
    assert {m.operator for m in found.incompetent} >= {"core/ReplaceBinaryOperator_Mul_Add"}


def test_a_number_too_large_to_print_is_incompetent() -> None:
    found = generate("m.py", f"x = 0x{'f' * 5000}\n")
    assert found.mutants == ()
    assert len(found.incompetent) == 2


@pytest.mark.parametrize(
    ("source", "equivalent"),
    [
        ("def f():\n    x: int | None = g()\n    y: (1 | 2)\n    return x\n", True),
        ("def f(x: int | str): pass\n", False),
        ("class A:\n    x: list[int | str]\n", False),
        ("x: list[int | str] = []\n", False),
        ("from __future__ import annotations\ndef f(x: int | str) -> int | str: pass\n", True),
        ("from __future__ import annotations\nclass A:\n    x: list[int | str]\n", True),
        ("from __future__ import annotations\nx: list[int | str] = []\n", True),
        ("from __future__ import annotations\n@dataclass\nclass A:\n    x: list[int | str]\n", False),
        ("from __future__ import annotations\nclass A(BaseModel):\n    x: list[int | str]\n", False),
        ("from __future__ import annotations\n@app.command()\ndef f(x: int | str): pass\n", False),
        (
            "from __future__ import annotations\nclass A(B):\n    @property\n    def f(self) -> int | str: pass\n",
            True,
        ),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    T = int | str\n", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    T = int | str\n", False),
    ],
)
def test_an_annotation_that_nothing_evaluates_is_equivalent(source: str, equivalent: bool) -> None:
    found = generate("m.py", source)
    bars = [m for m in found.equivalent if "BitOr" in m.operator]
    others = [m for m in found.mutants if "BitOr" in m.operator]
    assert (bool(bars), bool(others)) == (equivalent, not equivalent)


@pytest.mark.parametrize(
    ("header", "equivalent"),
    [
        ("class A(Generic[T]):", True),
        ("class A(t.Protocol):", True),
        ("class A(ValueError, metaclass=ABCMeta):", True),
        ("class A(Base):", False),
        ("class A(Generic[T], BaseModel):", False),
        ("class A(Base, metaclass=Meta):", False),
        ("@dataclass\nclass A:", False),
    ],
)
def test_annotations_in_a_class_count_only_where_its_making_may_look_at_them(
    header: str, equivalent: bool
) -> None:
    found = generate("m.py", f"from __future__ import annotations\n{header}\n    a: list[int | str] = 0\n")
    assert bool([m for m in found.equivalent if "BitOr" in m.operator]) is equivalent
    assert bool([m for m in found.mutants if "BitOr" in m.operator]) is not equivalent


def test_an_overload_that_the_function_itself_follows_has_no_mutants() -> None:
    stub = "@t.overload\ndef f(a: int, b: int = 1) -> int: ...\n"
    real = "def f(a, b=1):\n    return a\n"
    assert {m.first for m in generate("m.py", stub + real).mutants} == {3}
    assert {m.first for m in generate("m.py", real + stub).mutants} > {1}


@pytest.mark.parametrize("module", REAL, ids=lambda module: module.__name__)
def test_a_piece_compiled_alone_says_the_same_as_the_whole_module(module: object) -> None:
    import warnings

    from bot.sandbox.guest.sameness import same_code

    source = Path(str(module.__file__)).read_text(encoding="utf-8")  # type: ignore[attr-defined]
    # What counts as code that never runs is another matter.
    source = source.replace("from __future__ import annotations", "").replace("TYPE_CHECKING", "CHECKING")
    found = generate("m.py", source, limit=20)
    warnings.simplefilter("ignore")
    original = compile(source, "m", "exec", dont_inherit=True)
    for mutant in found.mutants:
        assert not same_code(compile(mutated(source, mutant), "m", "exec", dont_inherit=True), original)
    for mutant in found.equivalent[:20]:
        assert same_code(compile(mutated(source, mutant), "m", "exec", dont_inherit=True), original)
    for mutant in found.incompetent[:20]:
        with pytest.raises((SyntaxError, ValueError)):
            compile(mutated(source, mutant), "m", "exec", dont_inherit=True)


def test_an_elif_at_module_level_is_judged_with_its_if() -> None:
    found = generate("m.py", "if a > 1:\n    x = 1\nelif a > 3:\n    def f():\n        return 4\n")
    assert found.incompetent == ()
    assert {m.first for m in found.mutants} == {1, 2, 3, 5}


def test_only_mutants_that_touch_a_line_asked_for_are_made() -> None:
    source = "x = 1\ny = [\n    2,\n    3,\n]\nz = (4 +\n     5)\n"
    found = generate("m.py", source, lines=frozenset({3, 7}))
    assert {m.first for m in found.mutants} == {3, 7}


def test_a_condition_over_several_lines_belongs_to_each_of_them() -> None:
    found = generate(
        "m.py", "def f(a, b):\n    if (a and\n            b):\n        return a\n", lines=frozenset({3})
    )
    assert [(m.operator, m.first, m.last) for m in found.mutants] == [("core/AddNot", 2, 3)]


def test_a_mutant_names_its_function_and_shows_its_change() -> None:
    source = (
        "class A:\n    def m(self):\n        def inner(x):\n            return x + 1\n        return inner\n"
    )
    mutant = next(m for m in generate("m.py", source).mutants if m.operator.endswith("Add_Sub"))
    assert mutant.function == "A.m.<locals>.inner"
    assert mutant.diff == "-            return x + 1\n+            return x - 1"
    assert (mutant.id, mutant.first, mutant.last) == ("core/ReplaceBinaryOperator_Add_Sub:0", 4, 4)


def test_a_decorator_belongs_to_the_function_it_decorates() -> None:
    found = generate("m.py", "@cache\n@wraps(g)\nasync def f():\n    pass\n\n\nx = 1\n")
    removed = [m for m in found.mutants if m.operator == "core/RemoveDecorator"]
    assert [(m.function, m.first, m.last) for m in removed] == [("f", 1, 1), ("f", 2, 2)]
    assert {m.function for m in found.mutants if "Number" in m.operator} == {""}


def test_a_sample_takes_from_each_function_in_proportion_and_depends_on_the_seed_alone() -> None:
    source = "".join(f"def f{n}(a, b):\n    return {' + '.join(['a'] * (3 + 9 * n))}\n" for n in range(3))
    every = generate("m.py", source)
    sample = generate("m.py", source, limit=40, seed=5)
    assert sample == generate("m.py", source, limit=40, seed=5)
    assert sample.mutants != generate("m.py", source, limit=40, seed=6).mutants
    assert (len(sample.mutants), sample.total) == (40, len(every.mutants))
    for name in ("f0", "f1", "f2"):
        share = sum(m.function == name for m in every.mutants) * 40 / every.total
        assert abs(sum(m.function == name for m in sample.mutants) - share) <= 1


def test_a_source_that_this_python_cannot_compile_is_left_to_the_guest() -> None:
    found = generate("m.py", "def f(a):\n    return a + 1\nprint 'x'\n")
    assert not found.decided
    assert "core/ReplaceBinaryOperator_Add_Sub:0" in [m.id for m in found.mutants]


def test_ids_are_unique_and_survive_a_restriction_to_lines() -> None:
    found = generate("m.py", ODDITIES)
    ids = [m.id for m in everything(found)]
    assert len(ids) == len(set(ids))
    some = generate("m.py", ODDITIES, lines=frozenset({20}))
    assert set(everything(some)) <= set(everything(found))


def test_a_function_compiled_alone_has_the_code_that_it_has_in_its_module() -> None:
    from bot.sandbox.guest.sameness import same_code
    from bot.sandbox.guest.units import Module

    source = (
        "import os.path as places, sys\nif sys:\n    from math import floor\n\n\n"
        "def f(x):\n    import json\n    return places.join(x, floor.y(1), sys.exit(2), json.dumps(3), x.z(4))\n"
    )
    whole = compile(source, "m", "exec", dont_inherit=True)
    module = Module(source)
    alone = module.compiled(module.unit(8, 8))
    # From Python 3.11 on, calls of what an imported name holds are compiled differently.
    ours, theirs = (
        next(each for each in code.co_consts if hasattr(each, "co_code")) for code in (alone, whole)
    )
    assert same_code(ours, theirs)


def test_an_expression_nested_deeper_than_can_be_printed_has_no_mutants_of_its_own() -> None:
    deep = generate("m.py", f"def add(a):\n    return {'-' * 260}a\n\n\ndef less(a):\n    return a - 1\n")
    assert any("a + 1" in mutant.diff for mutant in deep.mutants)
