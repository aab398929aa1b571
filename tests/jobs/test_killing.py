"""kill -9 in the middle of a run: in the end one review, no reply of the model paid for twice, and nothing left behind.

A few moments of the worst kinds, told by what the model's server has seen and not by a clock: within a call of the model,
and when there is none left. `bench/kills.py` tries many at random.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.github.server import GitHub
from tests.jobs.counting import counted
from tests.jobs.killing import (
    Moment,
    Outcome,
    Revivable,
    Victim,
    busy_worker,
    child_of,
    configure,
    open_beside,
    processes_with,
    run_once,
)
from tests.jobs.serving import environment, wait_for
from tests.store.postgres import Postgres

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


CONFIG = "max_iterations: 1\nmutation:\n  enabled: false\nintent:\n  questions: 0\n"
"""The shortest run that has calls of the model, one after the other, and a review."""


def is_right(outcome: Outcome) -> bool:
    """Whether there is one review, and of all requests only that one came twice that was open when its asker was killed."""
    again = [request for request, count in Counter(outcome.asked).items() for _ in range(count - 1)]
    return (
        outcome.killed
        and (outcome.state, outcome.reviews, outcome.summaries) == ("done", 1, 1)
        and again == outcome.asked[outcome.asked_before - 1 : outcome.asked_before]
        and len(outcome.asked) == len(outcome.requests) + 1
    )


def test_a_killed_server_and_a_killed_run_are_continued(github: GitHub, tmp_path: Path) -> None:
    configure(github, CONFIG)
    data = tmp_path / "data"
    with counted() as model:
        env = environment(github, data, **model.environment)
        with Revivable("serve", env, tmp_path / "log") as server:
            server.process.wait_until_ready()
            store = open_beside(env)
            log = lambda: server.process.log.read_text()[-4000:]  # noqa: E731
            first = run_once(github, server.url, store, log, Moment(within=2), server.victim, model)
            assert is_right(first), (first, log())
            last = Moment(within=len(first.requests))
            second = run_once(github, server.url, store, log, last, child_of(data), model)
            assert is_right(second), (second, log())
            assert second.requests == first.requests
            assert server.process.stop() == 0
            store.close()
    wait_for(lambda: not processes_with(data), f"left behind: {processes_with(data)}", 60)


def test_a_worker_that_is_killed_for_good_is_replaced_by_its_peer(github: GitHub, tmp_path: Path) -> None:
    configure(github, CONFIG)
    with ExitStack() as stack:
        postgres = stack.enter_context(Postgres.started())
        model = stack.enter_context(counted())
        shared = {"TESTFORGE_DATABASE_URL": postgres.new_database(), **model.environment}
        processes = {}
        for name in ("web", "left", "right"):
            env = environment(
                github,
                tmp_path / name,
                TESTFORGE_WORKER_NAME=name,
                TESTFORGE_RUNS_AT_ONCE="0" if name == "web" else "1",
                **shared,
            )
            command = "serve" if name == "web" else "worker"
            processes[name] = stack.enter_context(Revivable(command, env, tmp_path / f"{name}.log"))
        processes["web"].process.wait_until_ready()
        store = open_beside(env)
        stack.callback(store.close)

        def kill_the_busy_one() -> bool:
            name = busy_worker(store)
            return bool(name) and processes[name].kill()

        def log() -> str:
            return "".join((tmp_path / f"{name}.log").read_text()[-3000:] for name in processes)

        for_good = Victim(kill_the_busy_one, lambda: None)
        outcome = run_once(github, processes["web"].url, store, log, Moment(within=2), for_good, model)
        assert is_right(outcome), (outcome, log())
    for name in processes:
        wait_for(lambda name=name: not processes_with(tmp_path / name), f"{name} left something behind", 60)
