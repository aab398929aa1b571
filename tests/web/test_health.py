"""Health, readiness and counts."""

from __future__ import annotations

from tests.web.conftest import served
from tests.web.payloads import pull_request


def test_a_server_with_an_app_is_ready(server):
    assert server.get("/healthz").json() == {"status": "ok"}
    answer = server.get("/readyz")
    checks = answer.json()["checks"]
    assert (checks["database"], checks["engine"]) == ("ok", "ok")


def test_a_server_without_an_app_lives_and_is_not_ready(tmp_path):
    with served(tmp_path, {"webhook_secret": "x"}) as server:
        assert server.get("/healthz").status_code == 200
        answer = server.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["checks"]["engine"] == "There is no GitHub App yet; open /setup."


def test_a_database_that_is_gone_is_told(server, monkeypatch):
    from sqlalchemy.exc import OperationalError

    def gone(_self):
        raise OperationalError("SELECT 1", {}, Exception("gone"))

    monkeypatch.setattr(type(server.store), "ping", gone)
    answer = server.get("/readyz")
    assert answer.status_code == 503
    assert "does not answer" in answer.json()["checks"]["database"]


def test_deliveries_and_runs_are_counted(server):
    server.deliver("pull_request", pull_request(), "d1")
    server.deliver("pull_request", pull_request(), "d1")
    server.deliver("push", {})
    server.post(b"{}")
    server.store.runs.begin("r1", repository="o/r", number=1, head="a", installation=1, delivery="d")
    text = server.get("/metrics").text
    for outcome in ("accepted", "duplicate", "ignored", "refused"):
        assert f'testforge_deliveries_total{{outcome="{outcome}"}} 1.0' in text
    assert 'testforge_runs{state="running"} 1.0' in text
    assert "testforge_delivery_seconds_count 4.0" in text
