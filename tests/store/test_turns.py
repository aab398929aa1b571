"""Writers take turns: who came first writes first."""

from __future__ import annotations

import threading

import sqlalchemy as sa

from bot.store import database
from bot.store.turns import Turns


def test_turns_are_taken_in_the_order_of_coming():
    turns = Turns()
    assert turns.take(0)
    done: list[int] = []
    threads = []
    for number in range(5):
        before = len(turns._waiting)

        def wait(number: int = number) -> None:
            assert turns.take(30)
            done.append(number)
            turns.give_back()

        threads.append(threading.Thread(target=wait))
        threads[-1].start()
        while len(turns._waiting) == before:
            threads[-1].join(0.001)
    turns.give_back()
    for thread in threads:
        thread.join()
    assert done == [0, 1, 2, 3, 4]
    assert turns.take(0)


def test_who_waits_too_long_goes_without_and_leaves_no_trace():
    turns = Turns()
    assert turns.take(0)
    assert not turns.take(0.01)
    turns.give_back()
    assert turns.take(0)


def test_a_turn_ends_with_its_transaction_also_when_that_fails(tmp_path):
    engine = database.connect(f"sqlite:///{tmp_path}/x.sqlite")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER PRIMARY KEY)")
    for _ in range(2):
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql("INSERT INTO t VALUES (1)")
                connection.exec_driver_sql("INSERT INTO t VALUES (1)")
        except sa.exc.IntegrityError:
            pass
    done = threading.Event()

    def write() -> None:
        with engine.begin() as connection:
            connection.exec_driver_sql("INSERT INTO t VALUES (2)")
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    thread.join(20)
    assert done.is_set()
    engine.dispose()


def test_readers_wait_for_nobody(tmp_path):
    engine = database.connect(f"sqlite:///{tmp_path}/x.sqlite")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER PRIMARY KEY)")
    with engine.begin() as writer:
        writer.exec_driver_sql("INSERT INTO t VALUES (1)")
        with engine.connect() as reader:
            assert reader.exec_driver_sql("SELECT count(*) FROM t").scalar() == 0
    engine.dispose()
