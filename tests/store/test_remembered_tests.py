"""Memory over pushes, and money."""

from __future__ import annotations

import time

import pytest

from bot.store.memory import Remembered, RememberedSuite


def test_a_dismissed_test_stays_dismissed_when_it_is_proposed_again(store):
    store.memory.propose(
        "o/r", 1, [Remembered("h1", "T1", "t::a", "m.py"), Remembered("h2", "T2", "t::b", "m.py")]
    )
    found = store.memory.mark("o/r", 1, ["t2"], "dismissed", actor="alice", why="too slow")
    assert [test.behaviour for test in found] == ["h2"]
    store.memory.propose("o/r", 1, [Remembered("h2", "T1", "t::b", "m.py")])
    assert store.memory.dismissed("o/r", 1) == {"h2"}
    assert store.memory.dismissed("o/r", 2) == frozenset()
    assert store.memory.tests("o/r", 1, "dismissed")[0].why == "too slow"


def test_a_label_means_the_test_that_carried_it_last(store):
    store.memory.propose("o/r", 1, [Remembered("h1", "T1", "t::a", "m.py", head="a")])
    store.memory.propose("o/r", 1, [Remembered("h2", "T1", "t::b", "m.py", head="b")])
    store.memory.mark("o/r", 1, ["T1"], "dismissed", actor="alice")
    assert store.memory.dismissed("o/r", 1) == {"h2"}


def test_all_cases_of_a_label_are_marked(store):
    rows = [Remembered(f"h{i}", "T1", f"t::a[{i}]", "m.py", head="a") for i in range(3)]
    store.memory.propose("o/r", 1, rows)
    store.memory.mark("o/r", 1, ["T1"], "dismissed", actor="alice")
    assert store.memory.dismissed("o/r", 1) == {"h0", "h1", "h2"}


def test_a_label_that_nothing_carries_marks_nothing(store):
    assert store.memory.mark("o/r", 1, ["T9"], "dismissed", actor="alice") == []


def test_the_suite_proposed_last_replaces_the_one_before(store):
    store.memory.keep_suites("o/r", 1, [RememberedSuite("m.py", "f1", "old")])
    store.memory.keep_suites(
        "o/r", 1, [RememberedSuite("m.py", "f2", "new"), RememberedSuite("a.py", "f", "x")]
    )
    assert [(s.target, s.functions, s.content) for s in store.memory.suites("o/r", 1)] == [
        ("a.py", "f", "x"),
        ("m.py", "f2", "new"),
    ]


def test_what_was_proposed_long_ago_is_forgotten(store):
    store.memory.propose("o/r", 1, [Remembered("h1", "T1", "t::a", "m.py")])
    store.memory.keep_suites("o/r", 1, [RememberedSuite("m.py", "f1", "old")])
    store.memory.forget(time.time() - 60)
    assert store.memory.tests("o/r", 1)
    store.memory.forget(time.time() + 60)
    assert not store.memory.tests("o/r", 1)
    assert not store.memory.suites("o/r", 1)


def test_money_is_summed_by_repository_and_month_and_a_run_counts_once(store):
    store.spending.note("r1", "o/r", 0.5, month="2026-11")
    store.spending.note("r1", "o/r", 0.75, month="2026-11")
    store.spending.note("r2", "o/r", 0.25, month="2026-11")
    store.spending.note("r3", "o/r", 9.0, month="2026-10")
    store.spending.note("r4", "o/other", 9.0, month="2026-11")
    assert store.spending.spent("o/r", month="2026-11") == pytest.approx(1.0)
    assert store.spending.spent("o/r", month="2026-12") == 0.0
