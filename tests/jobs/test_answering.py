"""The last word on a run: on the check run always, and in an answer where somebody asked."""

from __future__ import annotations

import pytest

from bot.deliver.review import Review
from bot.github import checks, pulls
from bot.github.app import App
from bot.github.wishes import Wish
from bot.jobs import answering
from bot.jobs.office import Office
from bot.settings import Settings
from bot.store import open_store
from tests.jobs.serving import REPOSITORY


@pytest.fixture
def conclude(github, tmp_path):
    """Conclude a run of pull request 1 that has a check run; return that, and the comments."""
    world = github.world
    operator = Settings(app_id=world.app_id, private_key=world.pem, github_url=github.url)
    store = open_store(f"sqlite:///{tmp_path}/x.sqlite")
    office = Office(operator, store, App(operator), "one", tmp_path)
    installation = world.repositories[REPOSITORY].installation

    def conclude(end, comment=None, review=None, announced=True):
        wish = Wish("review", "d1", installation, REPOSITORY, 1, "alice", comment=comment)
        with office.app.connect(installation, REPOSITORY) as hub:
            pull = pulls.read(hub, 1)
            check = checks.start(hub, pull, run="r1") if announced else None
        store.runs.begin("r1", repository=REPOSITORY, number=1, head=pull.head, installation=1, delivery="d1")
        store.runs.update("r1", check_run=check)
        if review is not None:
            store.runs.keep_result("r1", {"status": review.status}, review.as_json(), 0.0)
        for _ in range(2):  # a step can be taken twice
            answering.conclude(office, "r1", wish, end)
        return world.repositories[REPOSITORY].checks, world.repositories[REPOSITORY].pulls[1].comments

    yield conclude
    store.close()


def test_a_run_that_was_stopped_says_so_in_its_check_run(conclude):
    found, comments = conclude({"state": "cancelled", "reason": "@alice stopped it."})
    assert [(check["status"], check["conclusion"]) for check in found] == [("completed", "cancelled")]
    assert found[0]["output"]["summary"] == "@alice stopped it."
    assert comments == []


def test_who_asked_by_a_comment_has_one_answer(conclude):
    _, comments = conclude({"state": "failed", "reason": "The clone failed."}, comment=3)
    assert len(comments) == 1
    assert comments[0].body.endswith("The clone failed.")


def test_a_posted_review_is_the_answer_and_where_there_is_none_the_title_is(conclude):
    end = {"state": "done", "reason": "", "url": ""}
    quiet = Review(
        "r1", "a" * 40, "nothing-to-test", "Nothing to test", "No Python file changed.", "", is_quiet=True
    )
    found, comments = conclude(end, comment=3, review=quiet)
    assert found[0]["conclusion"] == "skipped"
    assert [comment.body.partition("\n")[2] for comment in comments] == ["Nothing to test."]


def test_a_review_needs_no_other_answer(conclude):
    loud = Review("r1", "a" * 40, "proposed", "Two tests", "Two tests.", "The review.")
    found, comments = conclude({"state": "done", "reason": "", "url": ""}, comment=3, review=loud)
    assert found[0]["conclusion"] == "success"
    assert comments == []


def test_what_is_worth_telling_is_told_although_no_run_began(conclude):
    found, comments = conclude(
        {"state": "skipped", "reason": "The budget is used up.", "told": True}, announced=False
    )
    assert [check["output"]["summary"] for check in found] == ["The budget is used up."]
    assert comments == []
