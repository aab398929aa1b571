"""Commands from comment to answer, through the workflow's own steps; GitHub is the tests', nothing is queued."""

from __future__ import annotations

import time

import pytest

from bot.github.app import App
from bot.github.wishes import Wish
from bot.jobs import orders, queues
from bot.jobs.engine import Engine
from bot.settings import Settings
from bot.store import open_store
from bot.store.memory import Remembered
from tests.github.hands import HandClock
from tests.jobs.serving import REPOSITORY, wait_for
from tests.queues import take


@pytest.fixture
def desk(github, tmp_path):
    """An engine that works, on the tests' GitHub."""
    operator = Settings(
        data_directory=tmp_path / "data", app_id=github.world.app_id, private_key=github.world.pem,
        github_url=github.url, worker_name="orders", webhook_secret="x",
    )  # fmt: skip
    (tmp_path / "data").mkdir()
    store = open_store(f"sqlite:///{tmp_path}/data/x.sqlite")
    engine = Engine(operator, store, App(operator, HandClock()), lambda: None)
    take()
    engine.start()
    yield Desk(github, engine, store)
    engine.stop()
    store.close()


class Desk:
    def __init__(self, github, engine, store):
        self.github, self.engine, self.store = github, engine, store
        self.installation = github.world.repositories[REPOSITORY].installation
        self.pull = github.world.repositories[REPOSITORY].pulls[1]
        self._count = 0

    def order(self, command, *arguments, user="alice", kind="command", event="issue_comment.created"):
        """Give an order and return the answer's text; None where an order has none."""
        self._count += 1
        delivery = f"d{self._count}"
        comment = self.github.world.comment(REPOSITORY, 1, f"/testforge {command}", user=user)
        wish = Wish(
            kind, delivery, self.installation, REPOSITORY, 1, user, comment=comment.id, command=command,
            arguments=arguments, event=event,
        )  # fmt: skip
        self.engine.submit([wish])
        self.ended(queues.workflow_id(wish))
        mark = f"testforge:answer={delivery} "
        return comment, next((c.body for c in self.pull.comments if mark in c.body), None)

    def ended(self, name):
        from dbos import DBOS

        def status():
            found = DBOS.get_workflow_status(name)
            return found.status if found and found.status not in ("ENQUEUED", "PENDING") else ""

        assert wait_for(status, f"{name} does not end") == "SUCCESS"


@pytest.mark.slow
def test_each_order_has_one_answer(desk):
    comment, text = desk.order("help")
    assert "/testforge apply" in text
    assert comment.reactions == [("testforge[bot]", "eyes")]
    assert "/testforge apply" in desk.order("invented")[1]
    assert "Nothing is running" in desk.order("stop")[1]
    assert "write permission" in desk.order("stop", user="bob")[1]
    assert "write permission" in desk.order("", user="bob")[1]
    assert desk.order("apply")[1] is not None
    assert desk.order("status")[1] is not None
    answers = [c.body for c in desk.pull.comments if "testforge:answer=" in c.body]
    assert len(answers) == 7


def test_a_closed_pull_request_and_an_installation_that_goes_stop_what_runs(desk):
    store = desk.store
    for event in ("pull_request.closed", "installation.deleted"):
        store.runs.begin(
            event, repository=REPOSITORY, number=1, head="a", installation=desk.installation, delivery="d"
        )
        asked = time.time()
        kind = "closed" if event == "pull_request.closed" else "installation"
        repository, number = (REPOSITORY, 1) if kind == "closed" else ("", 0)
        wish = Wish(kind, f"x{kind}", desk.installation, repository, number, "alice", event=event)
        desk.engine.submit([wish])
        desk.ended(queues.workflow_id(wish))
        expected = orders.CLOSED if kind == "closed" else orders.GONE
        if kind == "closed":
            assert store.runs.stopped(REPOSITORY, 1, asked) == expected
        else:
            assert store.runs.stopped(REPOSITORY, 2, asked) == expected


def test_what_was_dismissed_is_remembered_once(desk):
    desk.store.memory.propose(REPOSITORY, 1, [Remembered("h1", "T1", "t::a", "quotes.py")])
    wish = Wish("command", "d", desk.installation, REPOSITORY, 1, "alice")
    for _ in range(2):
        orders._remember(desk.engine._office, wish, {"dismissed": ["T1"], "why": "slow", "accepted": []})
    assert desk.store.memory.dismissed(REPOSITORY, 1) == {"h1"}
