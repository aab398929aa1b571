"""What webhooks ask for, from every official example payload to nonsense."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from bot.deliver.boxes import draw_answers
from bot.github.events import interpret
from bot.github.wishes import Wish
from tests.github.server import GitHub, UnavailableError
from tests.github.server.npm import EXAMPLES

BOT = "testforge[bot]"
REPOSITORY = "octo/parcels"


@pytest.fixture(scope="module")
def examples() -> list[tuple[str, dict[str, Any]]]:
    """Every official example: the event's name and the payload."""
    try:
        file = EXAMPLES.file()
    except UnavailableError as error:
        pytest.skip(str(error))
    return [
        (event["name"], example) for event in json.loads(file.read_bytes()) for example in event["examples"]
    ]


def test_every_official_example_is_survived(examples: list[tuple[str, dict[str, Any]]]) -> None:
    assert len(examples) > 300
    found = [interpret(name, "d", payload, bot_login=BOT) for name, payload in examples]
    kinds = {wish.kind for wish in found if wish is not None}
    assert {"review", "closed", "installation"} <= kinds
    for wish in found:
        assert wish is None or Wish.from_json(json.loads(json.dumps(wish.as_json()))) == wish


def test_an_official_push_to_a_pull_request_asks_for_a_review(
    examples: list[tuple[str, dict[str, Any]]],
) -> None:
    payload = next(
        p
        for name, p in examples
        if name == "pull_request" and p["action"] == "synchronize" and "installation" in p
    )
    wish = interpret("pull_request", "d-1", payload, bot_login=BOT)
    assert wish is not None
    assert (wish.kind, wish.event) == ("review", "pull_request.synchronize")
    assert wish.head == payload["pull_request"]["head"]["sha"]
    assert wish.number == payload["number"]
    assert wish.repository == payload["repository"]["full_name"]
    assert wish.installation == payload["installation"]["id"]


def test_examples_with_parts_missing_or_of_another_type_are_survived(
    examples: list[tuple[str, dict[str, Any]]],
) -> None:
    known = ("pull_request", "issue_comment", "pull_request_review_comment", "installation")
    for name, payload in examples:
        if name in known:
            for broken in _broken(payload):
                interpret(name, "d", broken, bot_login=BOT)


def _broken(payload: Mapping[str, Any], depth: int = 0) -> list[dict[str, Any]]:
    """Return copies of a payload, each with one part missing or replaced."""
    found = []
    for key, value in payload.items():
        found.append({k: v for k, v in payload.items() if k != key})
        found += [{**payload, key: other} for other in (None, [], {}, "x" * 9, -1, True, 1.5)]
        if isinstance(value, dict) and depth < 2:
            found += [{**payload, key: inner} for inner in _broken(value, depth + 1)]
    return found


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(event=st.sampled_from(["pull_request", "issue_comment", "installation", "x", ""]), payload=_JSON)
def test_any_json_is_survived(event: str, payload: Any) -> None:
    assert interpret(event, "d", payload, bot_login=BOT) is None


# ---------------------------------------------------------------- pull requests


def test_a_draft_waits(github: GitHub) -> None:
    github.world.repositories[REPOSITORY].pulls[1].draft = True
    assert (
        interpret("pull_request", "d", github.shapes.payload(REPOSITORY, 1, "opened"), bot_login=BOT) is None
    )
    github.world.repositories[REPOSITORY].pulls[1].draft = False
    ready = github.shapes.payload(REPOSITORY, 1, "ready_for_review")
    wish = interpret("pull_request", "d", ready, bot_login=BOT)
    assert wish is not None
    assert wish.kind == "review"


@pytest.mark.parametrize("action", ["labeled", "edited", "assigned", "converted_to_draft", "locked"])
def test_other_actions_ask_for_nothing(github: GitHub, action: str) -> None:
    assert interpret("pull_request", "d", github.shapes.payload(REPOSITORY, 1, action), bot_login=BOT) is None


def test_closing_is_told_also_of_drafts_and_forks(github: GitHub) -> None:
    github.world.repositories[REPOSITORY].pulls[1].draft = True
    wish = interpret("pull_request", "d", github.shapes.payload(REPOSITORY, 1, "closed"), bot_login=BOT)
    assert wish is not None
    assert wish.kind == "closed"


def test_forks_wait_for_a_command_also_when_they_are_gone(github: GitHub) -> None:
    world = github.world
    world.fork(REPOSITORY, "mallory")
    world.push("mallory/parcels", "evil", {"x.py": b"x = 1\n"}, author="mallory")
    pull = world.open_pull(REPOSITORY, "evil", head_repo="mallory/parcels", author="mallory")
    payload = github.shapes.payload(REPOSITORY, pull.number, "opened", sender="mallory")
    assert interpret("pull_request", "d", payload, bot_login=BOT) is None
    world.delete_fork("mallory/parcels")
    payload = github.shapes.payload(REPOSITORY, pull.number, "synchronize", sender="mallory")
    assert interpret("pull_request", "d", payload, bot_login=BOT) is None


def test_pull_requests_of_bots_and_the_bots_own_pushes_wait_for_a_command(github: GitHub) -> None:
    payload = github.shapes.payload(REPOSITORY, 1, "synchronize", sender=BOT)
    assert interpret("pull_request", "d", payload, bot_login=BOT) is None
    github.world.repositories[REPOSITORY].pulls[1].author = "dependabot[bot]"
    payload = github.shapes.payload(REPOSITORY, 1, "opened")
    assert interpret("pull_request", "d", payload, bot_login=BOT) is None


def test_a_push_of_another_bot_to_a_persons_pull_request_is_reviewed(github: GitHub) -> None:
    payload = github.shapes.payload(REPOSITORY, 1, "synchronize", sender="pre-commit-ci[bot]")
    wish = interpret("pull_request", "d", payload, bot_login=BOT)
    assert wish is not None
    assert wish.kind == "review"


# ---------------------------------------------------------------- comments


def said(
    github: GitHub, body: str, *, user: str = "alice", action: str = "created", **more: Any
) -> Wish | None:
    comment = github.world.comment(REPOSITORY, 1, body, user=user)
    payload = github.shapes.payload(REPOSITORY, 1, action, sender=user, comment=comment, **more)
    return interpret("issue_comment", "d-9", payload, bot_login=BOT)


def test_a_command_is_a_wish(github: GitHub) -> None:
    wish = said(github, "Nice.\n/testforge apply T1 T2\n")
    assert wish is not None
    assert (wish.kind, wish.command, wish.arguments, wish.actor) == (
        "command",
        "apply",
        ("T1", "T2"),
        "alice",
    )
    assert wish.comment == github.world.repositories[REPOSITORY].pulls[1].comments[-1].id
    assert (wish.head, wish.inline, wish.more) == (None, False, 0)


def test_of_a_hundred_commands_the_first_counts_and_the_others_are_known_of(github: GitHub) -> None:
    wish = said(github, "/testforge status\n" * 100)
    assert wish is not None
    assert wish.command == "status"
    assert wish.more > 0


def test_comments_of_bots_and_edits_are_no_commands(github: GitHub) -> None:
    assert said(github, "/testforge apply", user=BOT) is None
    assert said(github, "/testforge apply", user="renovate[bot]") is None
    assert said(github, "/testforge apply", action="edited", before="nothing") is None
    assert said(github, "/testforge apply", action="deleted") is None


def test_a_command_on_an_issue_is_none(github: GitHub) -> None:
    comment = github.world.comment(REPOSITORY, 1, "/testforge")
    payload = github.shapes.payload(REPOSITORY, 1, "created", comment=comment)
    del payload["issue"]["pull_request"]
    assert interpret("issue_comment", "d", payload, bot_login=BOT) is None


def test_a_command_on_a_line_is_answered_there(github: GitHub) -> None:
    comment = github.world.comment_on_line(REPOSITORY, 1, "/testforge explain T1")
    payload = github.shapes.payload(REPOSITORY, 1, "created", comment=comment)
    wish = interpret("pull_request_review_comment", "d", payload, bot_login=BOT)
    assert wish is not None
    assert (wish.command, wish.inline, wish.comment) == ("explain", True, comment.id)


STICKY = "<!-- testforge:sticky -->\n- [ ] <!-- testforge:box=review --> Review again\n- [ ] <!-- testforge:box=apply --> Commit\n"


def test_a_ticked_box_is_a_wish_of_who_ticked_it(github: GitHub) -> None:
    github.world.comment(REPOSITORY, 1, STICKY, user=BOT)
    comment, before = github.world.tick(REPOSITORY, 1, "apply")
    payload = github.shapes.payload(REPOSITORY, 1, "edited", sender="bob", comment=comment, before=before)
    wish = interpret("issue_comment", "d", payload, bot_login=BOT)
    assert wish is not None
    assert (wish.kind, wish.command, wish.actor) == ("boxes", "apply", "bob")


def test_a_ticked_answer_is_a_command_about_its_question(github: GitHub) -> None:
    asked = f"<!-- testforge:questions -->\n{draw_answers('Q12')}\n"
    comment = github.world.comment(REPOSITORY, 1, asked, user=BOT)
    comment.body = asked.replace("- [ ] <!-- testforge:box=no-Q12", "- [x] <!-- testforge:box=no-Q12")
    payload = github.shapes.payload(REPOSITORY, 1, "edited", sender="bob", comment=comment, before=asked)
    wish = interpret("issue_comment", "d", payload, bot_login=BOT)
    assert wish is not None
    assert (wish.kind, wish.command, wish.arguments, wish.actor) == ("boxes", "no", ("Q12",), "bob")


@pytest.mark.parametrize("author", ["alice", "test-forge[bot]", "testforge"])
def test_boxes_of_anybody_elses_comment_are_no_wish(github: GitHub, author: str) -> None:
    github.world.comment(REPOSITORY, 1, STICKY, user=author)
    comment, before = github.world.tick(REPOSITORY, 1, "apply")
    payload = github.shapes.payload(REPOSITORY, 1, "edited", sender="alice", comment=comment, before=before)
    assert interpret("issue_comment", "d", payload, bot_login=BOT) is None


def test_the_bots_own_edit_of_its_boxes_is_no_wish(github: GitHub) -> None:
    github.world.comment(REPOSITORY, 1, STICKY, user=BOT)
    comment, before = github.world.tick(REPOSITORY, 1, "apply")
    payload = github.shapes.payload(REPOSITORY, 1, "edited", sender=BOT, comment=comment, before=before)
    assert interpret("issue_comment", "d", payload, bot_login=BOT) is None


def test_a_repository_with_a_strange_name_is_none(github: GitHub) -> None:
    payload = github.shapes.payload(REPOSITORY, 1, "opened")
    payload["repository"]["full_name"] = "octo/../../etc"
    assert interpret("pull_request", "d", payload, bot_login=BOT) is None
