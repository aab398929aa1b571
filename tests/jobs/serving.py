"""testforge's server and workers as processes of their own, and a pull request for them on the tests' GitHub."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.github.server import GitHub

REPOSITORY = "octo/parcels"
BEFORE = '''\
def price(weight):
    """Return the price of a parcel in cents."""
    if weight > 30:
        return 300
    return 100
'''
AFTER = '''\
def price(weight):
    """Return the price of a parcel in cents."""
    if weight < 0:
        raise ValueError("a parcel weighs something")
    if weight > 30:
        return 300
    if weight > 10:
        return 200
    return 100
'''
EXISTING = """\
from quotes import price


def test_a_light_parcel():
    assert price(1) == 100
"""
PROJECT = '[project]\nname = "quotes"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n'
PATIENCE_S = 240.0


def furnish(github: GitHub) -> int:
    """Make a repository with the App installed and pull request 1 in it; return the installation's number."""
    world = github.world
    installation = world.install()
    files = {
        "quotes.py": BEFORE.encode(),
        "tests/test_quotes.py": EXISTING.encode(),
        "pyproject.toml": PROJECT.encode(),
    }
    world.add_repository(REPOSITORY, files, installation=installation)
    world.push(REPOSITORY, "feature", {"quotes.py": AFTER.encode()})
    world.open_pull(REPOSITORY, "feature")
    return installation


def environment(github: GitHub, data: Path, **more: str) -> dict[str, str]:
    """Return the environment of a server or worker for the tests' GitHub, its directory and database in `data`."""
    data.mkdir(parents=True, exist_ok=True)
    key = data / "key.pem"
    if not key.exists():
        key.write_text(github.world.pem)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TESTFORGE_")}
    kept.pop("VIRTUAL_ENV", None)
    return {
        **kept,
        "TESTFORGE_DATA_DIRECTORY": str(data),
        "TESTFORGE_APP_ID": str(github.world.app_id),
        "TESTFORGE_PRIVATE_KEY_FILE": str(key),
        "TESTFORGE_WEBHOOK_SECRET": github.world.webhook_secret,
        "TESTFORGE_GITHUB_URL": github.url,
        "TESTFORGE_WORKER_NAME": "one",
        "TESTFORGE_SANDBOX": "process",
        "TESTFORGE_ALLOW_PROCESS_SANDBOX": "1",
        **more,
    }


class Process:
    """A server or worker that runs until the block ends; its log is in `log`."""

    def __init__(self, command: str, env: Mapping[str, str], log: Path, port: int | None = None) -> None:
        self.log = log
        self.port = port or _free_port()
        arguments = [command, *(["--port", str(self.port)] if command == "serve" else [])]
        code = "from bot.entry import main; main()"
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, *arguments], env=dict(env), stdout=file, stderr=file
            )

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it as the system does, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.stop()

    @property
    def url(self) -> str:
        """Where a server is reached."""
        return f"http://127.0.0.1:{self.port}"

    def wait_until_ready(self) -> None:
        """Return when a server takes webhooks."""
        wait_for(
            lambda: self._get("/readyz") == 200, f"the server is not ready: {self.log.read_text()[-3000:]}"
        )

    def _get(self, path: str) -> int:
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        try:
            with urllib.request.urlopen(f"{self.url}{path}", timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0


def deliver(
    url: str, secret: str, event: str, payload: Mapping[str, Any], delivery: str | None = None
) -> tuple[int, str]:
    """Send a webhook as GitHub does; return the status and the delivery's id."""
    body = json.dumps(payload).encode()
    delivery = delivery or secrets.token_hex(8)
    request = urllib.request.Request(
        f"{url}/webhook",
        data=body,
        headers={
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": delivery,
            "X-Hub-Signature-256": "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex(),
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status), delivery
    except urllib.error.HTTPError as error:
        return error.code, delivery


def wait_for(
    condition: Callable[[], Any], otherwise: str, limit_s: float = PATIENCE_S, every_s: float = 0.1
) -> Any:
    """Return what a condition gives once that is true."""
    ends = time.monotonic() + limit_s
    while time.monotonic() < ends:
        found = condition()
        if found:
            return found
        time.sleep(every_s)
    raise AssertionError(otherwise)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def github_in(directory: Path, host: str = "127.0.0.1") -> Iterator[GitHub]:
    """A GitHub with the repository and its pull request; at the end it has had no request that GitHub would not take."""
    with GitHub(directory / "github", host=host) as github:
        furnish(github)
        yield github
    assert github.violations == []
