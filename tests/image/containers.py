"""A container of the server's image, and what it started on the engine beside it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.github.server import GitHub
from tests.jobs.serving import wait_for

PATIENCE_S = 600.0


def docker(*words: str, check: bool = True) -> str:
    """Run a command of Docker's and return what it printed, errors included."""
    done = subprocess.run(
        ["docker", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert not check or done.returncode == 0, f"docker {' '.join(words[:2])}: {done.stdout}"
    return done.stdout.strip()


def socket_of_the_engine() -> str:
    """Return the path of the engine's socket."""
    return os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")


def key_file(github: GitHub, directory: Path) -> Path:
    """Write the App's private key to where the account in the container may read it."""
    path = directory / "private-key.pem"
    path.write_text(github.world.pem)
    path.chmod(0o644)
    return path


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ServerContainer:
    """`testforge serve` in a container of the host's network, until the block ends.

    Args:
        engine_at: Where the engine's socket lies in the container.
        more: Variables of its environment.
    """

    def __init__(
        self, github: GitHub, key: Path, more: Mapping[str, str] = {}, engine_at: str = "/var/run/docker.sock"
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        engine = socket_of_the_engine()
        environment = {
            "TESTFORGE_APP_ID": str(github.world.app_id),
            "TESTFORGE_WEBHOOK_SECRET": github.world.webhook_secret,
            "TESTFORGE_PRIVATE_KEY_FILE": "/run/secrets/private-key",
            "TESTFORGE_GITHUB_URL": github.url,
            "TESTFORGE_PORT": str(self.port),
            "TESTFORGE_SANDBOX_NETWORK": "host",
            **more,
        }
        self._words = [
            "run", "--detach", "--network=host", "--read-only", "--tmpfs=/tmp",
            "--cap-drop=ALL", "--security-opt=no-new-privileges",
            f"--group-add={Path(engine).stat().st_gid}",
            f"--volume={engine}:{engine_at}",
            f"--volume={key}:/run/secrets/private-key:ro",
            *(f"--env={name}={value}" for name, value in environment.items()),
            os.environ["TESTFORGE_IMAGE"],
        ]  # fmt: skip

    def __enter__(self) -> ServerContainer:
        self.name = docker(*self._words)
        try:
            self.scope = scope_of(self.name)
            wait_for(lambda: self.readiness()[0] == 200, f"it is not ready: {self.log()}", PATIENCE_S)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        docker("rm", "--force", "--volumes", self.name, check=False)

    def readiness(self) -> tuple[int, Any]:
        """Return what /readyz says; the status is 0 where nobody listens yet."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=30) as answer:
                return int(answer.status), json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except OSError:
            running = docker("inspect", "--format", "{{.State.Running}}", self.name)
            assert running == "true", self.log()
            return 0, None

    def run(self, *words: str) -> str:
        """Run a command in the container and return what it printed."""
        return docker("exec", self.name, *words)

    def stop(self) -> int:
        """End it as the system does, and return its exit code."""
        docker("stop", "--time=120", self.name)
        return int(docker("inspect", "--format", "{{.State.ExitCode}}", self.name))

    def log(self) -> str:
        """Return what it wrote."""
        return docker("logs", self.name)[-6000:]


def scope_of(container: str) -> str:
    """Return the mark of the sandboxes that a container starts, its siblings on the engine; empty if it does not run."""
    pid = docker("inspect", "--format", "{{.State.Pid}}", container)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    try:
        return f"testforge.scope={boot}-{Path(f'/proc/{pid}/ns/pid').readlink()}"
    except FileNotFoundError:
        return ""


def sandboxes(scopes: Iterable[str], *, ended: bool = True) -> list[str]:
    """Return the sandboxes of these scopes that the engine has now, with those that have ended or without."""
    words = ["ps", "--quiet", *(["--all"] if ended else [])]
    return [name for scope in scopes for name in docker(*words, f"--filter=label={scope}").split()]
