"""One repository's client: tokens, limits, failures."""

from __future__ import annotations

from bot.github import pulls
from bot.github.app import App
from bot.github.hub import Hub
from tests.github.server import GitHub


def test_a_pull_request_is_read(hub: Hub, github: GitHub) -> None:
    pull = pulls.read(hub, 1)
    assert (pull.number, pull.head_ref, pull.base_ref, pull.state) == (1, "feature", "main", "open")
    assert pull.head == github.world.repositories["octo/parcels"].store.tip("feature")
    assert not pull.is_fork
    assert pull.can_push
    assert pulls.Pull.from_json(pull.as_json()) == pull


def test_the_app_knows_who_it_is(app: App) -> None:
    assert app.identity().login == "testforge[bot]"
