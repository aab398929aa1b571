"""The webhook's door: what is let in, what is not, and that what was let in lies in the database."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from bot.web.webhook import LARGEST, is_signed
from tests.web.conftest import SECRET, signed
from tests.web.payloads import comment, pull_request

PULL = pull_request()["pull_request"]


def test_a_delivery_lies_in_the_database_when_it_is_answered(server):
    assert server.deliver("pull_request", pull_request(), "d1").status_code == 202
    assert server.stored() == ["pr/octo/parcels/1/d1"]


def test_a_delivery_that_comes_again_is_one(server):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: server.deliver("pull_request", pull_request(), "d1"), range(16)))
    assert {answer.status_code for answer in answers} == {202}
    assert sum(answer.json()["message"] == "Stored." for answer in answers) == 1
    assert server.stored() == ["pr/octo/parcels/1/d1"]


def test_a_delivery_whose_run_failed_may_come_again(server):
    from dbos import DBOS

    server.deliver("pull_request", pull_request(), "d1")
    DBOS.cancel_workflow("pr/octo/parcels/1/d1")
    assert server.deliver("pull_request", pull_request(), "d1").json()["message"] == "Stored."
    assert server.stored() == ["pr/octo/parcels/1/d1", "pr/octo/parcels/1/d1/1"]
    assert server.deliver("pull_request", pull_request(), "d1").json()["message"] == "It is known already."


@pytest.mark.parametrize(
    "signature",
    ["", "sha256=", "sha256=" + "0" * 64, "sha1=" + "0" * 40, "nonsense", "sha256=" + "ä" * 64],
    ids=["none", "empty", "wrong", "old", "nonsense", "no ASCII"],
)
def test_without_the_right_signature_nothing_is_stored(server, signature):
    body = json.dumps(pull_request()).encode()
    headers = {**signed(body, "pull_request"), "x_hub_signature_256": signature.encode()}
    assert server.post(body, **headers).status_code == 401
    assert server.stored() == []


def test_the_signature_is_of_the_bytes_and_not_of_their_meaning(server):
    body = json.dumps(pull_request()).encode()
    assert server.post(body + b" ", **signed(body, "pull_request")).status_code == 401
    assert is_signed(SECRET, body, signed(body, "x")["x_hub_signature_256"])
    assert not is_signed("another", body, signed(body, "x")["x_hub_signature_256"])


def test_without_a_secret_nothing_is_taken(server, monkeypatch):
    monkeypatch.setattr(
        server.station, "settings", server.station.settings.model_copy(update={"webhook_secret": None})
    )
    assert server.deliver("pull_request", pull_request()).status_code == 503
    assert server.stored() == []
    assert "TESTFORGE_WEBHOOK_SECRET" in server.get("/readyz").json()["checks"]["engine"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"[" * 100_000, b"payload=%7B%7D"], ids=range(7)
)
def test_a_body_that_is_no_json_object_is_refused(server, body):
    assert server.deliver("pull_request", body).status_code == 400
    assert server.stored() == []


def test_a_form_is_refused(server):
    body = b'{"action": "opened"}'
    headers = {**signed(body, "pull_request"), "content_type": "application/x-www-form-urlencoded"}
    assert server.post(body, **headers).status_code == 400


@pytest.mark.parametrize("missing", ["x_github_event", "x_github_delivery"])
def test_headers_that_are_missing_or_odd_are_refused(server, missing):
    body = json.dumps(pull_request()).encode()
    headers = signed(body, "pull_request")
    assert server.post(body, **{**headers, missing: "../../etc"}).status_code == 400
    del headers[missing]
    assert server.post(body, **headers).status_code == 400
    assert server.stored() == []


def test_more_than_25_megabytes_are_refused_whether_they_are_announced_or_not(server):
    announced = {"x-hub-signature-256": "x", "content-length": str(LARGEST + 1)}
    with httpx.Client(timeout=60) as client:
        request = client.build_request("POST", f"{server.url}/webhook", headers=announced, content=b"")
        request.headers["content-length"] = str(LARGEST + 1)
        request.stream = httpx.ByteStream(b"x" * (LARGEST + 1))
        assert client.send(request).status_code == 413
    chunks = (b"x" * 1024 * 1024 for _ in range(26))
    answer = httpx.post(
        f"{server.url}/webhook", content=chunks, headers={"x-hub-signature-256": "x"}, timeout=60
    )
    assert answer.status_code == 413
    assert server.stored() == []


def test_a_large_payload_is_taken(server):
    payload = pull_request(filler="x" * 2_000_000)
    assert server.deliver("pull_request", payload, "d1").status_code == 202
    assert server.stored() == ["pr/octo/parcels/1/d1"]


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("push", {"ref": "refs/heads/main"}),
        ("pull_request", pull_request("labeled")),
        ("pull_request", {}),
        ("pull_request", pull_request(sender={"login": "testforge[bot]", "type": "Bot"})),
        (
            "pull_request",
            pull_request(pull_request={**PULL, "user": {"login": "dependabot[bot]", "type": "Bot"}}),
        ),
        ("pull_request", pull_request(pull_request={**PULL, "head": {"sha": "a" * 40, "repo": None}})),
        ("issue_comment", comment("nice work")),
        ("issue_comment", comment("> /testforge apply")),
        ("issue_comment", comment("```\n/testforge apply\n```")),
        ("issue_comment", comment("/testforge apply", sender={"login": "testforge[bot]", "type": "Bot"})),
        ("issue_comment", comment("/testforge apply", "edited", changes={"body": {"from": "x"}})),
        ("issue_comment", comment("/testforge", issue={"number": 1})),
        ("unheard_of", {"action": "invented"}),
    ],
    ids=range(13),
)
def test_what_asks_for_nothing_is_accepted_and_not_stored(server, event, payload):
    answer = server.deliver(event, payload)
    assert (answer.status_code, answer.json()["message"]) == (202, "Nothing to do.")
    assert server.stored() == []


def test_commands_wait_in_another_queue_than_reviews(server):
    from dbos import DBOS

    server.deliver("pull_request", pull_request(), "d1")
    server.deliver("issue_comment", comment("/testforge stop"), "d2")
    server.deliver("pull_request", pull_request("closed"), "d3")
    found = {row.workflow_id: (row.queue_name, row.name) for row in DBOS.list_workflows()}
    assert found == {
        "pr/octo/parcels/1/d1": ("reviews", "review_pull"),
        "order/octo/parcels/1/d2": ("orders", "obey"),
        "order/octo/parcels/1/d3": ("orders", "obey"),
    }


def test_a_hundred_commands_at_once_are_all_stored(server):
    with ThreadPoolExecutor(16) as pool:
        work = [(comment("/testforge help"), f"d{number}") for number in range(100)]
        answers = list(pool.map(lambda pair: server.deliver("issue_comment", *pair), work))
    assert {answer.status_code for answer in answers} == {202}
    assert len(server.stored()) == 100


def test_a_delivery_is_logged_with_what_it_is_about(server):
    server.deliver("pull_request", pull_request(), "d1")
    line = next(line for line in server.lines if line["event"] == "accepted")
    assert (line["delivery"], line["repository"], line["pull"]) == ("d1", "octo/parcels", 1)


def test_only_posts_are_taken(server):
    assert server.get("/webhook").status_code == 405
