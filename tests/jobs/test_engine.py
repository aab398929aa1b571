"""The engine's edges: names that are taken, peers that are gone, what is old, and what DBOS must go on to offer."""

from __future__ import annotations

import threading
import time
from importlib.metadata import version

import pytest

from bot.errors import UsageError
from bot.github.app import App
from bot.github.wishes import Wish
from bot.jobs import engine as engines
from bot.jobs import peers, queues, retention, safety
from bot.jobs.engine import Engine
from bot.jobs.locks import locks_of
from bot.settings import Settings
from bot.store import open_store
from tests.queues import take
from tests.store.conftest import postgres  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """An engine that takes wishes and does not work on them."""
    place = tmp_path_factory.mktemp("engine")
    operator = Settings(data_directory=place, app_id=1, private_key="none", worker_name="one", runs_at_once=0)
    store = open_store(f"sqlite:///{place}/x.sqlite")
    found = Engine(operator, store, App(operator), lambda: None)
    take()
    found.start()
    yield found
    found.stop()
    store.close()


def wish(delivery, number=1, kind="review", command=""):
    return Wish(kind, delivery, 5, "octo/parcels", number, "alice", head="a" * 40, command=command)


def test_a_second_process_of_the_same_name_is_refused(engine, monkeypatch):
    monkeypatch.setattr(engines, "OWN_LOCK_S", 0.1)
    other = Engine(engine._operator, engine.store, engine._app, lambda: None)
    with pytest.raises(UsageError, match="Another server or worker named 'one'"):
        other.start()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_name_is_held_by_one_and_free_when_it_is_given_back(kind, tmp_path, request):
    url = f"sqlite:///{tmp_path}/x.sqlite"
    if kind == "postgres":
        url = request.getfixturevalue("postgres").new_database()
    store = open_store(url)
    locks = locks_of(store.url, store.engine)
    lock = locks.acquire("one")
    assert lock is not None
    assert lock.is_held()
    assert locks_of(store.url, store.engine).acquire("one") is None
    other = locks.acquire("two")
    assert other is not None
    other.release()
    lock.release()
    again = locks.acquire("one")
    assert again is not None
    again.release()
    store.close()


def test_a_lock_whose_connection_broke_is_not_held(request, tmp_path):
    store = open_store(request.getfixturevalue("postgres").new_database())
    lock = locks_of(store.url, store.engine).acquire("one")
    with store.engine.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
        )
    assert not lock.is_held()
    store.close()


def test_a_lost_lock_ends_the_worker(tmp_path):
    class Lost:
        def is_held(self):
            return False

        def release(self):
            pass

    told = threading.Event()
    watcher = peers.Peers(None, "one", Lost(), told.set, every_s=0.01)
    watcher.start()
    assert told.wait(20)
    watcher.stop()


def test_what_a_dead_worker_had_begun_goes_back_to_the_queue_and_a_live_one_keeps_its_work(engine):
    from dbos import DBOS

    engine.submit([wish("dead"), wish("alive", number=2)])
    locks = locks_of(engine.store.url, engine.store.engine)
    with engine.store.engine.begin() as connection:
        for delivery, name in (("dead", "gone"), ("alive", "busy")):
            connection.exec_driver_sql(
                "UPDATE workflow_status SET status = 'PENDING', executor_id = ? WHERE workflow_uuid LIKE ?",
                (name, f"%/{delivery}"),
            )
    lock = locks.acquire("busy")
    assert peers.dead_workers_tended(locks, "one") == ["gone"]
    lock.release()
    status = {row.workflow_id.rpartition("/")[2]: row.status for row in DBOS.list_workflows()}
    assert (status["dead"], status["alive"]) == ("ENQUEUED", "PENDING")


def test_dbos_is_the_version_whose_private_parts_are_used():
    assert version("dbos").startswith("3.4.")


def test_reviews_that_wait_are_those_that_came_later(engine):
    engine.submit([wish("early", number=7)])
    began = time.time()
    engine.submit([wish("late", number=7), wish("other", number=77)])
    prefix = queues.pull_prefix("octo/parcels", 7)
    assert queues.waiting_reviews("octo/parcels", 7, began, ()) == {f"{prefix}late"}
    assert queues.waiting_reviews("octo/parcels", 7, 0.0, ()) == {f"{prefix}early", f"{prefix}late"}
    assert queues.waiting_reviews("octo/parcels", 7, began, {f"{prefix}late"}) == set()


def test_what_ended_long_ago_is_deleted_and_what_waits_is_not(engine):
    from dbos import DBOS

    engine.submit([wish("old", number=8), wish("waiting", number=8)])
    DBOS.cancel_workflow(queues.pull_prefix("octo/parcels", 8) + "old")
    engine.store.runs.begin("old", repository="o/r", number=8, head="", installation=1, delivery="d")
    engine.store.runs.finish("old", "done")
    assert retention.tidy(engine.store, time.time(), 3600) == (0, 0)
    runs, workflows = retention.tidy(engine.store, time.time() + 7200, 3600)
    assert runs == 1
    assert workflows == 1
    left = {
        row.workflow_id
        for row in DBOS.list_workflows(workflow_id_prefix=queues.pull_prefix("octo/parcels", 8))
    }
    assert left == {queues.pull_prefix("octo/parcels", 8) + "waiting"}


def test_a_server_insists_on_containers_unless_it_is_told():
    with pytest.raises(UsageError, match="without a container"):
        safety.insist(Settings(sandbox="process"))
    safety.insist(Settings(sandbox="process", allow_process_sandbox=True))
    safety.insist(Settings(sandbox="docker"))
    safety.insist(Settings())
