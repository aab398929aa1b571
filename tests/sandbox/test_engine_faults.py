"""An engine that goes away or runs out of room: a sentence, and nothing that stays on it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dockers
import pytest
from engine_proxy import EngineProxy

from bot.errors import SandboxError
from bot.sandbox import Interpreter, boximage, engine
from bot.sandbox.docker import DockerSandboxes

NO_SPACE = "write /var/lib/docker/x: no space left on device"


@pytest.fixture
def proxy(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineProxy]:
    """A proxy that testforge takes for the engine."""
    dockers.opened("runc")
    if not engine.address().startswith("unix://"):
        pytest.skip("the Docker engine is not at a Unix socket")
    proxy = EngineProxy(engine.address().removeprefix("unix://"), tmp_path_factory.mktemp("p") / "s")
    monkeypatch.setenv("DOCKER_HOST", proxy.address)
    yield proxy
    proxy.close()


@pytest.fixture
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Look at the engine itself afterwards: no container and no volume of this test is left."""
    made: list[str] = []
    labels = engine.labels

    def marked() -> dict[str, str]:
        made.append(f"{len(made)}-{time.monotonic_ns()}")
        return {**labels(), "testforge.test": made[-1]}

    with contextlib.closing(dockers.opened("runc").engine.client()) as client:
        volumes = {row["Name"] for row in client.volumes()["Volumes"] or ()}
        monkeypatch.setattr(engine, "labels", marked)
        monkeypatch.setattr(boximage, "labels", marked)
        yield
        give_up = time.monotonic() + 60
        while left := [
            row
            for row in client.containers(all=True, filters={"label": "testforge.test"})
            if row["Labels"]["testforge.test"] in made
        ]:
            assert time.monotonic() < give_up, left
            time.sleep(0.1)
        assert {row["Name"] for row in client.volumes()["Volumes"] or ()} <= volumes


@pytest.mark.usefixtures("nothing_stays")
def test_an_engine_that_goes_away_during_a_command_is_told(
    proxy: EngineProxy, image_interpreter: Interpreter, tmp_path: Path
) -> None:
    with DockerSandboxes("runc").open(tmp_path, image_interpreter) as box:
        threading.Timer(1.0, proxy.close).start()

        with pytest.raises(SandboxError, match="ended in the middle of the run: the engine stopped"):
            box.run(["sleep", "600"], timeout_s=600)


@pytest.mark.usefixtures("nothing_stays")
def test_an_engine_that_goes_away_between_commands_is_told(
    proxy: EngineProxy, image_interpreter: Interpreter, tmp_path: Path
) -> None:
    sandboxes = DockerSandboxes("runc")
    with sandboxes.open(tmp_path, image_interpreter) as box:
        proxy.close()

        with pytest.raises(SandboxError, match="ended in the middle of the run"):
            box.read("x")
    with pytest.raises(SandboxError, match="No Docker engine answers"):
        sandboxes.open(tmp_path, image_interpreter)


@pytest.mark.usefixtures("nothing_stays")
@pytest.mark.parametrize(
    "request_line", [r"POST /v[\d.]+/containers/create", r"POST /v[\d.]+/containers/\w+/start"]
)
def test_a_full_disk_is_told_when_a_container_is_made(
    proxy: EngineProxy, image_interpreter: Interpreter, tmp_path: Path, request_line: str
) -> None:
    sandboxes = DockerSandboxes("runc")
    proxy.refuse(request_line, NO_SPACE)

    with pytest.raises(SandboxError, match="The disk of the Docker engine is full"):
        sandboxes.open(tmp_path, image_interpreter)


@pytest.mark.usefixtures("nothing_stays")
def test_a_full_disk_is_told_when_an_image_is_kept(
    proxy: EngineProxy, image_interpreter: Interpreter, tmp_path: Path
) -> None:
    sandboxes = DockerSandboxes("runc")
    with sandboxes.open(tmp_path, image_interpreter) as box:
        proxy.refuse(r"POST /v[\d.]+/commit", NO_SPACE)

        with pytest.raises(SandboxError, match="The disk of the Docker engine is full"):
            box.keep("testforge-environment:never", {})


@pytest.mark.parametrize(
    "say", [lambda text: {"error": text}, lambda text: {"errorDetail": {}, "error": text}]
)
def test_a_full_disk_is_told_when_a_layer_is_built(say: Callable[[str], dict[str, object]]) -> None:
    with pytest.raises(SandboxError, match="The disk of the Docker engine is full"):
        boximage.raise_problem(say(NO_SPACE))
