"""The probe's own small faults are those that cosmic-ray would make, and what it tells of values is true."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.measure import mutants
from bot.models.offline.probe import faults, survivors, telling, watching
from bot.models.offline.probe.faults import Fault

SOURCE = '''\
import re


def grade(points, limit=10):
    """Ünïcode comes first."""
    label = "é" if points > limit else "plain"
    for step in range(3):
        if points == step and not limit:
            continue
        points += step * 2
    try:
        return label, points // 2
    except (ValueError, TypeError):
        return None


class Sheet:
    width = 4

    @property
    def area(self):
        return self.width ** 2 if self.width is not None else -1
'''


def texts(source: str, found: list[Fault]) -> set[str]:
    return {ast.dump(ast.parse(source[: f.start] + f.text + source[f.end :])) for f in found}


def test_the_faults_are_those_of_cosmic_ray() -> None:
    ours = texts(SOURCE, faults.find(SOURCE, ast.parse(SOURCE)))
    theirs = {
        ast.dump(ast.parse(SOURCE[: m.start] + m.replacement + SOURCE[m.end :])).replace(
            "CosmicRayTestingException", "__tf_Never__"
        )
        for m in mutants.generate("sheet.py", SOURCE).mutants
    }

    assert theirs <= ours


def test_a_fault_in_a_method_is_compiled_alone_at_its_line() -> None:
    tree = ast.parse(SOURCE)
    fault = next(f for f in faults.find(SOURCE, tree) if f.what == "** to +")

    code = faults.compiled(faults.Text(SOURCE), fault, "sheet.py", 0)

    assert code is not None
    area = next(c for c in faults.codes(code) if c.co_name == "area")
    assert area.co_firstlineno == SOURCE.splitlines().index("    @property") + 1


def test_a_fault_on_a_continued_line_is_reached_by_its_statement() -> None:
    source = "def f(a, b):\n    return (a\n            + b)\n"

    fault = faults.find(source, ast.parse(source))[0]

    assert (fault.line, fault.reached) == (3, 2)


def test_a_printed_survivor_is_found_in_the_source_again() -> None:
    block = (
        "M3 core/NumberReplacer in grade, line 10\n-        points += step * 2\n+        points += step * 3"
    )

    (fault,) = survivors.read([block], SOURCE, ast.parse(SOURCE))

    assert SOURCE[: fault.start] + fault.text + SOURCE[fault.end :] == SOURCE.replace("step * 2", "step * 3")
    assert fault.scope is not None
    assert fault.scope.name == "grade"


def test_a_survivor_that_is_not_in_the_source_is_left_out() -> None:
    assert (
        survivors.read(["M1 x, line 3\n-    y = 1\n+    y = 2", "", "nonsense"], SOURCE, ast.parse(SOURCE))
        == []
    )


def test_woven_code_does_what_the_code_does_and_leaves_a_record() -> None:
    record = watching.Record()
    space: dict[str, Any] = dict(watching.hooks(record))
    exec(compile(watching.weave(ast.parse(SOURCE)), "sheet.py", "exec"), space)

    assert space["grade"](11) == ("é", 8)
    assert space["Sheet"]().area == 16
    assert record.hits[7] == 1
    assert any(mark[1] == "more" for mark in record.marks)


def test_too_many_steps_end_a_case_that_catches_everything() -> None:
    record = watching.Record()
    space: dict[str, Any] = dict(watching.hooks(record))
    source = "def f():\n    while True:\n        try:\n            x = 1\n        except Exception:\n            pass\n"
    exec(compile(watching.weave(ast.parse(source)), "f.py", "exec"), space)
    record.clear(1000)

    with pytest.raises(watching.TooManySteps):
        space["f"]()


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.floats(allow_nan=False)
    | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers() | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_a_value_is_told_as_an_expression_that_gives_it(value: object) -> None:
    told = telling.Teller(ast, eval).text(value)

    assert told is None or eval(told) == value


def test_an_object_that_only_says_where_it_lies_is_not_told() -> None:
    assert telling.Teller(ast, eval).text(object()) is None
    assert telling.Teller(ast, eval).text("<thing at 0x7f00deadbeef>") is None
