"""The server's routes put together."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from bot.errors import SandboxError
from bot.sandbox import engine
from bot.web.health import Readiness, healthz
from bot.web.metrics import Metrics
from bot.web.runs import RunPages
from bot.web.setup import Setup
from bot.web.signing_in import Operator
from bot.web.station import Station
from bot.web.webhook import Webhook


def make(station: Station, directory: Path, address: str) -> Starlette:
    """Return the application; it starts the station and stops it.

    Args:
        directory: Where the App's credentials are kept.
        address: Where the server is reached, for the links in the log.
    """
    metrics = Metrics(station.store)
    webhook = Webhook(station, metrics)
    operator = Operator(lambda code: _announce(address, code, setup=not station.has_app))
    setup = Setup(station, operator, directory)
    pages = RunPages(station.store, operator, station.settings.github_url)
    ready = Readiness(
        {
            "database": lambda: _database(station),
            "engine": lambda: _engine(station),
            "sandbox": lambda: _sandbox(station),
        }
    )

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await run_in_threadpool(station.start)
        operator.new_code()
        yield
        await webhook.close()
        await run_in_threadpool(station.stop)

    return Starlette(
        routes=[
            Route("/webhook", webhook.__call__, methods=["POST"]),
            Route("/healthz", healthz),
            Route("/readyz", ready.__call__),
            Route("/metrics", metrics.__call__),
            Route("/setup", setup.form, methods=["GET"]),
            Route("/setup", setup.manifest, methods=["POST"]),
            Route("/setup/done", setup.done),
            Route("/signin", pages.sign_in, methods=["POST"]),
            Route("/runs", pages.all),
            Route("/runs/{id:path}", pages.one),
        ],
        lifespan=lifespan,
    )


def _announce(address: str, code: str, *, setup: bool) -> None:
    """Write the code that lets the operator in to the log."""
    structlog.get_logger("testforge.operator").info(
        "this code lets the operator in once", page=f"{address}{'/setup' if setup else '/runs'}", code=code
    )


def _database(station: Station) -> str:
    try:
        station.store.ping()
    except SQLAlchemyError as error:
        return f"The database does not answer ({type(error).__name__})."
    return ""


def _engine(station: Station) -> str:
    if not station.has_app:
        return "There is no GitHub App yet; open /setup."
    if not station.webhook_secret:
        return "TESTFORGE_WEBHOOK_SECRET is not set, so no webhook is taken."
    return "" if station.is_ready else "The engine is starting or stopping."


def _sandbox(station: Station) -> str:
    """Ask the engine: that its socket is there does not say that this account may use it."""
    operator = station.settings
    if operator.sandbox == "process" or operator.runs_at_once == 0:
        return ""  # no container is started from here
    try:
        engine.connect()
    except SandboxError as error:
        return error.message
    return ""
