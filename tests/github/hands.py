"""What tests take in hand: a clock that only moves when somebody waits, and the App on the tests' GitHub."""

from __future__ import annotations

from bot.github.app import App
from bot.settings import Settings
from tests.github.server import GitHub


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


def settings_for(github: GitHub, timeout_s: float = 20.0) -> Settings:
    """Return the operator's settings for a GitHub."""
    return Settings(
        app_id=github.world.app_id,
        private_key=github.world.pem,
        github_url=github.url,
        github_timeout_s=timeout_s,
    )


def app_for(github: GitHub, clock: HandClock, timeout_s: float = 20.0) -> App:
    """Return the App of a GitHub."""
    return App(settings_for(github, timeout_s), clock)
