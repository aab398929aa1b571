"""The webhook attacked over real HTTP: nothing is stored that was not signed, and whoever behaves is answered meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from bot.github.wishes import Wish
from bot.web import door, webhook
from bot.web.intake import Intake
from tests.github.server import UnavailableError
from tests.github.server.npm import EXAMPLES
from tests.web.conftest import SECRET, Served, signed
from tests.web.payloads import comment, pull_request

PATIENCE_S = 60.0


@contextlib.contextmanager
def connected(server: Served) -> Iterator[socket.socket]:
    """Give a bare connection to a server."""
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_S) as connection:
        yield connection


def head(headers: Mapping[str, str], *more: str) -> bytes:
    """Return the head of a delivery: these headers, as they are, and further lines."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(["POST /webhook HTTP/1.1", "Host: x", *lines, *more, "", ""]).encode("latin-1")


def answer(connection: socket.socket) -> int:
    """Return the status of what comes back; 0 where the server hangs up without a word."""
    received = b""
    while b"\r\n" not in received:
        try:
            part = connection.recv(4096)
        except ConnectionResetError:
            part = b""
        if not part:
            break
        received += part
    return int(received.split(b" ", 2)[1]) if received else 0


def lives(server: Served) -> None:
    """See that somebody else is answered, and that nothing is stored."""
    assert server.get("/healthz").status_code == 200
    assert server.stored() == []


BODY = json.dumps(pull_request()).encode()


def test_a_body_that_does_not_come_is_not_waited_for(server, monkeypatch):
    monkeypatch.setattr(webhook, "BODY_S", 0.2)
    with connected(server) as connection:
        connection.sendall(head(signed(BODY, "pull_request"), f"Content-Length: {len(BODY)}") + BODY[:10])
        lives(server)
        assert answer(connection) == 400


@pytest.mark.parametrize("sent", [b"", b"POST /webh", b"POST /webhook HTTP/1.1\r\nContent-Length: 9\r\nX: "])
def test_a_connection_that_asks_for_nothing_is_ended(server, monkeypatch, sent):
    monkeypatch.setattr(door, "ARRIVAL_S", 0.2)
    with connected(server) as connection:
        connection.sendall(sent)
        assert answer(connection) == 0


def test_what_goes_on_coming_after_the_answer_is_not_read_for_ever(server, monkeypatch):
    monkeypatch.setattr(door, "ARRIVAL_S", 0.5)
    with connected(server) as connection:
        connection.sendall(head(signed(BODY, "pull_request"), "Content-Length: 99999999"))
        assert answer(connection) == 413
        with contextlib.suppress(ConnectionError, BrokenPipeError):
            while True:
                connection.sendall(b"x" * 1024)


def test_a_connection_that_behaves_is_kept(server, monkeypatch):
    with connected(server) as connection:
        for number in range(3):
            body = json.dumps(pull_request(number=number + 1)).encode()
            headers = signed(body, "pull_request", f"d{number}")
            connection.sendall(head(headers, f"Content-Length: {len(body)}") + body)
            received = b""
            while b"Stored." not in received:
                received += connection.recv(4096)
    assert len(server.stored()) == 3


@pytest.mark.parametrize(
    ("lines", "body"),
    [
        (["Content-Length: -5"], BODY),
        (["Content-Length: abc"], BODY),
        (["Content-Length: 1e3"], BODY),
        ([f"Content-Length: {len(BODY)}", "Content-Length: 5"], BODY),
        ([f"Content-Length: {len(BODY) - 1}"], BODY),
        (["Content-Length: 99999999999999999999"], b""),
        (["Transfer-Encoding: chunked"], b"zz\r\n" + BODY),
        (["Transfer-Encoding: chunked"], b"FFFFFFFFFFFFFFFFFFFF\r\n" + BODY),
        (["Transfer-Encoding: gzip"], BODY),
        (["X-Large: " + "x" * 1_000_000, f"Content-Length: {len(BODY)}"], BODY),
        (["X-Odd : y", f"Content-Length: {len(BODY)}"], BODY),
        (["Upgrade: websocket", "Connection: upgrade", "Content-Length: 0"], b""),
        (["X-GitHub-Event: pull_request\x00", f"Content-Length: {len(BODY)}"], BODY),
        ([f"Content-Length: {len(BODY)}", "X-Hub-Signature-256: sha256=0"], BODY),
    ],
    ids=[
        "negative", "no number", "a float", "two lengths", "too short", "too long", "a chunk of no size",
        "a chunk without end", "an unknown coding", "a head of a megabyte", "a space before the colon", "websocket",
        "a zero in a header", "two signatures",
    ],
)  # fmt: skip
def test_a_request_that_is_none_is_refused(server, lines, body):
    headers = signed(BODY, "pull_request")
    if lines[-1].startswith("X-Hub"):
        headers["x_hub_signature_256"] = "sha256=1"
    with connected(server) as connection:
        with contextlib.suppress(OSError):  # it may hang up before all is sent
            connection.sendall(head(headers, *lines) + body)
            connection.shutdown(socket.SHUT_WR)
        assert answer(connection) in (0, 400, 401, 413, 431, 501)
    lives(server)


def test_lengths_of_two_kinds_smuggle_nothing_in(server):
    """What is behind the chunks' end, by the other length still of the body, is no request that anybody signed."""
    inner = head({"x_hub_signature_256": "sha256=1"}, "Content-Length: 0")
    headers = {
        **signed(b"", "pull_request"),
        "transfer_encoding": "chunked",
        "content_length": str(len(inner) + 5),
    }
    with connected(server) as connection:
        connection.sendall(head(headers) + b"0\r\n\r\n" + inner)
        assert answer(connection) in (0, 400)
    lives(server)


def test_a_body_in_chunks_is_one_body(server):
    with connected(server) as connection:
        chunks = b"".join(b"%x\r\n%s\r\n" % (1, bytes([byte])) for byte in BODY)
        connection.sendall(
            head(signed(BODY, "pull_request", "d1"), "Transfer-Encoding: chunked") + chunks + b"0\r\n\r\n"
        )
        assert answer(connection) == 202
    assert server.stored() == ["pr/octo/parcels/1/d1"]


def test_who_hangs_up_in_the_middle_leaves_nothing(server):
    with connected(server) as connection:
        connection.sendall(head(signed(BODY, "pull_request"), f"Content-Length: {len(BODY)}") + BODY[:-1])
    lives(server)


def test_many_that_only_hold_connections_keep_nobody_away(server):
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(connected(server)).sendall(b"POST /webhook HTTP/1.1\r\n")
        assert server.deliver("pull_request", pull_request(), "d1").status_code == 202
    assert server.stored() == ["pr/octo/parcels/1/d1"]


# ---------------------------------------------------------------- what is signed


def test_the_old_signature_alone_counts_for_nothing(server):
    headers = signed(BODY, "pull_request")
    del headers["x_hub_signature_256"]
    headers["x_hub_signature"] = "sha1=" + hmac.digest(SECRET.encode(), BODY, "sha1").hex()
    assert server.post(BODY, **headers).status_code == 401
    lives(server)


def test_a_delivery_that_comes_again_with_another_body_is_known_already(server):
    assert server.deliver("pull_request", pull_request(), "d1").json()["message"] == "Stored."
    other = pull_request(sender={"login": "mallory", "type": "User"})
    assert server.deliver("pull_request", other, "d1").json()["message"] == "It is known already."
    assert server.stored() == ["pr/octo/parcels/1/d1"]


def test_a_payload_in_a_form_is_taken_as_github_sends_it(server):
    body = b"payload=" + quote(BODY).encode()
    headers = {**signed(body, "pull_request", "d1"), "content_type": "application/x-www-form-urlencoded"}
    assert server.post(body, **headers).status_code == 202
    assert server.stored() == ["pr/octo/parcels/1/d1"]


@pytest.mark.parametrize(
    "body",
    [b"payload=", b"payload", b"other=%7B%7D", b"payload=%7B%7D&payload=%7B%7D", b"payload=%FF", b"payload=[1]", b"&" * 999],
    ids=range(7),
)  # fmt: skip
def test_a_form_without_one_payload_is_refused(server, body):
    headers = {**signed(body, "pull_request"), "content_type": "application/x-www-form-urlencoded"}
    assert server.post(body, **headers).status_code == 400
    lives(server)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "multipart/form-data", "application/jsonx", "\xe9"]
)
def test_a_body_of_another_type_is_refused(server, kind):
    headers = {**signed(BODY, "pull_request"), "content_type": kind.encode("latin-1")}
    assert server.post(BODY, **headers).status_code == 400
    lives(server)


def test_of_keys_that_come_twice_the_last_counts(server):
    twice = BODY.replace(b'{"action": "opened"', b'{"action": "closed", "action": "opened"')
    assert twice != BODY
    assert server.deliver("pull_request", twice, "d1").json()["message"] == "Stored."
    assert server.stored() == ["pr/octo/parcels/1/d1"]


@pytest.mark.parametrize(
    "changes",
    [
        {"repository": {"id": 1, "full_name": "октo/пакет"}},
        {"repository": {"id": 1, "full_name": "octo/par\x00cels"}},
        {"repository": {"id": 1, "full_name": "octo/parcels\n"}},
        {"sender": {"login": "ålice", "type": "User"}},
        {"sender": {"login": "\ud800", "type": "User"}},
        {"installation": {"id": "5"}},
        {"installation": {"id": -5}},
        {"installation": {"id": 10**30}},
        {"installation": {"id": 5.0}},
        {"pull_request": {**pull_request()["pull_request"], "number": "1"}},
        {"pull_request": {**pull_request()["pull_request"], "number": 2**31}},
        {"pull_request": {**pull_request()["pull_request"], "number": True}},
        {"pull_request": {**pull_request()["pull_request"], "head": {"sha": "a" * 39, "repo": {"id": 1}}}},
        {"pull_request": [1]},
    ],
    ids=range(14),
)
def test_values_that_github_would_not_send_ask_for_nothing(server, changes):
    assert server.deliver("pull_request", pull_request(**changes)).json()["message"] == "Nothing to do."
    lives(server)


def test_a_number_of_thousands_of_digits_is_refused(server):
    body = BODY.replace(b'"number": 1,', b'"number": ' + b"9" * 5000 + b",")
    assert server.deliver("pull_request", body).status_code == 400
    lives(server)


def test_an_object_as_deep_as_a_well_is_refused(server):
    assert server.deliver("pull_request", b'{"a":' * 50_000 + b"1" + b"}" * 50_000).status_code == 400
    lives(server)


@pytest.mark.parametrize("word", ["\x00", "\ud800", "\x1b[31m", "\u202e", "x" * 100_000])
def test_words_that_no_database_takes_are_stored_without_what_it_does_not_take(server, word):
    from dbos import DBOS

    text = f"/testforge dismiss T1 a{word}b"
    assert server.deliver("issue_comment", comment(text), "d1").status_code == 202
    (row,) = DBOS.list_workflows()
    said = row.input["args"][0]["arguments"]
    assert said[0] == "T1"
    assert not set("".join(said)) & {"\x00", "\ud800", "\x1b"}


def test_what_cannot_be_stored_costs_the_others_nothing():
    def submit(wishes):
        if any(wish.number == 13 for wish in wishes):
            raise ValueError("not this one")
        return ["accepted"] * len(wishes)

    async def put_all():
        intake = Intake(submit)
        wishes = [Wish("review", f"d{number}", 5, "octo/parcels", number, "alice") for number in range(1, 21)]
        found = await asyncio.gather(*map(intake.put, wishes), return_exceptions=True)
        await intake.close()
        return found

    found = asyncio.run(put_all())
    assert [str(one) for one in found if one != "accepted"] == ["not this one"]
    assert isinstance(found[12], ValueError)


# ---------------------------------------------------------------- official examples, each with something missing


@pytest.fixture(scope="module")
def examples() -> list[tuple[str, dict[str, Any]]]:
    """The official examples of all events, as `(event, payload)`."""
    try:
        file = EXAMPLES.file()
    except UnavailableError as error:
        pytest.skip(str(error))
    return [(e["name"], example) for e in json.loads(file.read_bytes()) for example in e["examples"]]


_ODD = [None, [], {}, "", "x" * 9, "1", -1, 0, True, 1.5, 10**30, "\ud800", "\x00", {"id": "1"}]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_official_example_with_a_part_missing_or_odd_is_answered(server, examples, data):
    read = ("pull_request", "issue_comment", "pull_request_review_comment", "installation")
    known = [one for one in examples if one[0] in read or one[0].startswith("installation")]
    event, payload = data.draw(st.sampled_from(known))
    payload = json.loads(json.dumps(payload))
    place = payload
    for _ in range(data.draw(st.integers(0, 3))):
        inner = [key for key in sorted(place) if isinstance(place[key], dict) and place[key]]
        if inner:
            place = place[data.draw(st.sampled_from(inner))]
    key = data.draw(st.sampled_from(sorted(place)))
    if data.draw(st.booleans()):
        del place[key]
    else:
        place[key] = data.draw(st.sampled_from(_ODD))
    answered = server.deliver(event, payload)
    assert answered.status_code == 202, (event, key, answered.text)
