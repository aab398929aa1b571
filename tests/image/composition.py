"""compose.yaml as it is, with the images that were built here, and its containers to look at and to kill."""

from __future__ import annotations

import os
import secrets
import subprocess
from pathlib import Path

from tests.github.server import GitHub
from tests.image.containers import (
    PATIENCE_S,
    docker,
    free_port,
    key_file,
    sandboxes,
    scope_of,
    socket_of_the_engine,
)
from tests.jobs.serving import wait_for

FILE = Path(__file__).parents[2] / "compose.yaml"
WORKERS = ("worker-1", "worker-2")


def bridge() -> str:
    """Return the address at which containers reach this machine."""
    return docker("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")


class Composition:
    """The server, its two workers and the database, until the block ends.

    Attributes:
        containers: By the names of their services.
        scopes: The marks of the sandboxes of the workers, as long as somebody asked which was busy.
    """

    def __init__(self, github: GitHub, directory: Path) -> None:
        self.name = f"testforge-trial-{secrets.token_hex(4)}"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TESTFORGE_")}
        self.scopes: set[str] = set()
        self._environment = {
            **kept,
            "TESTFORGE_IMAGE": os.environ["TESTFORGE_IMAGE"],
            "POSTGRES_IMAGE": os.environ["TESTFORGE_IMAGE_POSTGRES"],
            "POSTGRES_PASSWORD": secrets.token_hex(8),
            "TESTFORGE_APP_ID": str(github.world.app_id),
            "TESTFORGE_WEBHOOK_SECRET": github.world.webhook_secret,
            "PRIVATE_KEY_FILE": str(key_file(github, directory)),
            "TESTFORGE_GITHUB_URL": github.url,
            "TESTFORGE_PORT": str(self.port),
            "TESTFORGE_SANDBOX_NETWORK": "host",
            "DOCKER_SOCKET": socket_of_the_engine(),
            "DOCKER_GROUP": str(Path(socket_of_the_engine()).stat().st_gid),
        }

    def __enter__(self) -> Composition:
        try:
            self.compose("up", "--detach", "--no-build")
            self.containers = {name: self.compose("ps", "--quiet", name) for name in ("server", *WORKERS)}
            wait_for(self._is_ready, f"it is not ready: {self.log()}", PATIENCE_S)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.compose("down", "--volumes", "--timeout", "60", check=False)

    def compose(self, *words: str, check: bool = True) -> str:
        """Run a command on the composition and return what it printed."""
        command = ["docker-compose", "--project-name", self.name, "--file", str(FILE), *words]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, f"docker-compose {words[0]}: {done.stderr}"
        return done.stdout.strip()

    def busy(self) -> str:
        """Return a worker that has a sandbox at the moment; empty if none has."""
        marks = {name: scope_of(self.containers[name]) for name in WORKERS}
        self.scopes.update(filter(None, marks.values()))
        return next((name for name, scope in marks.items() if scope and sandboxes([scope])), "")

    def log(self) -> str:
        """Return what its containers wrote last."""
        return self.compose("logs", "--no-color", "--tail=40", check=False)[-9000:]

    def _is_ready(self) -> bool:
        code = "import urllib.request as web; web.urlopen('http://127.0.0.1:8000/readyz', timeout=30)"
        done = docker("exec", self.containers["server"], "python", "-c", code, check=False)
        return done == ""
