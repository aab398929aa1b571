"""Runs in the database: how they begin, go on, end, and are found again."""

from __future__ import annotations

import time


def begin(store, run="r1", number=1, head="a" * 40, repository="o/r"):
    store.runs.begin(
        run,
        repository=repository,
        number=number,
        head=head,
        installation=5,
        delivery="d1",
        actor="alice",
        event="e",
    )


def test_a_run_that_begins_again_after_a_crash_keeps_its_beginning_and_its_result(store):
    begin(store)
    store.runs.keep_result("r1", {"status": "proposed"}, {"body": "x"}, 0.5)
    began = store.runs.get("r1").began
    begin(store)
    run = store.runs.get("r1")
    assert (run.began, run.state, run.status, run.cost_usd) == (began, "running", "proposed", 0.5)
    assert store.runs.report("r1") == {"status": "proposed"}
    assert store.runs.review("r1") == {"body": "x"}


def test_the_first_end_of_a_run_counts(store):
    begin(store)
    store.runs.finish("r1", "cancelled", "@alice stopped it.")
    store.runs.finish("r1", "done")
    run = store.runs.get("r1")
    assert (run.state, run.reason) == ("cancelled", "@alice stopped it.")
    assert run.ended is not None


def test_the_last_posted_run_is_found_by_head_and_without(store):
    begin(store, "r1", head="a" * 40)
    store.runs.finish("r1", "done")
    begin(store, "r2", head="b" * 40)
    store.runs.finish("r2", "superseded")
    assert store.runs.last_posted("o/r", 1).id == "r1"
    assert store.runs.last_posted("o/r", 1, "a" * 40).id == "r1"
    assert store.runs.last_posted("o/r", 1, "b" * 40) is None
    assert store.runs.last_posted("o/r", 2) is None


def test_what_is_stopped_is_what_was_asked_before(store):
    store.runs.stop("o/r", 1, 100.0, "@alice stopped it.")
    assert store.runs.stopped("o/r", 1, 99.0) == "@alice stopped it."
    assert store.runs.stopped("o/r", 1, 100.5) == ""
    assert store.runs.stopped("o/r", 2, 99.0) == ""
    store.runs.stop("o/r", 1, 200.0, "The pull request was closed.")
    assert store.runs.stopped("o/r", 1, 150.0) == "The pull request was closed."


def test_a_whole_repository_is_stopped_by_number_zero(store):
    store.runs.stop("o/r", 0, 100.0, "Gone.")
    assert store.runs.stopped("o/r", 7, 50.0) == "Gone."
    assert store.runs.stopped("o/other", 7, 50.0) == ""


def test_old_runs_are_forgotten_with_their_model_calls_and_running_ones_are_not(store):
    begin(store, "old")
    store.journal("old").next_call([{"role": "user"}]).write({"text": "x"})
    store.runs.finish("old", "done")
    begin(store, "running")
    assert store.runs.forget(time.time() + 1) == 1
    assert store.runs.get("old") is None
    assert store.runs.get("running") is not None
    assert store.journal("old").next_call([{"role": "user"}]).read() is None


def test_runs_are_counted_by_state_and_listed_newest_first(store):
    for name in ("r1", "r2", "r3"):
        begin(store, name)
    store.runs.finish("r2", "done")
    assert store.runs.count() == {"running": 2, "done": 1}
    assert [run.id for run in store.runs.recent()] == ["r3", "r2", "r1"]
    assert [run.id for run in store.runs.running()] == ["r3", "r1"]


def test_the_mean_cost_is_of_the_last_posted_runs(store):
    for index, cost in enumerate([9.0, 1.0, 3.0]):
        begin(store, f"r{index}")
        store.runs.keep_result(f"r{index}", {}, None, cost)
        store.runs.finish(f"r{index}", "done")
    assert store.runs.mean_cost("o/r", last=2) == 2.0
    assert store.runs.mean_cost("o/other") == 0.0
