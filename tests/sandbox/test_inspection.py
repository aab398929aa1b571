"""What is usable here: sandboxes that are tried, and the sentences where one is not there."""

from __future__ import annotations

import tempfile
from pathlib import Path

import dockers
import pytest

from bot.sandbox import Interpreter, bubblewrap, engine
from bot.sandbox.docker import DockerSandboxes
from bot.sandbox.inspection import TRIED, State, break_out, checks
from bot.sandbox.process import ProcessSandboxes

HELD = dict.fromkeys(TRIED, "")


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")


@pytest.mark.parametrize("runtime", dockers.RUNTIMES)
def test_a_container_holds_what_it_promises(runtime: str, image_interpreter: Interpreter) -> None:
    assert break_out(dockers.opened(runtime), image_interpreter) == HELD


def test_the_process_sandbox_holds_with_bubblewrap(interpreter: Interpreter) -> None:
    if not bubblewrap.works():
        pytest.skip("bubblewrap does not work here")

    assert break_out(ProcessSandboxes(walls=True), interpreter) == HELD


def test_without_walls_the_same_attempts_find_the_ways_out(interpreter: Interpreter) -> None:
    found = break_out(ProcessSandboxes(walls=False), interpreter)

    assert found["network"].startswith("it reaches 127.0.0.1:")
    assert found["host files"].startswith(f"it sees {tempfile.gettempdir()}")


def test_a_container_with_rights_is_found_out(
    image_interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    dockers.opened("runc")
    monkeypatch.setattr("bot.sandbox.hardening._without_rights", lambda: {"cap_drop": ["NET_RAW"]})
    monkeypatch.setattr("bot.sandbox.hardening.USER", "0:0")
    monkeypatch.setattr("bot.sandbox.docker.user", lambda _: "0:0")

    found = break_out(DockerSandboxes("runc"), image_interpreter)

    assert found["rights"] != ""


@pytest.mark.usefixtures("no_engine")
def test_no_engine_is_no_fault_where_another_sandbox_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTFORGE_SANDBOX", "auto")
    docker = next(check for check in checks() if check.name == "docker")

    assert (docker.state, docker.fix) == (State.ABSENT, engine.HOW_TO)


@pytest.mark.usefixtures("no_engine")
def test_no_engine_is_a_fault_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTFORGE_SANDBOX", "docker")

    assert [(check.name, check.state) for check in checks()] == [("docker", State.BROKEN)]


def test_an_engine_without_the_runtime_that_is_asked_for_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    dockers.opened("runc")
    monkeypatch.setenv("TESTFORGE_SANDBOX", "docker")
    monkeypatch.setenv("TESTFORGE_SANDBOX_RUNTIME", "runsc")
    connect = engine.connect

    def without(*_: object) -> engine.Engine:
        found = connect()
        return engine.Engine(found.version, found.cpus, ("runc",))

    monkeypatch.setattr(engine, "connect", without)

    assert [(check.name, check.state) for check in checks()] == [
        ("docker", State.OK),
        ("runtime", State.BROKEN),
    ]


def test_an_engine_without_a_sandbox_image_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    dockers.opened("runc")
    monkeypatch.setenv("TESTFORGE_SANDBOX", "docker")
    monkeypatch.setattr("bot.sandbox.inspection.IMAGES", "testforge-no-such-image")

    last = list(checks())[-1]

    assert (last.name, last.state) == ("sandbox image", State.BROKEN)
    assert "sandbox-images/build.sh" in last.fix
