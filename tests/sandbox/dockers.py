"""What tests of the Docker sandbox start from: an engine, its runtimes, and an image with pytest and coverage."""

from __future__ import annotations

import functools

import pytest

from bot import environment, repoconfig
from bot.errors import SandboxError
from bot.sandbox import Interpreter, engine
from bot.sandbox.docker import DockerSandboxes

RUNTIMES = ("runc", "runsc")


@functools.cache
def why_not() -> str:
    """Return why no container can be made here; empty if one can."""
    if not engine.may_answer():
        return f"no Docker engine at {engine.address()}"
    try:
        sandboxes(None)
    except SandboxError as problem:
        return problem.message
    return ""


@functools.cache
def sandboxes(runtime: str | None) -> DockerSandboxes:
    """Return what opens containers under a runtime."""
    return DockerSandboxes(runtime)


def opened(runtime: str) -> DockerSandboxes:
    """Return the same, or skip the test where that cannot be had."""
    if why_not():
        pytest.skip(why_not())
    if runtime not in sandboxes(None).engine.runtimes:
        pytest.skip(f"the Docker engine has no runtime {runtime}")
    return sandboxes(runtime)


@functools.cache
def tools(directory: str) -> Interpreter:
    """Return the environment of a repository without dependencies: pytest and coverage."""
    from pathlib import Path

    tree = Path(directory)
    return environment.prepare(
        tree, tree, repoconfig.load(None), roots=(".",), note=lambda _: None, sandboxes=sandboxes(None)
    )
