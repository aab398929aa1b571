"""A review is posted once, whatever goes wrong while it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from bot.deliver.remarks import Comment
from bot.deliver.review import Review
from bot.github import pulls
from bot.github.hub import Hub
from bot.github.publishing import Published, publish
from tests.github.hands import HandClock, app_for
from tests.github.reviews import CONTENT, TESTS, review_of
from tests.github.server import GitHub

REPOSITORY = "octo/parcels"
REVIEWS = r"/pulls/1/reviews$"
COMMENTS = r"/issues/1/comments$"


def post(hub: Hub, review: Review | None = None, run: str = "run-1") -> Published:
    pull = pulls.read(hub, 1)
    return publish(hub, pull, review or review_of(pull.head), run=run)


def posted(github: GitHub) -> tuple[int, int, int]:
    """Return how many reviews, comments on lines and comments the pull request has."""
    pull = github.world.repositories[REPOSITORY].pulls[1]
    return len(pull.reviews), len(pull.line_comments), len(pull.comments)


def test_a_review_with_comments_and_a_summary_is_posted(hub: Hub, github: GitHub) -> None:
    published = post(hub)
    pull = github.world.repositories[REPOSITORY].pulls[1]
    (review,), (line,), (sticky,) = pull.reviews, pull.line_comments, pull.comments
    assert review.state == "COMMENTED"
    assert review.body == f"<!-- testforge:run=run-1 head={pull.last_head} -->\n### 2 tests proposed"
    assert (line.path, line.start_line, line.line, line.commit) == ("src/quotes.py", 4, 5, pull.last_head)
    assert sticky.body.startswith("<!-- testforge:sticky -->\n**testforge**")
    assert published.review == review.id
    assert published.review_url.endswith(f"#pullrequestreview-{review.id}")
    assert (published.sticky, published.superseded, published.notes) == (sticky.id, False, ())
    assert Published.from_json(published.as_json()) == published


def test_posting_again_posts_nothing(hub: Hub, github: GitHub) -> None:
    first = post(hub)
    writes = len(github.writes())
    assert post(hub) == first
    assert posted(github) == (1, 1, 1)
    assert len(github.writes()) == writes


def test_writes_keep_a_second_between_them(hub: Hub, github: GitHub) -> None:
    post(hub)
    times = [entry.at for entry in github.writes()]
    assert len(times) == 2
    assert all(after - before >= 1 for before, after in pairwise(times))


def test_a_newer_head_gets_its_own_review_and_the_earlier_one_is_folded(hub: Hub, github: GitHub) -> None:
    post(hub)
    github.world.push(
        REPOSITORY, "feature", {"src/quotes.py": b"def price(weight):\n    return 1\n\n\n\n# end\n"}
    )
    head = pulls.read(hub, 1).head
    post(hub, review_of(head, run="run-2", sticky="**testforge** again"), run="run-2")
    pull = github.world.repositories[REPOSITORY].pulls[1]
    assert [review.minimized for review in pull.reviews] == [True, False]
    assert [comment.body for comment in pull.comments] == ["<!-- testforge:sticky -->\n**testforge** again"]


def test_a_head_that_moved_on_gets_nothing(hub: Hub, github: GitHub) -> None:
    review = review_of(pulls.read(hub, 1).head)
    github.world.push(REPOSITORY, "feature", {"x.py": b"x = 1\n"})
    assert post(hub, review).superseded
    assert posted(github) == (0, 0, 0)


def test_a_second_run_at_the_same_head_rewrites_the_review(hub: Hub, github: GitHub) -> None:
    first = post(hub)
    head = pulls.read(hub, 1).head
    comments = (Comment("src/quotes.py", 6, "Covered by T1."),)
    second = post(hub, review_of(head, run="run-2", body="### other tests", comments=comments), run="run-2")
    pull = github.world.repositories[REPOSITORY].pulls[1]
    assert second.review == first.review
    assert "run=run-2" in pull.reviews[0].body
    assert "### other tests" in pull.reviews[0].body
    assert [(comment.line, comment.body) for comment in pull.line_comments] == [(6, "Covered by T1.")]
    assert (
        post(hub, review_of(head, run="run-2", body="### other tests", comments=comments), run="run-2")
        == second
    )


def test_runs_with_long_names_are_told_apart(hub: Hub, github: GitHub) -> None:
    head = pulls.read(hub, 1).head
    runs = [f"pr/octo/{'parcels' * 12}/1/{number}" for number in (1, 2)]
    for run in runs:
        post(hub, review_of(head, run=run, body=run), run=run)
    (review,) = github.world.repositories[REPOSITORY].pulls[1].reviews
    assert review.body.endswith(runs[1])


def test_nothing_to_test_leaves_no_trace_unless_there_is_one_to_correct(hub: Hub, github: GitHub) -> None:
    quiet = {
        "body": "",
        "comments": (),
        "files": (),
        "tests": (),
        "is_quiet": True,
        "sticky": "Nothing to test.",
    }
    head = pulls.read(hub, 1).head
    assert post(hub, review_of(head, **quiet)) == Published()
    assert posted(github) == (0, 0, 0)
    post(hub)
    post(hub, review_of(head, **quiet))
    assert github.world.repositories[REPOSITORY].pulls[1].comments[0].body.endswith("Nothing to test.")


def test_marks_that_somebody_else_copied_do_not_count(hub: Hub, github: GitHub) -> None:
    head = pulls.read(hub, 1).head
    github.world.comment(REPOSITORY, 1, "<!-- testforge:sticky -->\nmine now", user="mallory")
    post(hub, review_of(head))
    pull = github.world.repositories[REPOSITORY].pulls[1]
    pull.reviews[0].user = "mallory"
    post(hub, review_of(head))
    assert [review.user for review in pull.reviews] == ["mallory", "testforge[bot]"]
    assert pull.comments[0].body.endswith("mine now")


@pytest.mark.parametrize("path", [REVIEWS, COMMENTS])
@pytest.mark.parametrize(
    "kind", ["502", "502-after-success", "drop", "drop-after-success", "truncated", "html"]
)
def test_one_review_in_the_end_when_an_answer_fails(hub: Hub, github: GitHub, kind: str, path: str) -> None:
    github.faults.add(kind, "POST", path)  # type: ignore[arg-type]
    published = post(hub)
    assert len(github.faults.struck) == 1
    assert posted(github) == (1, 1, 1)
    assert published.review is not None
    assert published.sticky is not None


@pytest.mark.parametrize("kind", ["hang", "hang-after-success"])
def test_one_review_in_the_end_when_no_answer_comes_in_time(
    github: GitHub, clock: HandClock, kind: str
) -> None:
    github.faults.add(kind, "POST", REVIEWS)  # type: ignore[arg-type]
    installation = github.world.repositories[REPOSITORY].installation
    assert installation is not None
    with app_for(github, clock, timeout_s=1.0).connect(installation, REPOSITORY) as hub:
        post(hub)
    assert posted(github) == (1, 1, 1)


@pytest.mark.parametrize("kind", ["502", "drop", "truncated", "html"])
def test_reads_are_repeated(hub: Hub, github: GitHub, kind: str) -> None:
    github.faults.add(kind, "GET", REVIEWS, times=2)  # type: ignore[arg-type]
    post(hub)
    assert posted(github) == (1, 1, 1)


@pytest.mark.parametrize("kind", ["secondary", "secondary-bare", "429", "primary"])
def test_limits_are_waited_for_as_long_as_they_say(
    hub: Hub, github: GitHub, clock: HandClock, kind: str
) -> None:
    github.faults.add(kind, "POST", REVIEWS, wait_s=37)  # type: ignore[arg-type]
    post(hub)
    assert posted(github) == (1, 1, 1)
    assert max(clock.waits) == (60 if kind == "secondary-bare" else 38)


def test_a_revoked_token_is_replaced_at_once(hub: Hub, github: GitHub) -> None:
    github.faults.add("401", "POST", REVIEWS)
    post(hub)
    assert posted(github) == (1, 1, 1)
    assert len(github.world.minted) == 2


def test_a_token_that_runs_out_during_the_run_is_renewed(hub: Hub, github: GitHub, clock: HandClock) -> None:
    pulls.read(hub, 1)
    clock.time += 3590
    post(hub)
    assert posted(github) == (1, 1, 1)
    assert len(github.world.minted) == 2


@pytest.mark.parametrize("skew_s", [-3700.0, -75.0, 75.0, 3700.0])
def test_a_skewed_clock_of_this_machine_does_not_matter(
    github: GitHub, clock: HandClock, skew_s: float
) -> None:
    github.world.clock.skew_s = skew_s
    installation = github.world.repositories[REPOSITORY].installation
    assert installation is not None
    with app_for(github, clock).connect(installation, REPOSITORY) as hub:
        post(hub)
    assert posted(github) == (1, 1, 1)


def test_comments_that_are_refused_are_moved_into_the_body(hub: Hub, github: GitHub) -> None:
    head = pulls.read(hub, 1).head
    bad = review_of(
        head, comments=(Comment("src/quotes.py", 5, "fine"), Comment("README.md", 400, "not in the diff"))
    )
    published = post(hub, bad)
    assert posted(github) == (1, 0, 1)
    body = github.world.repositories[REPOSITORY].pulls[1].reviews[0].body
    assert "fine" in body
    assert "not in the diff" in body
    assert "Path could not be resolved" in published.notes[0]


def test_a_review_that_was_stored_although_it_was_refused_is_found(hub: Hub, github: GitHub) -> None:
    github.faults.add("422", "POST", REVIEWS)
    head = pulls.read(hub, 1).head
    published = post(hub, review_of(head))
    assert posted(github)[0] == 1
    assert published.review is not None


def test_a_draft_of_an_earlier_crash_does_not_block(hub: Hub, github: GitHub) -> None:
    pull = pulls.read(hub, 1)
    hub.post("/pulls/1/reviews", {"commit_id": pull.head, "body": "half"})
    post(hub)
    assert [review.state for review in github.world.repositories[REPOSITORY].pulls[1].reviews] == [
        "COMMENTED"
    ]


def test_a_review_that_cannot_be_folded_is_only_noted(hub: Hub, github: GitHub) -> None:
    post(hub)
    github.world.push(REPOSITORY, "feature", {"x.py": b"x = 1\n"})
    head = pulls.read(hub, 1).head
    github.faults.add("422", "POST", "/graphql")
    published = post(hub, replace(review_of(head), comments=()))
    assert "could not be folded" in published.notes[0]
    assert posted(github)[0] == 2


def test_the_largest_bodies_are_taken(hub: Hub, github: GitHub) -> None:
    post(hub, review_of(pulls.read(hub, 1).head, body="x" * 65_000, sticky="y" * 65_000))
    assert posted(github) == (1, 1, 1)


# ---------------------------------------------------------------- where the tests are wanted at once


def test_tests_are_committed_where_the_repository_asks_for_it(hub: Hub, github: GitHub) -> None:
    before = pulls.read(hub, 1).head
    review = review_of(before, deliver="commit")
    published = post(hub, review)
    store = github.world.repositories[REPOSITORY].store
    tip = str(store.tip("feature"))
    assert published.delivered.endswith(tip)
    assert (store.parents(tip), store.file(tip, TESTS)) == ([before], CONTENT)
    assert post(hub, review) == published
    assert (store.tip("feature"), posted(github)) == (tip, (1, 1, 1))


def test_tests_come_as_a_pull_request_where_the_repository_asks_for_it(hub: Hub, github: GitHub) -> None:
    review = review_of(pulls.read(hub, 1).head, deliver="stacked-pr")
    published = post(hub, review)
    assert post(hub, review) == published
    assert published.delivered.endswith("/pull/2")
    assert len(github.world.repositories[REPOSITORY].pulls) == 2


def test_tests_that_cannot_be_committed_are_reviewed_and_the_reason_is_told_once(
    hub: Hub, github: GitHub
) -> None:
    github.world.repositories[REPOSITORY].protected.add("feature")
    review = review_of(pulls.read(hub, 1).head, deliver="commit")
    assert post(hub, review) == post(hub, review)
    pull = github.world.repositories[REPOSITORY].pulls[1]
    assert posted(github) == (1, 1, 2)
    assert "The branch `feature` is protected" in pull.comments[1].body
