"""`testforge serve`: the GitHub App's server, which takes webhooks and works on them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from bot.deliver.terminal import sentences

if TYPE_CHECKING:
    from bot.settings import Settings

_GRACE_S = 20
_CONNECTIONS = 8192


def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on.  [default: $TESTFORGE_HOST or 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port to listen on.  [default: $TESTFORGE_PORT or 8000]"),
    ] = None,
) -> None:
    """Take webhooks of the GitHub App and review pull requests, in one process."""
    with sentences():
        from bot.jobs import credentials, safety

        operator = credentials.load()
        safety.insist(operator)
        _run(operator, host or operator.host, operator.port if port is None else port)
        leave(0)


def _run(operator: Settings, host: str, port: int) -> None:
    """Serve until a signal ends it."""
    import uvicorn

    from bot import settings
    from bot.github.app import App
    from bot.jobs import credentials
    from bot.store import open_store
    from bot.web import app, logging
    from bot.web.door import Door
    from bot.web.station import Station

    if operator.app_id is not None:
        App(operator)  # a key that cannot be read is told as a sentence, not by a server that falls over
    logging.configure(secrets_of(operator))
    _allow_connections()
    store = open_store(settings.database_url(operator))
    station = Station(credentials.load, store, end_this_process)
    address = operator.public_url or f"http://{host}:{port}"
    application = app.make(station, settings.data_directory(operator), address)
    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        http=Door,
        ws="none",
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = uvicorn.Server(config)
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn passes the signal on that it ended by
        server.run()
    store.close()
    if not server.started:
        leave(1)


def _allow_connections() -> None:
    """Let this process hold as many connections as the system lets it, up to a few thousand: often it begins with 1,024."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _CONNECTIONS if hard == resource.RLIM_INFINITY else min(_CONNECTIONS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def secrets_of(operator: Settings) -> tuple[str, ...]:
    """Return what must never be written to a log."""
    keys = [value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN", "_SECRET"))]
    own = [operator.webhook_secret, operator.private_key]
    return (*keys, *(secret.get_secret_value() for secret in own if secret is not None))


def end_this_process() -> None:
    """Ask this process to end, as the system would."""
    os.kill(os.getpid(), signal.SIGTERM)


def leave(code: int) -> NoReturn:
    """End the process now: a thread may still be waiting for GitHub, and what it did is continued by the next one."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
