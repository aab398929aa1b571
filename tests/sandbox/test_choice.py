from __future__ import annotations

from pathlib import Path

import dockers
import pytest

from bot.errors import SandboxError, UsageError
from bot.sandbox.choice import choose


def test_the_process_sandbox_is_chosen() -> None:
    assert choose("process").kind == "process"


def test_auto_is_the_process_sandbox_where_no_engine_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")

    assert choose("auto").kind == "process"


def test_docker_where_no_engine_answers_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")

    with pytest.raises(SandboxError, match="No Docker engine answers"):
        choose("docker")


@pytest.mark.parametrize("kind", ["auto", "docker"])
def test_docker_is_chosen_where_an_engine_has_a_sandbox_image(kind: str) -> None:
    dockers.opened("runc")

    assert choose(kind).kind == "docker"


def test_the_runtime_is_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    dockers.opened("runsc")
    monkeypatch.setenv("TESTFORGE_SANDBOX_RUNTIME", "runsc")

    assert getattr(choose("docker"), "runtime", None) == "runsc"


def test_an_unknown_kind_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="`auto`, `process` or `docker`"):
        choose("vm")
