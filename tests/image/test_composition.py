"""compose.yaml from end to end: deliveries to the server, reviews by the workers, one of which is killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.github.server import GitHub
from tests.image.composition import Composition, bridge
from tests.image.containers import PATIENCE_S, docker, sandboxes
from tests.jobs.killing import new_pull
from tests.jobs.serving import REPOSITORY, deliver, github_in, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(2700),
    pytest.mark.skipif("TESTFORGE_IMAGE_POSTGRES" not in os.environ, reason="no image of Postgres is named"),
]


@pytest.fixture(name="reachable")
def _reachable(tmp_path: Path) -> Iterator[GitHub]:
    """The tests' GitHub where containers with a network of their own find it."""
    with github_in(tmp_path, bridge()) as server:
        yield server


def test_one_delivery_is_one_review_also_when_its_worker_is_killed(reachable: GitHub, tmp_path: Path) -> None:
    with Composition(reachable, tmp_path) as composition:
        send(reachable, composition, 1)
        review(reachable, composition, 1)

        number = new_pull(reachable)
        send(reachable, composition, number)
        busy = wait_for(composition.busy, f"no worker begins: {composition.log()}", PATIENCE_S)
        docker("kill", composition.containers[busy])
        review(reachable, composition, number)
        # What the killed worker's sandbox leaves is removed by the sweep of its namespace; nothing runs in it any more.
        runs_on = lambda: sandboxes(composition.scopes, ended=False)  # noqa: E731
        wait_for(lambda: not runs_on(), "a sandbox outlives its run", PATIENCE_S)


def send(github: GitHub, composition: Composition, number: int) -> None:
    payload = github.shapes.payload(REPOSITORY, number, "opened")
    status, _ = deliver(composition.url, github.world.webhook_secret, "pull_request", payload)
    assert status == 202


def review(github: GitHub, composition: Composition, number: int) -> None:
    """Wait for the end of a pull request's run, and see that it has one review and one summary."""
    repository = github.world.repositories[REPOSITORY]
    pull = repository.pulls[number]
    wait_for(
        lambda: pull.reviews and all(check["status"] == "completed" for check in repository.checks),
        f"no run ends: {composition.log()}",
        PATIENCE_S,
    )
    assert [len(pull.reviews), sum("testforge:sticky" in c.body for c in pull.comments)] == [1, 1]
