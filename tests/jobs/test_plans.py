"""Whether a run begins: what the pull request, the repository's configuration and the money say."""

from __future__ import annotations

import time

import pytest

from bot.errors import GitHubError
from bot.github.app import App
from bot.github.wishes import Wish
from bot.jobs.office import Office
from bot.jobs.plans import plan
from bot.settings import Settings
from bot.store import open_store
from tests.jobs.serving import REPOSITORY


class Desk:
    """An office for the tests' GitHub, and a wish for pull request 1."""

    def __init__(self, github, store, directory, **settings):
        operator = Settings(
            app_id=github.world.app_id, private_key=github.world.pem, github_url=github.url, **settings
        )
        self.office = Office(operator, store, App(operator), "one", directory)
        self.installation = github.world.repositories[REPOSITORY].installation
        self.github = github

    def plan(self, event="pull_request.opened", comment=None, received=None):
        wish = Wish(
            "review",
            "d1",
            self.installation,
            REPOSITORY,
            1,
            "alice",
            head="a" * 40,
            comment=comment,
            event=event,
        )
        with self.office.app.connect(self.installation, REPOSITORY) as hub:
            return plan(self.office, hub, wish, time.time() if received is None else received)

    def configure(self, text):
        self.github.world.push(REPOSITORY, "main", {".github/testforge.yml": text.encode()})

    @property
    def pull(self):
        return self.github.world.repositories[REPOSITORY].pulls[1]


@pytest.fixture
def store(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path}/x.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def desk(github, store, tmp_path):
    return Desk(github, store, tmp_path)


def test_an_open_pull_request_is_reviewed_at_its_head_of_now(desk):
    found = desk.plan()
    assert found.reason == ""
    assert found.pull["head"] == desk.pull.last_head
    assert found.budget_usd is None


def test_what_is_closed_archived_or_a_draft_is_not(desk):
    desk.pull.draft = True
    assert "is a draft" in desk.plan().reason
    assert desk.plan("issue_comment.created", comment=3).reason == ""
    desk.github.world.repositories[REPOSITORY].archived = True
    assert desk.plan().reason == "The repository is archived."
    desk.github.world.close(REPOSITORY, 1)
    assert desk.plan().reason == "The pull request is closed."


def test_the_configuration_of_the_base_branch_says_which_events_count(desk):
    desk.configure("triggers: [opened]\n")
    assert desk.plan("pull_request.opened").reason == ""
    assert desk.plan("pull_request.reopened").reason == ""
    assert desk.plan("pull_request.synchronize").reason == "The trigger synchronize is switched off."
    assert "Commands are switched off" in desk.plan("issue_comment.created", comment=3).reason


def test_a_label_keeps_the_bot_away_unless_it_is_called(desk):
    desk.pull.labels.append("skip-testforge")
    assert desk.plan().reason == "The label skip-testforge is set."
    assert desk.plan("issue_comment.created", comment=3).reason == ""
    desk.configure("labels:\n  skip: quiet\n")
    assert desk.plan().reason == ""


def test_a_configuration_that_is_wrong_is_told(desk):
    desk.configure("max_iteration: 3\n")
    found = desk.plan()
    assert found.is_told
    assert "Did you mean `max_iterations`?" in found.reason


def test_a_head_that_was_reviewed_is_not_reviewed_again_unless_that_came_to_nothing(desk, store):
    for status, reason in (("inconclusive", ""), ("proposed", "has been reviewed already: https://x/1.")):
        store.runs.begin(
            status, repository=REPOSITORY, number=1, head=desk.pull.last_head, installation=1, delivery="d0"
        )
        store.runs.keep_result(status, {"status": status}, {}, 0.0)
        store.runs.update(status, url="https://x/1")
        store.runs.finish(status, "done")
        assert desk.plan().reason.endswith(reason)
        assert bool(desk.plan().reason) == bool(reason)


def test_what_was_asked_before_a_stop_is_not_wanted(desk, store):
    store.runs.stop(REPOSITORY, 1, 100.0, "@alice stopped it.")
    assert desk.plan(received=99.0).reason == "@alice stopped it."
    assert desk.plan(received=101.0).reason == ""


def test_a_run_may_cost_what_is_left_of_the_least_limit(github, store, tmp_path):
    desk = Desk(github, store, tmp_path, run_budget_usd=2.0, month_budget_usd=10.0)
    assert desk.plan().budget_usd == 2.0
    desk.configure("budget_usd: 1.5\n")
    assert desk.plan().budget_usd == 1.5
    store.spending.note("r1", REPOSITORY, 9.0)
    assert desk.plan().budget_usd == 1.0


def test_when_the_months_money_is_spent_the_answer_says_so(github, store, tmp_path):
    desk = Desk(github, store, tmp_path, month_budget_usd=10.0)
    store.spending.note("r1", REPOSITORY, 10.0)
    found = desk.plan()
    assert found.is_told
    assert found.reason.startswith(
        "This repository's budget of 10.00 USD a month is used up: 10.00 USD are spent."
    )


def test_a_run_that_would_likely_cost_more_than_is_left_does_not_begin(github, store, tmp_path):
    desk = Desk(github, store, tmp_path, month_budget_usd=10.0)
    store.runs.begin("r1", repository=REPOSITORY, number=9, head="b", installation=1, delivery="d0")
    store.runs.keep_result("r1", {"status": "proposed"}, {}, 3.0)
    store.runs.finish("r1", "done")
    store.spending.note("r1", REPOSITORY, 8.0)
    assert "a run here costs about 3.00 USD" in desk.plan().reason
    store.spending.note("r1", REPOSITORY, 6.0)
    assert desk.plan().reason == ""


def test_an_app_that_was_uninstalled_is_an_error_that_says_so(desk):
    desk.github.world.uninstall(desk.installation)
    with pytest.raises(GitHubError, match="not installed"):
        desk.plan()
