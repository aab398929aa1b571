"""From a webhook to a review, through a server of its own, real git and the built-in model."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.store import Store, open_store
from tests.github.server import GitHub
from tests.jobs.killing import configure
from tests.jobs.serving import AFTER, REPOSITORY, Process, deliver, environment, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


class Scene:
    """A server at work on pull request 1, and what is to be seen of it."""

    def __init__(self, github: GitHub, server: Process, store: Store) -> None:
        self.github, self.server, self.store = github, server, store
        self.pull = github.world.repositories[REPOSITORY].pulls[1]

    def deliver(self, action: str = "synchronize", delivery: str | None = None) -> str:
        payload = self.github.shapes.payload(REPOSITORY, 1, action)
        status, delivery = deliver(
            self.server.url, self.github.world.webhook_secret, "pull_request", payload, delivery
        )
        assert status == 202
        return delivery

    def say(self, text: str, user: str = "alice") -> str:
        """Comment on the pull request, and return the bot's answer."""
        comment = self.github.world.comment(REPOSITORY, 1, text, user=user)
        payload = self.github.shapes.payload(REPOSITORY, 1, "created", sender=user, comment=comment)
        _, delivery = deliver(self.server.url, self.github.world.webhook_secret, "issue_comment", payload)
        mark = f"testforge:answer={delivery}"
        return str(
            wait_for(
                lambda: next((c.body for c in self.pull.comments if mark in c.body), None),
                f"no answer to {text!r}: {self.log()}",
            )
        )

    def ended(self, delivery: str) -> str:
        """Wait for the end of a delivery's run, and return its state."""
        name = f"pr/{REPOSITORY}/1/{delivery}"

        def state() -> str:
            run = self.store.runs.get(name)
            return run.state if run is not None and run.ended is not None else ""

        return str(wait_for(state, f"the run does not end: {self.log()}"))

    def log(self) -> str:
        return self.server.log.read_text()[-4000:]


@contextlib.contextmanager
def serving(github: GitHub, tmp_path: Path, **more: str) -> Iterator[Scene]:
    data = tmp_path / "data"
    env = environment(github, data, **more)
    with Process("serve", env, tmp_path / "log") as server:
        server.wait_until_ready()
        store = open_store(f"sqlite:///{data}/testforge.sqlite")
        yield Scene(github, server, store)
        store.close()
    assert server.process.returncode == 0


def test_pushes_over_the_life_of_a_pull_request(github: GitHub, tmp_path: Path) -> None:
    """One review for each head; what was proposed is verified again; what was dismissed does not come back."""
    configure(github)
    with serving(github, tmp_path) as scene:
        first = scene.deliver("opened")
        assert scene.ended(first) == "done"
        assert len(scene.pull.reviews) == 1
        assert "test_price" in scene.pull.reviews[0].body
        check = github.world.repositories[REPOSITORY].checks[-1]
        assert (check["status"], check["conclusion"]) == ("completed", "success")

        scene.deliver("opened", delivery=first)  # somebody pressed "redeliver"
        again = scene.deliver("reopened")
        assert scene.ended(again) == "skipped"
        assert len(scene.pull.reviews) == 1

        assert "dismissed" in scene.say("/testforge dismiss T2 we do not raise here for long")
        github.world.push(REPOSITORY, "feature", {"README.md": b"# Parcels\n"})
        second = scene.deliver()
        assert scene.ended(second) == "done"
        assert len(scene.pull.reviews) == 2
        proposed = {row["id"] for row in ledger(scene, second) if row["verdict"] == "kept"}
        assert proposed
        assert proposed < {row["id"] for row in ledger(scene, first) if row["verdict"] == "kept"}
        assert "dismissed" in {row["reason"] for row in ledger(scene, second)}
        assert calls(scene, second) == 0

    text = scene.server.log.read_text()
    lines = [json.loads(line) for line in text.splitlines() if '"logger": "testforge.run"' in line]
    assert lines
    assert all({"delivery", "run", "repository", "pull"} <= line.keys() for line in lines)
    assert github.world.webhook_secret not in text
    assert "ghs_" not in text


def ledger(scene: Scene, delivery: str) -> list[dict]:
    report = scene.store.runs.report(f"pr/{REPOSITORY}/1/{delivery}")
    return [test for target in report["targets"] for test in target["tests"]]


def calls(scene: Scene, delivery: str) -> int:
    with scene.store.engine.connect() as connection:
        query = "SELECT count(*) FROM testforge_model_calls WHERE run = ?"
        return int(connection.exec_driver_sql(query, (f"pr/{REPOSITORY}/1/{delivery}",)).scalar() or 0)


def test_a_run_is_superseded_by_a_newer_push_and_another_is_stopped(github: GitHub, tmp_path: Path) -> None:
    with serving(github, tmp_path) as scene:
        first = scene.deliver("opened")
        # Once it is announced, the run has looked at the head that it is for.
        running = lambda: any(run.check_run for run in scene.store.runs.running())  # noqa: E731
        wait_for(running, f"no run begins: {scene.log()}")
        main = github.world.repositories[REPOSITORY].store.tip("main")
        over = {"quotes.py": AFTER.replace("200", "250").encode()}
        github.world.push(REPOSITORY, "feature", over, onto=main)  # by force, in the middle of the run
        second = scene.deliver()
        assert scene.ended(first) == "superseded"
        wait_for(running, f"no second run begins: {scene.log()}")
        assert "Only people with write permission" in scene.say("/testforge stop", user="mallory")
        assert scene.say("/testforge stop").endswith("The run is being stopped.")
        assert scene.ended(second) == "cancelled"
        assert scene.say("/testforge stop").endswith("so there is nothing to stop.")
        github.world.close(REPOSITORY, 1)
        scene.deliver("closed")
    assert scene.pull.reviews == []
    conclusions = [check["conclusion"] for check in github.world.repositories[REPOSITORY].checks]
    assert conclusions == ["cancelled", "cancelled"]
