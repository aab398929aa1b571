"""The tests' GitHub itself: it refuses what GitHub refuses, or tests against it would prove nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.github import pulls
from bot.github.faults import InvalidError, RefusedError
from bot.github.hub import Hub
from tests.github.hands import HandClock
from tests.github.server import GitHub
from tests.github.server.nouns import RefusalError

REPOSITORY = "octo/parcels"


def ask(hub: Hub, method: str, path: str, body: object) -> int:
    """Send a request without the client's patience and return its status."""
    url = f"/repos/{REPOSITORY}{path}"
    return hub.wire.send(method, url, authorization=f"Bearer {hub.token()}", json=body).status


@pytest.fixture
def broken(github: GitHub) -> Iterator[list[str]]:
    """The violations so far, which this test means to make."""
    yield github.violations
    github.violations.clear()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/pulls/1/reviews", {"body": "x", "event": "COMMENT", "subject_type": "file"}),
        ("/pulls/1/reviews", {"body": "x", "event": "SHOUT"}),
        ("/pulls/1/reviews", {"body": "x", "comments": [{"path": "a", "body": "b", "line": "5"}]}),
        ("/issues/1/comments", {}),
        ("/issues/1/comments", {"body": 7}),
        ("/check-runs", {"name": "testforge"}),
        ("/issues/1/comments?page=1", {"body": "x"}),
        ("/nowhere", {}),
    ],
)
def test_a_request_that_the_description_does_not_know_is_refused(
    hub: Hub, broken: list[str], path: str, body: object
) -> None:
    assert ask(hub, "POST", path, body) == 400
    assert broken


def test_a_query_that_the_schema_does_not_know_is_refused(hub: Hub, broken: list[str]) -> None:
    with pytest.raises(RefusedError, match="Cannot query field 'colour'"):
        hub.graphql("query { viewer { colour } }", {})
    assert broken


@pytest.mark.parametrize(
    "comment",
    [
        {"path": "src/quotes.py", "line": 400, "side": "RIGHT", "body": "x"},
        {"path": "README.md", "line": 1, "side": "RIGHT", "body": "x"},
        {"path": "src/quotes.py", "line": 4, "start_line": 4, "side": "RIGHT", "body": "x"},
        {"path": "src/quotes.py", "line": 4, "start_line": 5, "side": "RIGHT", "body": "x"},
        {"path": "src/quotes.py", "body": "x"},
    ],
)
def test_one_comment_outside_of_the_diff_loses_the_whole_review(
    hub: Hub, github: GitHub, comment: dict[str, object]
) -> None:
    good = {"path": "src/quotes.py", "line": 4, "side": "RIGHT", "body": "fine"}
    with pytest.raises(InvalidError):
        hub.post("/pulls/1/reviews", {"body": "x", "event": "COMMENT", "comments": [good, comment]})
    pull = github.world.repositories[REPOSITORY].pulls[1]
    assert (pull.reviews, pull.line_comments) == ([], [])


def test_there_is_one_pending_review(hub: Hub) -> None:
    hub.post("/pulls/1/reviews", {"body": "x"})
    with pytest.raises(InvalidError, match="one pending review"):
        hub.post("/pulls/1/reviews", {"body": "y"})


def test_a_token_lives_an_hour(hub: Hub, clock: HandClock) -> None:
    token = hub.token()
    url = f"/repos/{REPOSITORY}/pulls/1"
    for seconds, status in ((3599, 200), (2, 401)):
        clock.time += seconds
        assert hub.wire.send("GET", url, authorization=f"Bearer {token}").status == status


def test_a_token_does_what_its_permissions_allow(hub: Hub, github: GitHub) -> None:
    token = hub.token({"contents": "read"})
    reply = hub.wire.send("GET", f"/repos/{REPOSITORY}/pulls/1", authorization=f"Bearer {token}")
    assert (reply.status, reply.said) == (403, "Resource not accessible by integration")


def test_more_than_eighty_writes_a_minute_are_too_many(hub: Hub, github: GitHub) -> None:
    statuses = [ask(hub, "POST", "/issues/1/comments", {"body": "x"}) for _ in range(81)]
    assert statuses == [201] * 80 + [403]


def test_suggestions_that_overlap_or_change_nothing_are_not_applied(hub: Hub, github: GitHub) -> None:
    head = pulls.read(hub, 1).head
    block = "```suggestion\n    if weight < 0:\n```"
    spot = {"path": "src/quotes.py", "line": 4, "side": "RIGHT", "body": block, "commit_id": head}
    hub.post("/pulls/1/comments", spot)
    with pytest.raises(RefusalError, match="changes nothing"):
        github.world.apply_suggestions(REPOSITORY, 1)
    hub.post("/pulls/1/comments", {**spot, "body": "```suggestion\nx\n```"})
    with pytest.raises(RefusalError, match="overlap"):
        github.world.apply_suggestions(REPOSITORY, 1)


def test_an_outdated_suggestion_is_not_applied(hub: Hub, github: GitHub) -> None:
    head = pulls.read(hub, 1).head
    spot = {"path": "src/quotes.py", "line": 4, "side": "RIGHT", "commit_id": head}
    hub.post("/pulls/1/comments", {**spot, "body": "```suggestion\nx\n```"})
    github.world.push(REPOSITORY, "feature", {"x.py": b"x = 1\n"})
    with pytest.raises(RefusalError, match="outdated"):
        github.world.apply_suggestions(REPOSITORY, 1)


def test_a_manifests_code_makes_one_app(github: GitHub, hub: Hub) -> None:
    manifest = {"name": "mine", "redirect_url": "http://127.0.0.1:1/back"}
    github.world.manifests["abc"] = manifest
    first = hub.wire.send("POST", "/app-manifests/abc/conversions")
    assert (first.status, first.data["pem"]) == (201, github.world.pem)
    assert hub.wire.send("POST", "/app-manifests/abc/conversions").status == 404


@pytest.mark.slow
def test_it_runs_as_a_process_of_its_own(tmp_path: Path, github: GitHub) -> None:
    command = [sys.executable, "-m", "tests.github.server", str(tmp_path / "world")]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        try:
            installation = _control(url, "install")
            _control(url, "add_repository", full_name="a/b", installation=installation)
            assert _control(url, "state")["repositories"]["a/b"]["installation"] == installation
        finally:
            process.terminate()
        assert process.wait() == 0


def _control(url: str, call: str, **arguments: object) -> object:
    body = json.dumps({"call": call, "arguments": arguments}).encode()
    with urllib.request.urlopen(f"{url}/_control", body) as answer:
        return json.load(answer)
