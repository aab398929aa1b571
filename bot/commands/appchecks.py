"""What a server needs, tried: the GitHub App's number, key and secret, and the database with its tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bot.errors import UsageError
from bot.sandbox.inspection import Check, State

if TYPE_CHECKING:
    from bot.settings import Settings

_NOT_NEEDED = "not set up; only `testforge serve` and `worker` need it"


def checks(operator: Settings) -> Iterator[Check]:
    """Look at the App and at the database; nothing is made, and GitHub is not asked.

    What is not set up at all is absent: a command on a laptop needs neither.
    """
    from bot import settings
    from bot.jobs import credentials

    is_begun = any((operator.private_key, operator.private_key_file, operator.webhook_secret))
    try:
        directory = settings.data_place(operator)
        complete = operator if operator.app_id is not None else credentials.joined(operator, directory)
    except UsageError as error:
        yield _broken("app", error)
    else:
        if complete.app_id is None and not is_begun:
            yield Check("app", State.ABSENT, _NOT_NEEDED, "Start `testforge serve` and open /setup.")
        else:
            yield from _app(complete)
    yield _database(operator)


def _app(operator: Settings) -> Iterator[Check]:
    """Look at each of the three that GitHub gave out."""
    from bot.github import app

    if operator.app_id is None:
        fix = "Set TESTFORGE_APP_ID to the number on the App's page at GitHub."
        yield Check("app", State.BROKEN, "the App's number is not set", fix)
    else:
        yield Check("app", State.OK, f"number {operator.app_id}")
    try:
        app.try_key(operator)
    except UsageError as error:
        yield _broken("app key", error, "Set TESTFORGE_PRIVATE_KEY_FILE to the file that GitHub gave out.")
    else:
        yield Check("app key", State.OK, "it signs")
    if operator.webhook_secret is None:
        fix = "Set TESTFORGE_WEBHOOK_SECRET to the secret on the App's page at GitHub."
        yield Check("app secret", State.BROKEN, "no webhook can be believed without it", fix)
    else:
        yield Check("app secret", State.OK, "set")


def _database(operator: Settings) -> Check:
    """Look whether the database opens and has the tables of this version."""
    from sqlalchemy.exc import SQLAlchemyError

    from bot import settings
    from bot.store import database, tables

    url = operator.database_url or f"sqlite:///{settings.data_place(operator) / settings.DATABASE_FILE}"
    shown = database.shown(url)
    try:
        # Opening a SQLite file that is not there would make it.
        missing = database.is_sqlite(url) and not os.path.exists(database.file_of(url))  # noqa: PTH110
        if missing and operator.database_url is None:
            return Check("database", State.ABSENT, _NOT_NEEDED)
        if missing:
            fix = "`testforge serve` makes it; or set TESTFORGE_DATABASE_URL to one that is there."
            return Check("database", State.ABSENT, f"{shown} is not there yet", fix)
        engine = database.connect(url)
    except UsageError as error:
        return _broken("database", error)
    try:
        found = tables.look(engine)
    except SQLAlchemyError as error:
        fix = "Let the user of TESTFORGE_DATABASE_URL read and make tables there."
        return Check("database", State.BROKEN, f"{shown} cannot be read ({type(error).__name__})", fix)
    finally:
        engine.dispose()
    if found == 0:
        return Check("database", State.ABSENT, f"{shown} has no tables yet", "`testforge serve` makes them.")
    if found != tables.VERSION:
        told = f"{shown} has tables of version {found}, and this testforge needs {tables.VERSION}"
        return Check("database", State.BROKEN, told, "Use the testforge that made them, or another database.")
    return Check("database", State.OK, f"{shown}, with its tables")


def _broken(name: str, error: UsageError, fix: str = "") -> Check:
    """Return a check for an error, whose last sentence says what to do; `fix` where it has only one."""
    told, _, last = error.message.rpartition(". ")
    detail = f" ({error.detail.splitlines()[0]})" if error.detail else ""
    return Check(name, State.BROKEN, f"{told or last}{detail}", last if told else fix)
