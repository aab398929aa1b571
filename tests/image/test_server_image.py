"""The server's image at work: webhook in, review out, with sandboxes that it starts on the engine it was given."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import KEY, MODELS, ModelServer, Raw, Turn

from tests.github.server import GitHub
from tests.image.containers import (
    PATIENCE_S,
    ServerContainer,
    docker,
    key_file,
    sandboxes,
    socket_of_the_engine,
)
from tests.jobs.serving import REPOSITORY, deliver, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
IMAGE = os.environ.get("TESTFORGE_IMAGE", "")


def test_a_webhook_becomes_a_review(github: GitHub, tmp_path: Path) -> None:
    with ServerContainer(github, key_file(github, tmp_path)) as server:
        assert server.run("id", "-u") == "10001"
        server.run(*health_check())
        payload = github.shapes.payload(REPOSITORY, 1, "opened")
        status, _ = deliver(server.url, github.world.webhook_secret, "pull_request", payload)
        assert status == 202
        repository = github.world.repositories[REPOSITORY]
        seen: set[str] = set()

        def ended() -> bool:
            seen.update(sandboxes([server.scope]))
            return any(check["status"] == "completed" for check in repository.checks)

        wait_for(ended, f"no run ends: {server.log()}", PATIENCE_S)
        assert [check["conclusion"] for check in repository.checks] == ["success"]
        assert len(repository.pulls[1].reviews) == 1
        assert "test_price" in repository.pulls[1].reviews[0].body
        assert seen
        wait_for(lambda: not sandboxes([server.scope]), "a sandbox outlives its run", PATIENCE_S)
        assert server.stop() == 0
        log = server.log()
    assert not [secret for secret in (github.world.webhook_secret, "PRIVATE KEY", "ghs_") if secret in log]


def health_check() -> list[str]:
    """Return the command by which an engine sees whether a container of the image is well."""
    told = docker("image", "inspect", "--format", "{{json .Config.Healthcheck.Test}}", IMAGE)
    kind, *words = json.loads(told)
    assert kind == "CMD"
    return list(words)


@pytest.fixture(name="models")
def _models() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.close()


def asked(models: ModelServer, form: str) -> str:
    """Return what the image says to one short call of a model."""
    variables = {
        f"{form.upper()}_API_KEY": KEY,
        f"{form.upper()}_API_BASE": models.base(form),
        "PYTHONWARNINGS": "error::DeprecationWarning:bot",
    }
    code = f"from bot.models.client import check; print(check({MODELS[form]!r}) or 'it answers')"
    given = [f"--env={name}={value}" for name, value in variables.items()]
    return docker("run", "--rm", "--network=host", *given, "--entrypoint=python", IMAGE, "-c", code)


@pytest.mark.parametrize("form", sorted(MODELS))
def test_other_models_answer_and_refuse(models: ModelServer, form: str) -> None:
    """What the image leaves out of LiteLLM is missed neither by an answer nor by the ways in which it tells a fault."""
    models.afterwards = Turn("yes")
    assert asked(models, form) == "it answers"
    assert len(models.requests) == 1
    models.afterwards = Raw({"error": {"message": "wrong key", "type": "authentication_error"}}, 401)
    assert f"{form.upper()}_API_KEY" in asked(models, form)


def test_doctor_finds_the_engine_that_docker_host_names(github: GitHub) -> None:
    where = socket_of_the_engine()
    told = docker(
        "run", "--rm", "--network=none", f"--group-add={Path(where).stat().st_gid}",
        f"--volume={where}:/run/elsewhere.sock", "--env=DOCKER_HOST=unix:///run/elsewhere.sock",
        IMAGE, "doctor", check=False,
    )  # fmt: skip
    assert re.search(r"^ok +docker: ", told, re.M), told
    assert "Traceback" not in told
