"""A GitHub for each test, the App that is installed on it, and a clock that only moves when somebody waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.github.app import App
from bot.github.hub import Hub
from bot.settings import Settings
from tests.github.server import GitHub, UnavailableError

SOURCE = b"def price(weight):\n    if weight > 30:\n        return 300\n    return 100\n"
CHANGED = b"def price(weight):\n    if weight > 30:\n        return 300\n    if weight < 0:\n        raise ValueError(weight)\n    return 100\n"


class HandClock:
    """A clock that stands still, but for those who wait on it."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def github(tmp_path: Path, clock: HandClock) -> Iterator[GitHub]:
    """A GitHub with the repository octo/parcels, in it pull request 1, and the App installed there."""
    server = GitHub(tmp_path / "github", clock)
    try:
        server.__enter__()
    except UnavailableError as error:
        pytest.skip(str(error))
    with server:
        world = server.world
        installation = world.install()
        world.add_repository(
            "octo/parcels",
            {"src/quotes.py": SOURCE, "tests/test_quotes.py": b"X = 1\n"},
            installation=installation,
        )
        world.push("octo/parcels", "feature", {"src/quotes.py": CHANGED})
        world.open_pull("octo/parcels", "feature")
        yield server
    assert server.violations == []


@pytest.fixture
def app(github: GitHub, clock: HandClock) -> App:
    return App(settings(github), clock)


@pytest.fixture
def hub(app: App, github: GitHub) -> Iterator[Hub]:
    installation = github.world.repositories["octo/parcels"].installation
    assert installation is not None
    with app.connect(installation, "octo/parcels") as found:
        yield found


def settings(github: GitHub) -> Settings:
    return Settings(
        app_id=github.world.app_id, private_key=github.world.pem, github_url=github.url, github_timeout_s=1.0
    )
