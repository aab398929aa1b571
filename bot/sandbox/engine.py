"""The Docker engine: reaching it, its runtimes, what a run before this one left on it, and its errors as sentences."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.errors import SandboxError

if TYPE_CHECKING:
    from docker import APIClient

LABEL = "testforge.container"
OWNER, SCOPE, UNTIL = "testforge.owner", "testforge.scope", "testforge.until"
LONGEST_S = 6 * 3600.0
"""A container older than this is nobody's any more, whoever made it."""
ANSWER_S = 60
"""How long the engine may take for one answer, in seconds."""
NO_SPACE = "no space left"
"""Is in what the engine says when its disk is full."""
HOW_TO = "Start it (`sudo systemctl start docker`) and see that this user may use it, or set DOCKER_HOST; or use `--sandbox process`."


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answered.

    Attributes:
        version: Of its API.
        cpus: How many cores it has.
        runtimes: Names of the runtimes that it knows.
    """

    version: str
    cpus: int
    runtimes: tuple[str, ...]

    def client(self) -> APIClient:
        """Return a new connection, for one thread."""
        return _client(self.version)

    def choose_runtime(self, wanted: str | None) -> str | None:
        """Return the runtime to use: the one wanted, None for the engine's own.

        Raises:
            SandboxError: The engine does not have it.
        """
        if wanted is not None and wanted not in self.runtimes:
            raise SandboxError(
                f"The Docker engine has no runtime {wanted!r} (it has {', '.join(self.runtimes)}). "
                "Register it in /etc/docker/daemon.json, or unset TESTFORGE_SANDBOX_RUNTIME."
            )
        return wanted


def connect() -> Engine:
    """Return the engine that DOCKER_HOST names, or the usual one.

    Raises:
        SandboxError: None answers.
    """
    with speaking("be reached"), contextlib.closing(_client("auto")) as client:
        about = client.info()
        return Engine(
            str(client.api_version),
            int(about["NCPU"]),
            tuple(sorted(n for n in about["Runtimes"] if "." not in n)),
        )


def _client(version: str) -> APIClient:
    from docker import APIClient
    from docker.utils import kwargs_from_env

    return APIClient(version=version, timeout=ANSWER_S, **kwargs_from_env())


@contextlib.contextmanager
def speaking(purpose: str) -> Iterator[None]:
    """Turn what goes wrong between here and the engine into one sentence.

    Args:
        purpose: What the engine was asked for, to end `... could not` with.
    """
    import requests
    from docker.errors import APIError, DockerException, ImageNotFound

    try:
        yield
    except ImageNotFound as problem:
        raise SandboxError(
            f"An image is missing on the Docker engine: {_told(problem)}. Build it with sandbox-images/build.sh, or name "
            "another one with `environment.image` in .github/testforge.yml."
        ) from problem
    except APIError as problem:
        told = _told(problem)
        if NO_SPACE in told:
            raise full_disk(told) from problem
        if "executable file not found" in told or "no such file or directory" in told:
            raise SandboxError(
                "The image has no Python where it should be; set `environment.image` in .github/testforge.yml to one "
                "with Python 3.9 or newer.",
                told,
            ) from problem
        raise SandboxError(f"The Docker engine could not {purpose}: {told}.") from problem
    except (DockerException, requests.RequestException) as problem:
        raise SandboxError(f"No Docker engine answers at {address()}. {HOW_TO}", str(problem)) from problem


def full_disk(told: str) -> SandboxError:
    """Return what to raise where the engine says that its disk is full."""
    return SandboxError(
        "The disk of the Docker engine is full; free some space, for example with `docker image prune`.", told
    )


def may_answer() -> bool:
    """Tell whether it is worth asking for an engine: cheaper than loading what would ask it."""
    where = address()
    return not where.startswith("unix://") or Path(where.removeprefix("unix://")).exists()


def address() -> str:
    """Return where the engine is looked for."""
    return os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"


def _told(problem: Any) -> str:
    text = str(getattr(problem, "explanation", "") or problem)
    return " ".join(text.split())[:400].rstrip(".")


# ---------------------------------------------------------------- whose a container is


def labels() -> dict[str, str]:
    """Return the labels by which a container of this process is known, also after the process was killed."""
    return {
        LABEL: "1",
        SCOPE: _scope(),
        OWNER: f"{os.getpid()}-{_started(os.getpid())}",
        UNTIL: str(int(time.time() + LONGEST_S)),
    }


def remove_abandoned(client: APIClient) -> tuple[str, ...]:
    """Remove the containers of runs that are gone; returns their ids.

    Of those made in other process namespaces it cannot be told whether their run lives: they go once they have ended.
    """
    found = client.containers(all=True, filters={"label": LABEL})
    gone = tuple(
        row["Id"]
        for row in found
        if _is_abandoned(row["Labels"])
        or (row["State"] in ("exited", "dead") and row["Labels"].get(SCOPE) != _scope())
    )
    for container in gone:
        remove(client, container)
    return gone


def remove(client: APIClient, container: str) -> None:
    """Remove a container with all that runs in it; nothing happens if it is gone or going."""
    from docker.errors import APIError

    try:
        client.remove_container(container, force=True, v=True)
    except APIError as problem:
        if problem.status_code not in (404, 409):
            raise


def _is_abandoned(marks: dict[str, str]) -> bool:
    with contextlib.suppress(ValueError):
        if time.time() > int(marks.get(UNTIL, "0")):
            return True
    if marks.get(SCOPE) != _scope():
        return False  # made from another machine or container: only time tells
    pid, _, started = marks.get(OWNER, "").partition("-")
    return not pid.isdigit() or _started(int(pid)) != started


def _scope() -> str:
    """Return what process ids mean something in: this machine since it started, and this namespace of processes."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return f"unknown-{os.getpid()}"


def _started(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
