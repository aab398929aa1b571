"""A database for each test, of each kind that there is."""

from __future__ import annotations

import pytest

from bot.store import open_store
from tests.store.postgres import Postgres


@pytest.fixture(scope="session")
def postgres():
    """A Postgres server of the tests' own."""
    with Postgres.started() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """An open, empty database."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/store.sqlite"
    else:
        url = request.getfixturevalue("postgres").new_database()
    opened = open_store(url)
    yield opened
    opened.close()
