"""Opening the database: what is accepted, what is refused and how, and that processes do not get in each other's way."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from bot.errors import UsageError
from bot.store import database, open_store


def test_several_that_open_a_new_database_at_once_all_find_its_tables(tmp_path):
    url = f"sqlite:///{tmp_path}/store.sqlite"
    with ThreadPoolExecutor(8) as pool:
        stores = list(pool.map(lambda _: open_store(url), range(8)))
    for store in stores:
        assert store.runs.count() == {}
        store.close()


def test_sqlite_writes_ahead_and_knows_unixepoch_with_fractions(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/store.sqlite")
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("SELECT unixepoch('subsec') > 1.7e9").scalar() == 1
    store.close()


def test_unixepoch_is_given_to_an_old_sqlite(monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    connection = sqlite3.connect(":memory:")
    database.prepare_sqlite(connection, None)
    whole, fraction = connection.execute("SELECT unixepoch(), unixepoch('subsec')").fetchone()
    assert isinstance(whole, int)
    assert isinstance(fraction, float)
    connection.close()


@pytest.mark.parametrize("url", ["mysql://me@host/db", "sqlite://", "sqlite:///:memory:", "nonsense", ""])
def test_a_database_of_another_kind_is_refused_with_what_to_write(url):
    with pytest.raises(UsageError, match=r"sqlite:///PATH or postgresql://"):
        open_store(url)


def test_a_database_that_cannot_be_opened_is_named_without_its_password(tmp_path):
    with pytest.raises(UsageError) as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/db")
    assert "127.0.0.1:1/db" in caught.value.message
    assert "secret" not in caught.value.message + caught.value.detail
    with pytest.raises(UsageError, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}/missing/store.sqlite")


def test_ping_says_when_the_database_is_gone(store):
    store.ping()
    store.close()


def test_tables_are_made_once_for_all_kinds(store):
    assert "testforge_runs" in sa.inspect(store.engine).get_table_names()
    again = open_store(store.engine.url.render_as_string(hide_password=False))
    again.close()
