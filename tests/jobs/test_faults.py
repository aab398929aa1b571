"""What GitHub does wrong in the middle of a run: in the end there is one review, or one clear answer.

Each kind of fault strikes every kind of request that a run makes, one after the other in the same run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bot.domain import SuspectedBug
from tests.github.server import UnavailableError
from tests.github.server.faults import Kind
from tests.jobs.desk import TESTS, Desk, desk_in, report_of

TOKEN = ("POST", r"/access_tokens$")
REVIEW = ("POST", r"/pulls/\d+/reviews$")
COMMENT = ("POST", r"/issues/\d+/comments$")
CHECK = ("POST", r"/check-runs$")
CHECK_END = ("PATCH", r"/check-runs/\d+$")
PULL = ("GET", r"/pulls/\d+$")
REVIEWS = ("GET", r"/pulls/\d+/reviews$")
CONFIGURATION = ("GET", r"/contents/")
OF_A_RUN = (TOKEN, PULL, CONFIGURATION, CHECK, REVIEWS, REVIEW, COMMENT, CHECK_END)
EYES = ("POST", r"/reactions$")
AUTHORITY = ("GET", r"/permission$")
GRAPHQL = ("POST", r"/graphql$")
BRANCH = ("POST", r"/git/refs$")
PULLS = ("POST", r"/pulls$")
OF_A_CHANGE = (
    ("PUT", r"/reviews/\d+$"),
    ("DELETE", r"/pulls/comments/\d+$"),
    ("POST", r"/pulls/\d+/comments$"),
)
BUG = SuspectedBug(f"{TESTS}::test_bug", "price", "0", "1")
WITHOUT_ANSWER: tuple[Kind, ...] = (
    "502", "502-after-success", "drop", "drop-after-success", "truncated", "html"
)  # fmt: skip
LIMITS: tuple[Kind, ...] = ("secondary", "secondary-bare", "429", "primary")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One desk for all: each test has a pull request of its own."""
    try:
        with desk_in(tmp_path_factory.mktemp("desk"), month_budget_usd=1000.0) as found:
            yield found
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def desk(shared: Desk) -> Iterator[Desk]:
    shared.github.faults.struck.clear()
    yield shared
    shared.github.faults.clear()
    shared.meanwhile, shared.find = lambda: None, report_of


def strike(desk: Desk, kind: Kind, *places: tuple[str, str], times: int = 1) -> None:
    """Let the next requests of these fail."""
    for method, path in places:
        desk.github.faults.add(kind, method, path, times=times)


def test_a_run_that_nothing_happens_to(desk: Desk) -> None:
    pull = desk.pull()
    run = desk.review(pull)
    assert (run.state, desk.posted(pull)) == ("done", (1, 1, 1))
    assert "test_heavy" in pull.reviews[0].body
    assert desk.check(pull)[0] == "success"


@pytest.mark.parametrize("kind", [*WITHOUT_ANSWER, *LIMITS])
def test_one_review_in_the_end(desk: Desk, kind: Kind) -> None:
    pull = desk.pull()
    desk.github.world.revoke_tokens()  # so that a new one is asked for, too
    strike(desk, kind, *OF_A_RUN)
    run = desk.review(pull)
    assert (run.state, desk.posted(pull)) == ("done", (1, 1, 1)), run
    assert len(desk.github.faults.struck) == len(OF_A_RUN)
    assert desk.check(pull)[0] == "success"


def test_one_review_in_the_end_where_each_token_is_revoked_once_it_is_used(desk: Desk) -> None:
    pull = desk.pull()
    strike(desk, "401", *(place for place in OF_A_RUN if place != TOKEN))
    assert (desk.review(pull).state, desk.posted(pull)) == ("done", (1, 1, 1))


def test_one_review_in_the_end_where_the_token_runs_out_in_the_middle(desk: Desk) -> None:
    pull = desk.pull()

    def an_hour_passes() -> None:
        desk.clock.time += 3590

    desk.meanwhile = an_hour_passes
    minted = len(desk.github.world.minted)
    assert (desk.review(pull).state, desk.posted(pull)) == ("done", (1, 1, 1))
    assert len(desk.github.world.minted) > minted


@pytest.mark.parametrize("skew_s", [-75.0, 75.0])
def test_one_review_in_the_end_where_the_clocks_differ(desk: Desk, skew_s: float) -> None:
    pull = desk.pull()
    desk.github.world.clock.skew_s = skew_s
    try:
        desk.github.world.revoke_tokens()
        assert (desk.review(pull).state, desk.posted(pull)) == ("done", (1, 1, 1))
    finally:
        desk.github.world.clock.skew_s = 0.0


def test_comments_that_are_refused_cost_the_comments_and_not_the_review(desk: Desk) -> None:
    pull = desk.pull()
    strike(desk, "422", REVIEW)
    assert (desk.review(pull).state, desk.posted(pull)) == ("done", (1, 1, 1))
    assert "GitHub did not take the comments" in pull.reviews[0].body


@pytest.mark.parametrize("kind", ["502-after-success", "secondary"])
def test_one_review_for_the_next_head_where_changes_fail(desk: Desk, kind: Kind) -> None:
    """The summary is edited, the earlier review folded away: these are changes, and not posts."""
    pull = desk.pull()
    desk.review(pull)
    desk.github.world.push(pull.head_repo.full_name, pull.head_ref, {"more.py": b"x = 1\n"})
    strike(desk, kind, ("PATCH", r"/issues/comments/\d+$"), GRAPHQL)
    assert desk.review(pull).state == "done"
    assert len(desk.github.faults.struck) == 2
    assert [review.commit == pull.last_head for review in pull.reviews] == [False, True]
    assert desk.posted(pull)[:2] == (2, 1)


def test_a_second_run_of_a_head_changes_its_review_where_changes_fail(desk: Desk) -> None:
    pull = desk.pull()
    desk.find = lambda request: replace(report_of(request), status="inconclusive", reason="No.")
    desk.review(pull)
    desk.find = lambda request: replace(
        report_of(request), targets=(replace(report_of(request).targets[0], suspected_bugs=(BUG,)),)
    )
    strike(desk, "502-after-success", *OF_A_CHANGE)
    assert desk.review(pull).state == "done"
    assert desk.posted(pull)[:2] == (1, 1)
    assert "Suspected bug" in pull.reviews[0].body


# ---------------------------------------------------------------- commands


@pytest.mark.parametrize("kind", [*WITHOUT_ANSWER, "secondary", "401"])
def test_one_commit_in_the_end(desk: Desk, kind: Kind) -> None:
    pull = desk.pull()
    desk.review(pull)
    reviewed = pull.last_head
    strike(desk, kind, EYES, PULL, AUTHORITY, GRAPHQL, COMMENT)
    assert "Committed 1 test" in desk.say(pull, "apply")
    store = desk.repository.store
    assert store.parents(pull.last_head) == [reviewed]
    assert store.file(pull.last_head, TESTS) is not None


@pytest.mark.slow
def test_one_stacked_pull_request_in_the_end(desk: Desk) -> None:
    pull = desk.pull()
    desk.review(pull)
    for kind in (*WITHOUT_ANSWER, "401"):
        before = len(desk.repository.pulls)
        strike(desk, kind, EYES, PULL, BRANCH, PULLS, GRAPHQL, COMMENT)
        assert "adds 1 test" in desk.say(pull, "pr"), kind
        assert len(desk.repository.pulls) == before + 1, kind


def test_a_comment_that_cannot_get_its_eyes_is_answered(desk: Desk) -> None:
    pull = desk.pull()
    strike(desk, "502", EYES, times=99)
    assert "/testforge apply" in desk.say(pull, "help")


# ---------------------------------------------------------------- what does not pass


def test_a_github_that_does_not_take_the_review_is_told_in_the_check_run(desk: Desk) -> None:
    pull = desk.pull()
    strike(desk, "502", REVIEW, times=99)
    run = desk.review(pull)
    assert (run.state, desk.posted(pull)) == ("failed", (0, 0, 1))
    conclusion, words = desk.check(pull)
    assert conclusion == "neutral"
    assert words == run.reason
    assert words.startswith("GitHub answers 502")


def test_a_github_that_is_away_leaves_a_run_with_an_end_that_may_be_asked_for_again(desk: Desk) -> None:
    pull = desk.pull()
    strike(desk, "502", PULL, times=999)
    run = desk.review(pull)
    assert run.state == "failed"
    assert run.reason.startswith("GitHub answers 502")
    desk.github.faults.clear()
    assert (desk.review(pull).state, desk.posted(pull)) == ("done", (1, 1, 1))
