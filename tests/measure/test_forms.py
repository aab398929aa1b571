"""What anybody may have written in the guest's place ends no run: a row of another form is refused, all others are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import MeasureError
from bot.measure import mutation, outcomes
from bot.measure.forms import is_right
from bot.measure.guest_jobs import Answer, _answer
from bot.sandbox import Completed, Sandbox
from bot.sandbox.guest.seal import Seal

NAME = "test_it.py::test_a"
JOURNAL: list[dict[str, Any]] = [
    {"event": "file", "path": "mod.py", "statements": [1, 2], "branches": [[1, 2]], "top": [1]},
    {"event": "collecting", "path": "test_it.py"},
    {"event": "uncollectable", "path": "test_b.py", "message": "it hung"},
    {"event": "collected", "ids": [NAME], "errors": {"test_c.py": "SyntaxError"}},
    {"event": "begin", "id": NAME, "function": "test_a", "case": {"x": 0}},
    {"event": "cover", "context": f"test {NAME}", "path": "mod.py", "lines": [2], "branches": [[1, -1]]},
    {"event": "uses", "id": NAME, "contexts": ["fixture a"]},
    {
        **{"event": "test", "id": NAME, "outcome": "passed", "duration": 0.1},
        **{"message": "", "detail": "", "assertion": False},
    },
    {"event": "crash", "message": "gave up"},
]
OTHERS: list[dict[str, Any]] = [
    {"event": "checked", "id": NAME, "passes": True, "whole": False},
    {"mutant": 3, "outcome": "killed", "test": 0},
    {"mutant": 3, "outcome": "survived", "test": None},
    {"problem": "The mutation engine broke down.", "detail": ""},
    {"red": [0, 1]},
    {"note": "A plugin of pytest keeps threads."},
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def answer(*lines: bytes) -> Answer:
    seal = Seal(b"k" * 16)
    content = b"".join(seal.closed(line + b"\n") for line in (*lines, b'{"event": "end"}'))
    return _answer(content, b"k" * 16, Completed(0, "", "", 1.0))


@pytest.mark.parametrize("row", [*JOURNAL, *OTHERS], ids=lambda row: next(iter(row.values()), ""))
def test_what_the_guest_writes_is_right(row: dict[str, Any]) -> None:
    assert is_right(row)


@given(st.integers(0, len(JOURNAL) - 1), st.data(), ANYTHING)
def test_a_row_with_anything_in_it_is_refused_or_read(place: int, data: st.DataObject, value: Any) -> None:
    key = data.draw(st.sampled_from(sorted(JOURNAL[place])))
    rows = [*JOURNAL[:place], {**JOURNAL[place], key: value}, *JOURNAL[place + 1 :]]

    found = answer(*(json.dumps(row).encode() for row in rows))
    run = outcomes._suite_run(found, 60)

    assert found.forged or len(run.results) <= 2


@given(st.integers(0, len(JOURNAL) - 1), st.data())
def test_a_row_that_lacks_something_is_refused_or_read(place: int, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(JOURNAL[place])))
    short = {name: value for name, value in JOURNAL[place].items() if name != key}
    rows = [*JOURNAL[:place], short, *JOURNAL[place + 1 :]]

    outcomes._suite_run(answer(*(json.dumps(row).encode() for row in rows)), 60)


@pytest.mark.parametrize("line", [b'{"problem": ', b"[" * 100_000, b"7", b"\xff", b"NaN", b'"event"'])
def test_what_is_no_row_is_not_believed(line: bytes) -> None:
    assert answer(line).forged == "something else than the test runner has written results"


@pytest.mark.parametrize(
    "change", [{"mutant": -1}, {"mutant": True}, {"outcome": "splendid"}, {"test": "0"}, {"test": -1}]
)
def test_a_verdict_that_cannot_be_is_refused(change: dict[str, Any]) -> None:
    assert not is_right({"mutant": 3, "outcome": "killed", "test": 0} | change)


@pytest.mark.parametrize("row", [{"mutant": 0, "outcome": "killed", "test": 1}, {"red": [0, 7]}])
def test_a_test_that_there_is_not_makes_the_mutation_score_worthless(
    row: dict[str, Any], monkeypatch: pytest.MonkeyPatch, open_box: Callable[..., Sandbox]
) -> None:
    found = answer(json.dumps(row).encode())
    monkeypatch.setattr(mutation, "run_job", lambda *_, **__: found)

    with pytest.raises(MeasureError, match="a test was named that there is not"):
        mutation._run(open_box({}), {"tests": [NAME]}, 60)
