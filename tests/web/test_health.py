"""Health, readiness and counts."""

from __future__ import annotations

import socket

from tests.web.conftest import Served, served
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


def test_an_engine_that_does_not_answer_is_told_where_reviews_run(server, monkeypatch, tmp_path):
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind(str(tmp_path / "engine"))  # it is there, and nobody listens
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine")
    assert server.get("/readyz").json()["checks"]["sandbox"] == "ok"
    reviewing = server.station.settings.model_copy(update={"runs_at_once": 1, "sandbox": "auto"})
    monkeypatch.setattr(server.station, "settings", reviewing)
    answer = server.get("/readyz")
    assert answer.status_code == 503
    assert "No Docker engine answers" in answer.json()["checks"]["sandbox"]


def test_deliveries_and_runs_are_counted(server):
    before = counts(server)
    server.deliver("pull_request", pull_request(), "d1")
    server.deliver("pull_request", pull_request(), "d1")
    server.deliver("push", {})
    server.post(b"{}")
    server.store.runs.begin("r1", repository="o/r", number=1, head="a", installation=1, delivery="d")
    after = counts(server)
    outcomes = [
        f'testforge_deliveries_total{{outcome="{outcome}"}}'
        for outcome in ("accepted", "duplicate", "ignored", "refused")
    ]
    assert [after[name] - before.get(name, 0) for name in outcomes] == [1, 1, 1, 1]
    assert after["testforge_delivery_seconds_count"] - before["testforge_delivery_seconds_count"] == 4
    assert after['testforge_runs{state="running"}'] == 1


def counts(server: Served) -> dict[str, float]:
    """Return what the server counts, by name; it has served other tests before."""
    rows = (line.rpartition(" ") for line in server.get("/metrics").text.splitlines() if line[0] != "#")
    return {name: float(value) for name, _, value in rows}
