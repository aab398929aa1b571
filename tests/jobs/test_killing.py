"""kill -9 in the middle of a run: in the end one review, no model call made twice, and nothing left behind.

These are a few moments of each kind; `bench/kills.py` tries many.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.github.server import GitHub
from tests.jobs.killing import (
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


def test_a_killed_server_and_a_killed_run_are_continued(github: GitHub, tmp_path: Path) -> None:
    configure(github)
    data = tmp_path / "data"
    env = environment(github, data)
    chance = random.Random(5)
    with Revivable("serve", env, tmp_path / "log") as server:
        server.process.wait_until_ready()
        store = open_beside(env)
        log = lambda: server.process.log.read_text()[-4000:]  # noqa: E731
        calm = run_once(github, server.url, store, log)
        assert calm.is_right(calm.requests)
        assert calm.requests
        for victim in (server.victim, child_of(data)):
            moment = chance.uniform(0.2, 0.9) * calm.seconds
            outcome = run_once(github, server.url, store, log, moment, victim)
            assert outcome.is_right(calm.requests), (moment, outcome, log())
        assert server.process.stop() == 0
        store.close()
    wait_for(lambda: not processes_with(data), f"left behind: {processes_with(data)}", 60)


def test_a_worker_that_is_killed_for_good_is_replaced_by_its_peer(github: GitHub, tmp_path: Path) -> None:
    configure(github)
    with Postgres.started() as postgres:
        url = postgres.new_database()
        names = ("web", "left", "right")
        envs = {
            name: environment(
                github,
                tmp_path / name,
                TESTFORGE_WORKER_NAME=name,
                TESTFORGE_DATABASE_URL=url,
                TESTFORGE_RUNS_AT_ONCE="0" if name == "web" else "1",
            )
            for name in names
        }
        with (
            Revivable("serve", envs["web"], tmp_path / "web.log") as web,
            Revivable("worker", envs["left"], tmp_path / "left.log") as left,
            Revivable("worker", envs["right"], tmp_path / "right.log") as right,
        ):
            web.process.wait_until_ready()
            workers = {"left": left, "right": right}
            store = open_beside(envs["web"])
            log = lambda: "".join((tmp_path / f"{name}.log").read_text()[-3000:] for name in names)  # noqa: E731
            calm = run_once(github, web.url, store, log)
            assert calm.is_right(calm.requests), log()

            def kill_the_busy_one() -> bool:
                name = busy_worker(store)
                return bool(name) and workers[name].kill()

            outcome = run_once(
                github, web.url, store, log, calm.seconds / 2, Victim(kill_the_busy_one, lambda: None)
            )
            assert outcome.killed
            assert outcome.is_right(calm.requests), (outcome, log())
            store.close()
    for name in names:
        wait_for(lambda name=name: not processes_with(tmp_path / name), f"{name} left something behind", 60)
