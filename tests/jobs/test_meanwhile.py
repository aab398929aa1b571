"""What people do in the middle of a run, or before its turn has come: each has its answer, and nothing is posted twice."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from bot.domain import Earlier, Request, RunReport, Usage
from bot.github.events import interpret
from bot.github.wishes import Wish
from bot.jobs import orders, queues
from bot.jobs.reviews import NEWER
from tests.github.server import UnavailableError
from tests.jobs.desk import TESTS, Desk, desk_in, report_of
from tests.jobs.serving import AFTER, REPOSITORY


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One desk for all: each test has a pull request of its own."""
    try:
        with desk_in(tmp_path_factory.mktemp("desk"), month_budget_usd=50.0, runs_at_once=3) as found:
            yield found
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def desk(shared: Desk) -> Iterator[Desk]:
    world, repository = shared.github.world, shared.repository
    yield shared
    shared.meanwhile, shared.find = lambda: None, report_of
    repository.archived = False
    world.suspended.clear()
    if repository.installation not in world.installations:
        repository.installation = world.install()


def test_an_archived_repository_is_not_posted_to_and_the_run_says_why(desk: Desk) -> None:
    pull = desk.pull()
    desk.meanwhile = lambda: setattr(desk.repository, "archived", True)
    run = desk.review(pull)
    assert (run.state, run.reason) == ("cancelled", "The repository is archived.")
    assert (pull.reviews, pull.comments) == ([], [])
    wish = desk.command(pull, "help")
    desk.engine.submit([wish])
    desk.ended(queues.workflow_id(wish))
    assert len(pull.comments) == 1  # the command alone: there is nothing that could be written


def test_a_repository_that_is_archived_while_it_is_posted_to_has_no_half_review(desk: Desk) -> None:
    pull = desk.pull()
    desk.github.faults.add("502", "POST", r"/pulls/\d+/reviews$")
    sleep = desk.clock.sleep

    def archived(seconds: float) -> None:
        desk.repository.archived |= bool(desk.github.faults.struck)
        sleep(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(desk.clock, "sleep", archived)
        run = desk.review(pull)
    assert run.state == "failed"
    assert "archived so is read-only" in run.reason
    assert pull.reviews == []


def uninstall(desk: Desk) -> None:
    desk.github.world.uninstall(desk.installation)


def suspend(desk: Desk) -> None:
    desk.github.world.suspended.add(desk.installation)


def remove(desk: Desk) -> None:
    desk.repository.installation = None
    desk.github.world.revoke_tokens()


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (uninstall, "The App is not installed on octo/parcels any more."),
        (suspend, "suspended"),
        (remove, "the App is installed, but not on this repository"),
    ],
)
def test_an_app_that_is_taken_away_leaves_a_run_that_says_so(
    desk: Desk, act: Callable[[Desk], None], words: str
) -> None:
    pull, installation = desk.pull(), desk.installation
    desk.meanwhile = lambda: act(desk)
    run = desk.review(pull)
    assert run.state == "failed"
    assert words in run.reason
    assert pull.reviews == []
    later = desk.review(pull, installation=installation)  # one that had waited for its turn
    assert (later.state, later.reason) == ("failed", run.reason)


def test_the_webhook_of_an_app_that_is_taken_away_ends_the_run(desk: Desk) -> None:
    pull = desk.pull()

    def uninstalled() -> None:
        wish = Wish(
            "installation",
            secrets.token_hex(4),
            desk.installation,
            "",
            0,
            "owner",
            event="installation.deleted",
        )
        uninstall(desk)
        desk.engine.submit([wish])
        desk.ended(queues.workflow_id(wish))

    desk.meanwhile = uninstalled
    run = desk.review(pull)
    assert (run.state, run.reason, pull.reviews) == ("cancelled", orders.GONE, [])


@pytest.mark.parametrize("told", [True, False], ids=["and told", "and not told"])
def test_a_pull_request_that_is_closed_has_no_review(desk: Desk, told: bool) -> None:
    pull = desk.pull()

    def closed() -> None:
        desk.github.world.close(REPOSITORY, pull.number)
        if told:
            wish = Wish("closed", secrets.token_hex(4), desk.installation, REPOSITORY, pull.number, "alice")
            desk.engine.submit([wish])
            desk.ended(queues.workflow_id(wish))

    desk.meanwhile = closed
    run = desk.review(pull)
    assert (run.state, desk.posted(pull)) == ("cancelled", (0, 0, 1))
    assert desk.check(pull) == ("cancelled", orders.CLOSED if told else "The pull request is closed.")


def test_a_head_that_is_pushed_over_has_no_review_and_the_new_one_has_one(desk: Desk) -> None:
    pull = desk.pull()
    old, main = pull.last_head, desk.repository.store.tip("main")

    def pushed_over() -> None:
        files: dict[str, bytes | None] = {"quotes.py": AFTER.replace("200", "250").encode()}
        desk.github.world.push(REPOSITORY, pull.head_ref, files, onto=main)

    desk.meanwhile = pushed_over
    run = desk.review(pull)
    assert (run.state, run.reason, pull.reviews) == ("superseded", NEWER, [])
    assert desk.check(pull, old)[0] == "cancelled"
    desk.meanwhile = lambda: None
    assert (desk.review(pull).state, [review.commit for review in pull.reviews]) == ("done", [pull.last_head])


def test_a_branch_that_is_renamed_is_reviewed_and_committed_to_by_its_new_name(desk: Desk) -> None:
    pull = desk.pull()
    head = pull.last_head
    desk.meanwhile = lambda: desk.github.world.rename_branch(REPOSITORY, pull.head_ref, "renamed")
    assert (desk.review(pull).state, desk.posted(pull)) == ("done", (1, 1, 1))
    assert "to `renamed`" in desk.say(pull, "apply")
    assert desk.repository.store.parents(str(desk.repository.store.tip("renamed"))) == [head]


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_pull_request_of_a_fork_that_is_deleted_has_its_review_with_a_patch(desk: Desk, when: str) -> None:
    world = desk.github.world
    fork = world.fork(REPOSITORY, f"carol{world.new_id()}").full_name
    pull = desk.pull(head_repo=fork, author="carol")
    if when == "before":
        world.delete_fork(fork)
    else:
        desk.meanwhile = lambda: world.delete_fork(fork)
    body = desk.say(pull, "")
    assert "The tests as a patch" in body
    assert "```diff" in desk.say(pull, "apply")
    assert desk.posted(pull) == (1, 1, 1)


def test_a_forks_author_may_ask_and_somebody_who_may_write_starts_it(desk: Desk) -> None:
    world = desk.github.world
    fork = world.fork(REPOSITORY, f"dave{world.new_id()}").full_name
    pull = desk.pull(head_repo=fork, author="dave")
    assert "write permission" in desk.say(pull, "", user="dave")
    assert pull.reviews == []
    assert "test_heavy" in desk.say(pull, "")


def test_who_lost_the_permission_before_the_commands_turn_is_not_obeyed(desk: Desk) -> None:
    pull = desk.pull()
    desk.review(pull)
    head = pull.last_head
    desk.repository.collaborators["alice"] = "read"
    try:
        assert "write permission" in desk.say(pull, "apply")
        assert "write permission" in desk.say(pull, "")
    finally:
        desk.repository.collaborators["alice"] = "write"
    assert pull.last_head == head


def test_a_hundred_commands_of_one_comment_have_one_answer(desk: Desk) -> None:
    pull = desk.pull()
    comment = desk.github.world.comment(REPOSITORY, pull.number, "/testforge help\n" * 100)
    payload = desk.github.shapes.payload(REPOSITORY, pull.number, "created", comment=comment)
    wish = interpret("issue_comment", "d100", payload, bot_login="testforge[bot]")
    assert wish is not None
    desk.engine.submit([wish])
    desk.ended(queues.workflow_id(wish))
    assert "One comment, one command" in desk.answer(pull, wish)
    assert len(pull.comments) == 2


@pytest.mark.slow
def test_a_hundred_comments_at_once_have_an_answer_each(desk: Desk) -> None:
    pull = desk.pull()
    wishes = [desk.command(pull, "help") for _ in range(100)]
    assert desk.engine.submit(wishes) == ["accepted"] * 100
    for wish in wishes:
        desk.ended(queues.workflow_id(wish))
    answers = [comment.body for comment in pull.comments if "testforge:answer=" in comment.body]
    assert len(answers) == len(set(answers)) == 100


def test_a_repository_has_one_review_at_a_time_and_does_not_wait_for_another_one(desk: Desk) -> None:
    world, other = desk.github.world, "octo/other"
    world.add_repository(other, {"quotes.py": b"x = 1\n"}, installation=desk.installation)
    world.push(other, "change", {"quotes.py": AFTER.encode()})
    pulls = [(REPOSITORY, desk.pull()), (REPOSITORY, desk.pull()), (other, world.open_pull(other, "change"))]
    active: list[str] = []
    seen: list[tuple[str, ...]] = []
    both, lock = threading.Event(), threading.Lock()

    def noted(request: Request) -> RunReport:
        with lock:
            active.append(request.scope)
            seen.append(tuple(sorted(active)))
            if len(set(active)) == 2:
                both.set()
        both.wait(60)
        with lock:
            active.remove(request.scope)
        return report_of(request)

    desk.find = noted
    wishes = [
        Wish(
            "review", secrets.token_hex(6), desk.installation, repository, pull.number, "alice",
            head=pull.last_head, event="pull_request.opened",
        )
        for repository, pull in pulls
    ]  # fmt: skip
    desk.engine.submit(wishes)
    for wish in wishes:
        assert desk.ended(queues.workflow_id(wish))["state"] == "done"
    assert (REPOSITORY, REPOSITORY) not in seen
    assert tuple(sorted((REPOSITORY, other))) in seen


# ---------------------------------------------------------------- money, and memory over pushes


def costing(usd: float) -> Callable[[Request], RunReport]:
    return lambda request: replace(report_of(request), usage=Usage(cost_usd=usd))


def test_money_is_estimated_before_and_when_it_is_spent_the_answer_says_so(desk: Desk) -> None:
    pull = desk.pull()
    desk.find = costing(30.0)
    assert desk.review(pull).cost_usd == 30.0
    spent = desk.store.spending.spent(REPOSITORY)
    begun: list[str] = []
    desk.meanwhile = lambda: begun.append(desk.repository.checks[-1]["output"]["summary"])
    desk.github.world.push(REPOSITORY, pull.head_ref, {"more.py": b"x = 1\n"})
    try:
        assert desk.review(pull).state == "done"
        assert "A run here has cost" in begun[0]
        assert f"This one may cost {50 - spent:.2f} USD at most." in begun[0]
        desk.github.world.push(REPOSITORY, pull.head_ref, {"more.py": b"x = 2\n"})
        desk.meanwhile = lambda: None
        run = desk.review(pull)
        assert run.state == "skipped"
        assert "budget of 50.00 USD a month is used up" in desk.check(pull)[1]
        assert "budget of 50.00 USD a month is used up" in desk.say(pull, "")
    finally:
        for one in desk.store.runs.recent():
            desk.store.spending.note(one.id, REPOSITORY, 0.0)
            desk.store.runs.update(one.id, cost_usd=0.0)


def test_what_a_stopped_run_has_cost_is_counted(desk: Desk) -> None:
    pull = desk.pull()

    def asked_and_stopped() -> None:
        name = desk.store.runs.of_pull(REPOSITORY, pull.number)[0].id
        call = desk.store.journal(name).next_call([{"role": "user", "content": "x"}])
        call.write({"text": "y", "usage": {"cost_usd": 0.25}})
        assert "being stopped" in desk.say(pull, "stop")

    before = desk.store.spending.spent(REPOSITORY)
    desk.meanwhile = asked_and_stopped
    assert desk.review(pull).state == "cancelled"
    assert desk.store.spending.spent(REPOSITORY) == before + 0.25


def test_the_next_run_knows_what_was_proposed_and_what_was_dismissed(desk: Desk) -> None:
    pull = desk.pull()
    asked: list[Request] = []

    def noted(request: Request) -> RunReport:
        asked.append(request)
        return report_of(request)

    desk.find = noted
    desk.review(pull)
    assert "is dismissed" in desk.say(pull, "dismiss", "T1", "too", "slow")
    desk.github.world.push(REPOSITORY, pull.head_ref, {"more.py": b"x = 1\n"})
    desk.review(pull)
    first, second = asked
    assert (first.dismissed, first.earlier) == (frozenset(), ())
    assert second.dismissed == {"a behaviour"}
    assert [type(one) for one in second.earlier] == [Earlier]
    assert "test_heavy" in second.earlier[0].content
    assert second.earlier[0].target == "quotes.py"
    remembered = desk.store.memory.tests(REPOSITORY, pull.number)
    assert [(one.state, one.test) for one in remembered] == [("dismissed", f"{TESTS}::test_heavy")]
