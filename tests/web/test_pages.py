"""The operator's pages: who gets in, what they show, and that nothing of a repository becomes part of a page."""

from __future__ import annotations

import re

import httpx
import pytest


@pytest.fixture
def operator(server, fresh_code):
    """A browser that is signed in."""
    with httpx.Client(base_url=server.url, timeout=60, follow_redirects=True) as client:
        answer = client.post("/signin", data={"code": fresh_code(), "target": "/runs"})
        assert answer.status_code == 200
        yield client


@pytest.fixture
def fresh_code(server, shared_codes):
    """Return the code that is good now."""
    return lambda: shared_codes[-1]


def begin(server, run="pr/o/r/1/d1", **values):
    server.store.runs.begin(
        run,
        repository="o/r",
        number=1,
        head="a" * 40,
        installation=1,
        delivery="d1",
        actor="alice",
        event="e",
    )
    if values:
        server.store.runs.update(run, **values)


def test_without_a_code_there_is_only_the_question_for_it(server):
    begin(server)
    for path in ("/runs", "/runs/pr/o/r/1/d1"):
        answer = server.get(path)
        assert answer.status_code == 401
        assert 'action="/signin"' in answer.text
        assert "o/r" not in answer.text


def test_a_code_lets_in_once(server, fresh_code):
    given = fresh_code()
    first = httpx.post(f"{server.url}/signin", data={"code": given}, timeout=60)
    assert (first.status_code, first.headers["location"]) == (303, "/runs")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    assert httpx.post(f"{server.url}/signin", data={"code": given}, timeout=60).status_code == 401
    assert fresh_code() != given


@pytest.mark.parametrize("given", ["", "x", "ä"])
def test_a_wrong_code_does_not(server, given):
    assert httpx.post(f"{server.url}/signin", data={"code": given}, timeout=60).status_code == 401


def test_a_form_of_another_site_is_refused(server, fresh_code):
    headers = {"Origin": "https://evil.example.org"}
    answer = httpx.post(f"{server.url}/signin", data={"code": fresh_code()}, headers=headers, timeout=60)
    assert answer.status_code == 401


def test_signing_in_leads_nowhere_else(server, fresh_code):
    data = {"code": fresh_code(), "target": "https://evil.example.org"}
    assert httpx.post(f"{server.url}/signin", data=data, timeout=60).headers["location"] == "/runs"


def test_runs_are_listed_and_each_has_its_page(server, operator):
    begin(server, stage="Writing tests: quotes.py")
    assert "o/r#1" in operator.get("/runs").text
    page = operator.get("/runs/pr/o/r/1/d1").text
    assert "Writing tests: quotes.py" in page
    server.store.runs.keep_result(
        "pr/o/r/1/d1",
        {
            "status": "proposed",
            "targets": [
                {
                    "path": "quotes.py",
                    "status": "proposed",
                    "reason": "",
                    "coverage": {"changed": {"before": 0.5, "after": None}},
                    "tests": [{"id": "t::a", "verdict": "rejected", "reason": "flaky"}],
                }
            ],
        },
        None,
        0.5,
    )
    page = operator.get("/runs/pr/o/r/1/d1").text
    for text in ("quotes.py", "t::a", "flaky", "50 %", "0.5000 USD"):
        assert text in page
    assert operator.get("/runs/none").status_code == 404


def test_what_a_repository_is_called_cannot_become_part_of_a_page(server, operator):
    begin(server, stage="<script>alert(1)</script>", reason='"><img src=x onerror=alert(1)>')
    answer = operator.get("/runs/pr/o/r/1/d1")
    assert "<script>" not in answer.text
    assert "<img" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert not re.search(r"<script|javascript:", answer.text)
