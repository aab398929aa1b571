"""The server's application in this process, on a real socket, with a real database; nobody works on what it takes."""

from __future__ import annotations

import contextlib
import hmac
import json
import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
import uvicorn
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.jobs import credentials
from bot.settings import Settings
from bot.store import Store, open_store
from bot.web import app
from bot.web.door import Door
from bot.web.station import Station
from tests.queues import take

SECRET = "the secret of the tests"


@dataclass
class Served:
    """A server that answers at `url`; its log is in `lines`."""

    url: str
    store: Store
    station: Station
    lines: list[dict[str, Any]] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=60))

    def post(self, body: bytes, **headers: str | bytes) -> httpx.Response:
        """Send a body to the webhook, with these headers and no others that count."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(f"{self.url}/webhook", content=body, headers=given)

    def deliver(self, event: str, payload: Any, delivery: str | None = None) -> httpx.Response:
        """Send a payload as GitHub does."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.post(body, **signed(body, event, delivery))

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Get a page."""
        return httpx.get(f"{self.url}{path}", timeout=60, **options)

    def stored(self) -> list[str]:
        """Return the names of all that lies in the queues."""
        from dbos import DBOS

        return sorted(row.workflow_id for row in DBOS.list_workflows(load_input=False, load_output=False))


def signed(body: bytes, event: str, delivery: str | None = None) -> dict[str, str]:
    """Return the headers of a delivery."""
    return {
        "content_type": "application/json",
        "x_github_event": event,
        "x_github_delivery": delivery or secrets.token_hex(8),
        "x_hub_signature_256": "sha256=" + hmac.digest(SECRET.encode(), body, "sha256").hex(),
    }


@pytest.fixture(scope="session")
def pem() -> str:
    """A private key."""
    return (
        rsa.generate_private_key(public_exponent=65537, key_size=2048)
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        .decode()
    )


@contextlib.contextmanager
def served(directory: Path, values: Mapping[str, Any]) -> Iterator[Served]:
    """Serve with these settings until the block ends."""
    settings = Settings(data_directory=directory, runs_at_once=0, worker_name="tests", **values)
    store = open_store(f"sqlite:///{directory}/testforge.sqlite")
    lines: list[dict[str, Any]] = []
    codes: list[str] = []

    def keep(_logger: object, _method: str, event: dict[str, Any]) -> str:
        lines.append(dict(event))
        if "code" in event:
            codes.append(event["code"])
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, keep])
    station = Station(lambda: credentials.complete(settings), store, lambda: None)
    application = app.make(station, directory, "http://127.0.0.1")
    server = uvicorn.Server(
        uvicorn.Config(application, port=0, log_config=None, access_log=False, http=Door, ws="none")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        station.bot_login = "testforge[bot]"
        yield Served(f"http://127.0.0.1:{port}", store, station, lines, codes)
    finally:
        server.should_exit = True
        thread.join()
        store.close()
        structlog.configure(**before)
        logging.getLogger("dbos").propagate = False


class Keeper:
    """Keeps a server from test to test, until somebody else wants the queues of this process."""

    def __init__(self, start: Callable[[], contextlib.AbstractContextManager[Served]]) -> None:
        self._start = start
        self._stack = contextlib.ExitStack()
        self._served: Served | None = None

    def get(self) -> Served:
        """Return the server, started again if it had to end."""
        if self._served is None:
            take(self.end)
            self._served = self._stack.enter_context(self._start())
        return self._served

    def end(self) -> None:
        """End it."""
        self._served = None
        self._stack.close()


@pytest.fixture(scope="session")
def keeper(tmp_path_factory: pytest.TempPathFactory, pem: str) -> Iterator[Keeper]:
    """Of a server with an App; no GitHub is there for it."""
    values = {
        "app_id": 7,
        "private_key": pem,
        "webhook_secret": SECRET,
        "github_url": "http://127.0.0.1:9",
    }
    found = Keeper(lambda: served(tmp_path_factory.mktemp("server"), values))
    yield found
    found.end()


@pytest.fixture
def shared_codes(server: Served) -> list[str]:
    """The codes that the server wrote to its log, the latest last."""
    return server.codes


@pytest.fixture
def server(keeper: Keeper) -> Iterator[Served]:
    """The server, with nothing in its queues and no runs."""
    from dbos import DBOS

    found = keeper.get()
    yield found
    found.lines.clear()
    names = found.stored()
    if names:
        DBOS.delete_workflows(names)
    found.store.runs.forget(float("inf"))
