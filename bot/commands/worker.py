"""`testforge worker`: takes runs from the database that a server puts them into; any number, on any machine."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

from bot.commands.serve import end_this_process, leave, secrets_of
from bot.deliver.terminal import sentences

if TYPE_CHECKING:
    from bot.settings import Settings


def worker() -> None:
    """Review pull requests that a server has taken; it joins by the same TESTFORGE_DATABASE_URL."""
    with sentences():
        from bot.errors import UsageError
        from bot.jobs import credentials, safety

        operator = credentials.load()
        safety.insist(operator)
        if operator.app_id is None:
            raise UsageError("No GitHub App is set. Set TESTFORGE_APP_ID and TESTFORGE_PRIVATE_KEY_FILE.")
        _work(operator)
        leave(0)


def _work(operator: Settings) -> None:
    """Work until a signal ends it."""
    import structlog

    from bot import settings
    from bot.github.app import App
    from bot.jobs.engine import Engine
    from bot.store import open_store
    from bot.web import logging

    logging.configure(secrets_of(operator))
    wanted = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: wanted.set())
    store = open_store(settings.database_url(operator))
    engine = Engine(operator, store, App(operator), end_this_process)
    engine.start()
    log = structlog.get_logger("testforge.worker")
    log.info("the worker is ready", worker=engine.name)
    wanted.wait()
    log.info("the worker stops", worker=engine.name)
    engine.stop()
    store.close()
