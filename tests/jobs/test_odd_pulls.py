"""Pull requests of unusual size, from webhook to answer: with no file of Python, and with thousands of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bot.store import Store
from tests.github.server import GitHub
from tests.jobs.killing import open_beside
from tests.jobs.serving import AFTER, REPOSITORY, Process, deliver, environment, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MANY = 3_000
CONFIG = b"max_iterations: 1\nmutation:\n  enabled: false\n"


class Desk:
    """A server, and pull requests that are put before it."""

    def __init__(self, github: GitHub, server: Process, store: Store) -> None:
        self.github, self.server, self.store = github, server, store

    def put(self, branch: str, files: Mapping[str, bytes]) -> tuple[int, str]:
        """Open a pull request with these files and tell the server; return its number and its run."""
        self.github.world.push(REPOSITORY, branch, dict(files))
        number = int(self.github.world.open_pull(REPOSITORY, branch).number)
        payload = self.github.shapes.payload(REPOSITORY, number, "opened")
        status, delivery = deliver(self.server.url, self.github.world.webhook_secret, "pull_request", payload)
        assert status == 202
        return number, f"pr/{REPOSITORY}/{number}/{delivery}"

    def end(self, run: str) -> str:
        """Wait for a run's end, and return its state."""

        def state() -> str:
            found = self.store.runs.get(run)
            return found.state if found is not None and found.ended is not None else ""

        return str(wait_for(state, f"{run} does not end: {self.server.log.read_text()[-4000:]}"))

    def conclusion(self, head: str) -> str:
        """Return how the check run of a head ended."""
        checks = self.github.world.repositories[REPOSITORY].checks
        (found,) = (check for check in checks if check["head_sha"] == head)
        return str(found["conclusion"])


@pytest.fixture
def desk(github: GitHub, tmp_path: Path) -> Iterator[Desk]:
    github.world.push(REPOSITORY, "main", {".github/testforge.yml": CONFIG})
    env = environment(github, tmp_path / "data")
    with Process("serve", env, tmp_path / "log") as server:
        server.wait_until_ready()
        store = open_beside(env)
        yield Desk(github, server, store)
        store.close()


def test_no_file_of_python_and_three_thousand_files(desk: Desk, github: GitHub) -> None:
    """One server for both, as starting it is what takes time."""
    pulls = github.world.repositories[REPOSITORY].pulls

    without, run = desk.put("words", {"README.md": b"# Parcels\n", "prices.csv": b"1,100\n"})
    assert desk.end(run) == "done"
    assert (pulls[without].reviews, pulls[without].comments) == ([], [])
    assert desk.conclusion(pulls[without].last_head) == "skipped"

    many = {f"notes/{number}.{'md' if number % 2 else 'py'}": b"# a note\n" for number in range(MANY - 1)}
    large, run = desk.put("large", {**many, "quotes.py": AFTER.encode()})
    assert desk.end(run) == "done"
    (review,) = pulls[large].reviews
    assert "test_price" in review.body
    assert desk.conclusion(pulls[large].last_head) == "success"
