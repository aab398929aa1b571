"""A GitHub for each test, the App that is installed on it, and a clock that only moves when somebody waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.github.app import App
from bot.github.hub import Hub
from tests.github.hands import HandClock, app_for
from tests.github.server import GitHub, UnavailableError

SOURCE = b"def price(weight):\n    if weight > 30:\n        return 300\n    return 100\n"
CHANGED = b"def price(weight):\n    if weight > 30:\n        return 300\n    if weight < 0:\n        raise ValueError(weight)\n    return 100\n"


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
    return app_for(github, clock)


@pytest.fixture
def hub(app: App, github: GitHub) -> Iterator[Hub]:
    installation = github.world.repositories["octo/parcels"].installation
    assert installation is not None
    with app.connect(installation, "octo/parcels") as found:
        yield found
