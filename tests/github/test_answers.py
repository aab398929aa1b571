"""Commands are obeyed for those who may ask, and answered once, with the reason where they are not."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest

from bot.deliver.review import Review
from bot.github import answers, pulls
from bot.github.answers import Answer
from bot.github.hub import Hub
from bot.github.wishes import Wish
from tests.github.hands import HandClock, app_for
from tests.github.reviews import CONTENT, TESTS, review_of
from tests.github.server import GitHub
from tests.github.server.gitstore import GitStore

REPOSITORY = "octo/parcels"
GRAPHQL = "/graphql"


def wish(command: str = "", *arguments: str, actor: str = "alice", **more: Any) -> Wish:
    fields = {"kind": "command", "delivery": "d-1", "installation": 1, "repository": REPOSITORY, "number": 1}
    return Wish(**{**fields, "actor": actor, "command": command, "arguments": arguments, **more})


def respond(hub: Hub, command: str, *arguments: str, review: Review | None = None, **more: Any) -> Answer:
    pull = pulls.read(hub, more.pop("number", 1))
    running = more.pop("running", "")
    return answers.respond(
        hub, pull, wish(command, *arguments, **more), review or review_of(pull.head), running=running
    )


def store(github: GitHub) -> GitStore:
    return github.world.repositories[REPOSITORY].store


# ---------------------------------------------------------------- apply


def test_apply_commits_the_file_to_the_head_branch(hub: Hub, github: GitHub) -> None:
    before = pulls.read(hub, 1).head
    answer = respond(hub, "apply")
    tip = str(store(github).tip("feature"))
    assert answer.commit == tip
    assert [test.key for test in answer.accepted] == ["T1", "T2"]
    assert f"Committed 2 tests to `feature`: [{tip[:9]}](" in answer.text
    assert store(github).file(tip, TESTS) == CONTENT
    assert store(github).parents(tip) == [before]


def test_the_commit_says_what_was_added(hub: Hub, github: GitHub) -> None:
    respond(hub, "apply")
    message = store(github).message(str(store(github).tip("feature")))
    assert message.splitlines()[0] == "Add 2 tests for src/quotes.py"
    assert "- test_heavy: covers line 3 of src/quotes.py, kills 1 mutant" in message
    assert "Testforge-Run: run-1" in message


def test_a_commit_is_signed_off_by_its_author_where_the_repository_asks_for_it(
    hub: Hub, github: GitHub
) -> None:
    bot = github.shapes.user("testforge[bot]")
    review = replace(review_of(pulls.read(hub, 1).head), sign_off=True)
    message = store(github).message(respond(hub, "apply", review=review).commit)
    signed = f"Signed-off-by: testforge[bot] <{bot['id']}+testforge[bot]@users.noreply.127.0.0.1>"
    assert message.splitlines()[-1] == signed


def test_apply_of_one_test_leaves_the_others_out_and_what_only_they_used(hub: Hub, github: GitHub) -> None:
    answer = respond(hub, "apply", "T1")
    written = store(github).file(answer.commit, TESTS)
    assert written is not None
    assert b"test_heavy" in written
    assert b"test_negative" not in written
    assert b"import pytest" not in written
    ast.parse(written)
    assert "was not run again" in answer.text


@pytest.mark.parametrize("words", [("all",), ("t1,T2",), ("T2", "T1"), ("ALL",)])
def test_tests_are_named_in_several_ways(hub: Hub, github: GitHub, words: tuple[str, ...]) -> None:
    assert store(github).file(respond(hub, "apply", *words).commit, TESTS) == CONTENT


def test_apply_of_a_test_that_there_is_not_commits_nothing(hub: Hub, github: GitHub) -> None:
    before = store(github).tip("feature")
    assert (
        respond(hub, "apply", "T1", "T9").text == "No proposed test has the number `T9`; there is T1 to T2."
    )
    assert "number `<script`" not in respond(hub, "apply", "<script>`@x`").text
    assert store(github).tip("feature") == before


def test_apply_twice_for_one_delivery_commits_once(hub: Hub, github: GitHub) -> None:
    head = pulls.read(hub, 1).head
    first = respond(hub, "apply")
    assert respond(hub, "apply", review=review_of(head)) == first


@pytest.mark.parametrize("kind", ["502", "502-after-success", "drop", "drop-after-success", "truncated"])
def test_apply_commits_once_when_the_answer_fails(hub: Hub, github: GitHub, kind: str) -> None:
    before = pulls.read(hub, 1).head
    github.faults.add(kind, "POST", GRAPHQL)  # type: ignore[arg-type]
    answer = respond(hub, "apply")
    assert store(github).parents(answer.commit) == [before]
    assert store(github).tip("feature") == answer.commit


def test_a_head_that_moved_is_said_plainly(hub: Hub, github: GitHub) -> None:
    review = review_of(pulls.read(hub, 1).head)
    moved = github.world.push(REPOSITORY, "feature", {"x.py": b"x = 1\n"})
    answer = respond(hub, "apply", review=review)
    assert f"checked at {review.head[:9]}, and it is at {moved[:9]} now" in answer.text
    assert store(github).tip("feature") == moved


def test_a_head_that_moves_between_looking_and_committing_is_not_overwritten(
    hub: Hub, github: GitHub
) -> None:
    pull = pulls.read(hub, 1)
    moved = github.world.push(REPOSITORY, "feature", {"x.py": b"x = 1\n"})
    answer = answers.respond(hub, pull, wish("apply"), review_of(pull.head))
    assert "moved on meanwhile" in answer.text
    assert store(github).tip("feature") == moved


def test_a_protected_branch_is_said_plainly(hub: Hub, github: GitHub) -> None:
    github.world.repositories[REPOSITORY].protected.add("feature")
    assert "The branch `feature` is protected" in respond(hub, "apply").text
    assert "/testforge pr" in respond(hub, "apply").text


def test_a_missing_permission_is_said_plainly(github: GitHub, clock: HandClock) -> None:
    installation = github.world.install({"pull_requests": "write", "metadata": "read", "contents": "read"})
    github.world.repositories[REPOSITORY].installation = installation
    with app_for(github, clock).connect(installation, REPOSITORY) as hub:
        assert "lacks the permission `contents: write`" in respond(hub, "apply").text
        assert "lacks the permission `contents: write`" in respond(hub, "pr").text


def test_a_branch_that_is_gone_is_said_plainly(hub: Hub, github: GitHub) -> None:
    pull = pulls.read(hub, 1)
    store(github).git("update-ref", "-d", "refs/heads/feature")
    answer = answers.respond(hub, pull, wish("apply"), review_of(pull.head))
    assert "`feature` is gone" in answer.text


def test_a_closed_pull_request_is_left_alone(hub: Hub, github: GitHub) -> None:
    github.world.close(REPOSITORY, 1)
    assert "closed" in respond(hub, "apply").text
    assert "closed" in respond(hub, "pr").text


def test_an_archived_repository_is_left_alone(hub: Hub, github: GitHub) -> None:
    github.world.repositories[REPOSITORY].archived = True
    assert "archived" in respond(hub, "apply").text
    assert "archived" in respond(hub, "pr").text


def test_a_fork_gets_a_patch(hub: Hub, github: GitHub) -> None:
    world = github.world
    world.fork(REPOSITORY, "carol")
    world.push("carol/parcels", "idea", {"x.py": b"x = 1\n"}, author="carol")
    number = world.open_pull(REPOSITORY, "idea", head_repo="carol/parcels", author="carol").number
    for command in ("apply", "pr"):
        answer = respond(hub, command, number=number)
        assert "git apply" in answer.text
        assert "```diff\ndiff --git a/x b/x\n```" in answer.text


# ---------------------------------------------------------------- pr


def test_pr_opens_a_pull_request_into_the_branch(hub: Hub, github: GitHub) -> None:
    before = store(github).tip("feature")
    answer = respond(hub, "pr")
    made = github.world.repositories[REPOSITORY].pulls[2]
    assert (made.base_ref, made.title, made.author) == (
        "feature",
        "Add 2 tests for src/quotes.py",
        "testforge[bot]",
    )
    assert store(github).file(made.last_head, TESTS) == CONTENT
    assert store(github).parents(made.last_head) == [before]
    assert store(github).tip("feature") == before
    assert answer.text.startswith("#2 adds 2 tests to `feature`.")
    assert "`test_heavy`" in made.body


def test_pr_again_for_one_delivery_opens_one(hub: Hub, github: GitHub) -> None:
    assert respond(hub, "pr") == respond(hub, "pr")
    assert len(github.world.repositories[REPOSITORY].pulls) == 2


@pytest.mark.parametrize("path", [GRAPHQL, "/pulls$", "/git/refs$"])
@pytest.mark.parametrize("kind", ["502", "502-after-success", "drop-after-success"])
def test_pr_opens_one_when_an_answer_fails(hub: Hub, github: GitHub, kind: str, path: str) -> None:
    github.faults.add(kind, "POST", path)  # type: ignore[arg-type]
    respond(hub, "pr")
    (_, made) = github.world.repositories[REPOSITORY].pulls.values()
    assert len(store(github).git("rev-list", f"feature..{made.last_head}").split()) == 1


# ---------------------------------------------------------------- words


@pytest.mark.parametrize("command", ["apply", "pr", "dismiss"])
@pytest.mark.parametrize("actor", ["bob", "stranger"])
def test_who_may_not_write_is_told_so_and_nothing_happens(
    hub: Hub, github: GitHub, command: str, actor: str
) -> None:
    before = store(github).tip("feature")
    answer = respond(hub, command, "T1", actor=actor)
    assert answer == Answer(answers.NO_AUTHORITY)
    assert store(github).tip("feature") == before
    assert len(github.world.repositories[REPOSITORY].pulls) == 1


def test_dismiss_names_the_test_and_keeps_the_reason(hub: Hub) -> None:
    answer = respond(hub, "dismiss", "T2", "we", "raise", "elsewhere")
    assert [test.key for test in answer.dismissed] == ["T2"]
    assert answer.why == "we raise elsewhere"
    assert answer.text == "T2 `test_negative` is dismissed. It does not come back."


def test_dismiss_of_nothing_says_what_to_write(hub: Hub) -> None:
    assert "Say which test" in respond(hub, "dismiss").text
    assert "Say which test" in respond(hub, "dismiss", "everything").text
    assert respond(hub, "dismiss", "T7").dismissed == ()


def test_explain_shows_the_test_and_its_evidence(hub: Hub) -> None:
    text = respond(hub, "explain", "T2", actor="bob").text
    assert "**T2** `test_negative`" in text
    assert "It covers line 5" in text
    assert "fails on base" in text
    assert (
        "```python\ndef test_negative():\n    with pytest.raises(ValueError):\n        price(-1)\n```" in text
    )


def test_help_lists_every_command(hub: Hub) -> None:
    from bot.github.commands import NAMES

    text = respond(hub, "help", actor="stranger").text
    assert all(name in text for name in NAMES)


def test_an_unknown_command_gets_help(hub: Hub) -> None:
    text = respond(hub, "aply", actor="stranger").text
    assert text.startswith("There is no command `aply`.")
    assert "/testforge apply" in text


def test_status_tells_what_runs_and_how_the_last_run_ended(hub: Hub, github: GitHub) -> None:
    text = respond(hub, "status", running="the seed is written").text
    assert text.startswith("The seed is written.")
    assert "2 tests proposed" in text
    review = review_of("f" * 40)
    assert "`/testforge` reviews it" in respond(hub, "status", review=review).text


def test_without_a_review_there_is_nothing_to_apply(hub: Hub) -> None:
    pull = pulls.read(hub, 1)
    for command in ("apply", "pr", "dismiss", "explain"):
        assert "No tests are proposed" in answers.respond(hub, pull, wish(command), None).text


# ---------------------------------------------------------------- posting


def test_an_answer_is_posted_once(hub: Hub, github: GitHub) -> None:
    pull = pulls.read(hub, 1)
    github.faults.add("502-after-success", "POST", "/comments$")
    first = answers.answer(hub, pull, wish("help"), "Hello.")
    assert answers.answer(hub, pull, wish("help"), "Hello.") == first
    (comment,) = github.world.repositories[REPOSITORY].pulls[1].comments
    assert comment.body == "<!-- testforge:answer=d-1 -->\nHello."
    assert answers.answer(hub, pull, wish("help", delivery="d-2"), "Hello.") != first


def test_an_answer_to_a_comment_on_a_line_stands_below_it(hub: Hub, github: GitHub) -> None:
    asked = github.world.comment_on_line(REPOSITORY, 1, "/testforge explain T1")
    pull = pulls.read(hub, 1)
    answers.answer(hub, pull, wish("explain", comment=asked.id, inline=True), "Hello.")
    reply = github.world.repositories[REPOSITORY].pulls[1].line_comments[-1]
    assert (reply.reply_to, reply.user) == (asked.id, "testforge[bot]")


def test_further_commands_of_a_comment_are_answered_with_one_sentence(hub: Hub, github: GitHub) -> None:
    answers.answer(hub, pulls.read(hub, 1), wish("status", more=4), "Nothing is running.")
    (comment,) = github.world.repositories[REPOSITORY].pulls[1].comments
    assert "One comment, one command" in comment.body


def test_eyes_appear_below_a_command(hub: Hub, github: GitHub) -> None:
    below = github.world.comment(REPOSITORY, 1, "/testforge")
    on_line = github.world.comment_on_line(REPOSITORY, 1, "/testforge")
    for comment, inline in ((below, False), (on_line, True)):
        answers.acknowledge(hub, wish(comment=comment.id, inline=inline))
        answers.acknowledge(hub, wish(comment=comment.id, inline=inline))
        assert comment.reactions == [("testforge[bot]", "eyes")]


def test_a_ticked_box_is_freed_again(hub: Hub, github: GitHub) -> None:
    sticky = f"<!-- testforge:sticky -->\n{review_of('f' * 40).sticky}"
    github.world.comment(REPOSITORY, 1, sticky, user="testforge[bot]")
    comment, _ = github.world.tick(REPOSITORY, 1, "apply")
    answers.acknowledge(hub, wish("apply", kind="boxes", comment=comment.id))
    assert comment.body == sticky


def test_a_comment_that_was_deleted_needs_no_eyes(hub: Hub, github: GitHub) -> None:
    answers.acknowledge(hub, wish(comment=999_999))
    answers.acknowledge(hub, wish("apply", kind="boxes", comment=999_999))


def test_a_branch_with_a_strange_name_is_shown_as_code(hub: Hub, github: GitHub) -> None:
    name = "evil`@octocat`<b>"
    github.world.push(REPOSITORY, name, {"x.py": b"x = 1\n"})
    number = github.world.open_pull(REPOSITORY, name).number
    github.world.repositories[REPOSITORY].protected.add(name)
    assert f"The branch ``{name}`` is protected" in respond(hub, "apply", number=number).text
