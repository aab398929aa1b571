"""`testforge doctor`: its lines, its JSON and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app

DOCTOR = CliRunner()


@pytest.fixture(autouse=True)
def nothing_but_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    for name in ("TESTFORGE_SANDBOX", "TESTFORGE_MODEL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_all_is_well_with_a_git_and_the_built_in_model() -> None:
    done = DOCTOR.invoke(app, ["doctor"])

    assert done.exit_code == 0
    states = {line.split()[1]: line.split()[0] for line in done.output.splitlines() if line[0] != " "}
    assert (states["git:"], states["docker:"], states["model:"]) == ("ok", "absent", "ok")
    assert "or set DOCKER_HOST" in done.output


def test_json_says_the_same() -> None:
    done = DOCTOR.invoke(app, ["doctor", "--json"])
    found = json.loads(done.output)

    assert (found["schema"], found["usable"], done.exit_code) == (1, True, 0)
    assert {"name", "state", "told", "fix"} == set(found["checks"][0])


def test_a_model_without_a_key_is_a_fault_that_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTFORGE_MODEL", "openai/gpt-4o")
    done = DOCTOR.invoke(app, ["doctor"])

    assert done.exit_code == 1
    assert "Set OPENAI_API_KEY in the environment." in done.output


def test_a_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTFORGE_MODEL", "openai/gpt-4o")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-quite-secret")
    done = DOCTOR.invoke(app, ["doctor", "--json"])

    assert done.exit_code == 0
    assert "quite-secret" not in done.output


@pytest.mark.parametrize(("model", "state"), [("nonsense/model", "broken"), ("ollama/llama3", "ok")])
def test_a_model_must_have_a_provider_but_not_every_one_a_key(
    monkeypatch: pytest.MonkeyPatch, model: str, state: str
) -> None:
    monkeypatch.setenv("TESTFORGE_MODEL", model)
    checks = json.loads(DOCTOR.invoke(app, ["doctor", "--json"]).output)["checks"]

    assert [check["state"] for check in checks if check["name"] == "model"] == [state]


def test_without_git_nothing_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = DOCTOR.invoke(app, ["doctor"])

    assert done.exit_code == 1
    assert "broken  git: it is not on PATH" in done.output
