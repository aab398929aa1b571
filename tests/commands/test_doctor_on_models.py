"""`testforge doctor` on a model: whether it answers, and what to set if it does not."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from model_server import KEY, MODELS, Raw, Turn, serving
from typer.testing import CliRunner

from bot.cli import app

pytestmark = pytest.mark.slow

DOCTOR = CliRunner()


@pytest.fixture(autouse=True)
def nothing_but_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    monkeypatch.delenv("TESTFORGE_SANDBOX", raising=False)


def test_a_model_that_answers_is_well_and_its_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        monkeypatch.setenv("TESTFORGE_MODEL", MODELS["openai"])
        server.say(Turn("ready"))
        done = DOCTOR.invoke(app, ["doctor", "--json"])

    assert (done.exit_code, len(server.requests)) == (0, 1)
    assert "openai/gpt-4o answers" in done.output
    assert KEY not in done.output


@pytest.mark.parametrize(
    ("answer", "fix"),
    [
        (Raw({"error": {"message": f"bad {KEY}", "code": None}}, 401), "set a valid one in OPENAI_API_KEY."),
        (Raw({"error": {"message": "no such model"}}, 404), "check its name"),
        (
            Raw("<html>Sign in</html>", headers={"Content-Type": "text/html"}),
            "the address in OPENAI_API_BASE",
        ),
    ],
    ids=["key", "model", "page"],
)
def test_a_model_that_answers_wrongly_is_a_fault_that_names_what_to_set(
    monkeypatch: pytest.MonkeyPatch, answer: Raw, fix: str
) -> None:
    with serving() as server:
        monkeypatch.setenv("TESTFORGE_MODEL", MODELS["openai"])
        server.afterwards = answer
        done = DOCTOR.invoke(app, ["doctor", "--json"])

    (model,) = (check for check in json.loads(done.output)["checks"] if check["name"] == "model")
    assert (done.exit_code, model["state"], model["told"]) == (1, "broken", "openai/gpt-4o does not answer")
    assert fix in model["fix"]
    assert KEY not in done.output


@pytest.mark.parametrize(
    ("model", "variable"), [("openai/gpt-4o", "OPENAI_API_BASE"), ("ollama/llama3", "OLLAMA_API_BASE")]
)
def test_without_a_network_the_model_is_a_fault_whether_it_needs_a_key_or_not(
    monkeypatch: pytest.MonkeyPatch, model: str, variable: str
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "OLLAMA_API_BASE"):
        monkeypatch.setenv(name, address)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("TESTFORGE_MODEL", model)
    done = DOCTOR.invoke(app, ["doctor"])

    assert done.exit_code == 1
    assert f"check the network, and the address in {variable} if you set one." in done.output
