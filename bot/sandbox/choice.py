"""Choosing a kind of sandbox by the name a person gave."""

from __future__ import annotations

import contextlib

from bot import settings
from bot.errors import SandboxError, UsageError
from bot.sandbox import Sandboxes

IMAGES = "testforge-sandbox"


def choose(kind: str) -> Sandboxes:
    """Return what opens sandboxes of a kind: `docker`, `process`, or `auto`, which is Docker's where it is ready.

    Raises:
        UsageError: There is no such kind.
        SandboxError: Docker is asked for and does not answer.
    """
    if kind not in ("auto", "docker", "process"):
        raise UsageError(f"There is no sandbox {kind!r}; use `auto`, `process` or `docker`.")
    if kind == "docker":
        from bot.sandbox.docker import DockerSandboxes

        return DockerSandboxes(settings.load().sandbox_runtime)
    if kind == "auto":
        ready = _docker_if_ready()
        if ready is not None:
            return ready
    from bot.sandbox.process import ProcessSandboxes

    return ProcessSandboxes()


def _docker_if_ready() -> Sandboxes | None:
    """Return the Docker sandboxes if an engine answers and has a sandbox image; a person need not have either."""
    from bot.sandbox import engine

    if not engine.may_answer():
        return None
    from bot.sandbox.docker import DockerSandboxes

    with contextlib.suppress(SandboxError):
        found = DockerSandboxes(settings.load().sandbox_runtime)
        with engine.speaking("list its images"), contextlib.closing(found.engine.client()) as client:
            if client.images(name=IMAGES, quiet=True):
                return found
    return None
