"""Whether code can be run safely here: which sandboxes there are, and whether they hold what they promise, by trying."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bot import settings
from bot.errors import SandboxError
from bot.sandbox import Interpreter, Sandboxes, boximage, bubblewrap, engine
from bot.sandbox.choice import IMAGES
from bot.sandbox.hardening import GVISOR
from bot.sandbox.process import ProcessSandboxes

INTRUDER = Path(__file__).with_name("intruder.py")
TRIED = ("network", "host files", "environment", "rights", "system files")
TRY_S = 60.0
SECRET = "TESTFORGE_DOCTOR"


class State(StrEnum):
    """How something stands: usable, not there and not needed, or needed and not usable."""

    OK = "ok"
    ABSENT = "absent"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        told: What was found.
        fix: What to do about it; empty where nothing is to be done.
    """

    name: str
    state: State
    told: str
    fix: str = ""


def checks() -> Iterator[Check]:
    """Look at the sandboxes, one thing after the other."""
    wanted = settings.load()
    yield from _docker(wanted.sandbox_runtime, State.BROKEN if wanted.sandbox == "docker" else State.ABSENT)
    if wanted.sandbox != "docker":
        yield from _process()


def _docker(runtime: str | None, without: State) -> Iterator[Check]:
    """Look at the engine, its images, and containers under each runtime.

    Args:
        runtime: The one that is configured.
        without: What it means if there are none.
    """
    from bot.sandbox.docker import DockerSandboxes

    try:
        found = engine.connect()
    except SandboxError as problem:
        yield Check("docker", without, problem.message.partition(". ")[0], engine.HOW_TO)
        return
    yield Check(
        "docker", State.OK, f"an engine answers at {engine.address()}; runtimes: {', '.join(found.runtimes)}"
    )
    if runtime is not None and runtime not in found.runtimes:
        fix = "Register it in /etc/docker/daemon.json, or unset TESTFORGE_SANDBOX_RUNTIME."
        yield Check("runtime", State.BROKEN, f"the engine has no runtime {runtime}", fix)
        return
    if runtime is None and GVISOR not in found.runtimes:
        fix = f"Install gVisor and register it as `{GVISOR}`: it keeps code of strangers from the host's kernel."
        yield Check("gVisor", State.ABSENT, f"the engine has no runtime {GVISOR}", fix)
    try:
        tags, python = _image(found)
    except SandboxError as problem:
        yield Check("sandbox image", State.BROKEN, problem.message)
        return
    if not tags:
        fix = "Build it with `sandbox-images/build.sh 3.12`, or set `environment.image` in .github/testforge.yml."
        yield Check("sandbox image", without, f"no image {IMAGES} is there", fix)
        return
    yield Check("sandbox image", State.OK, ", ".join(tags))
    inside = Interpreter(python, "", image=tags[-1])
    for name in (runtime,) if runtime else [name for name in ("runc", GVISOR) if name in found.runtimes]:
        yield from _tried(f"container ({name})", functools.partial(DockerSandboxes, name), inside)


def _image(found: engine.Engine) -> tuple[list[str], str]:
    """Return the sandbox images, and where the Python of the last one is."""
    with engine.speaking("list its images"), contextlib.closing(found.client()) as client:
        tags = sorted(tag for row in client.images(name=IMAGES) for tag in row.get("RepoTags") or ())
        where = ["python3", "-I", "-S", "-c", "import sys; print(sys.executable)"]
        return tags, boximage.ask(client, tags[-1], where).strip() if tags else ""


def _process() -> Iterator[Check]:
    """Look at the process sandbox."""
    if not bubblewrap.works():
        yield Check(
            "bubblewrap",
            State.ABSENT,
            "it is not installed or not allowed here, and without it the process sandbox sets limits and hides nothing",
            "Install bubblewrap, or use containers for any code but your own.",
        )
        return
    yield Check("bubblewrap", State.OK, "it works")
    roots = (Path(sys.prefix), Path(sys.base_prefix))
    yield from _tried("process sandbox", ProcessSandboxes, Interpreter(sys.executable, "", mounts=roots))


def _tried(name: str, sandboxes: Callable[[], Sandboxes], inside: Interpreter) -> Iterator[Check]:
    """Try to break out of a sandbox."""
    try:
        found = break_out(sandboxes(), inside)
    except SandboxError as problem:
        yield Check(name, State.BROKEN, problem.message)
        return
    for tried, leak in found.items():
        fix = "Run nobody else's code with it, and please open an issue." if leak else ""
        yield Check(f"{name}: {tried}", State.BROKEN if leak else State.OK, leak or "closed", fix)


def break_out(sandboxes: Sandboxes, inside: Interpreter) -> dict[str, str]:
    """Return by what was tried in a sandbox what came of it; an empty text where it held.

    Args:
        sandboxes: Opens it.
        inside: The Python in it.

    Raises:
        SandboxError: It cannot be used at all.
    """
    secret = secrets.token_hex(16)
    with (
        tempfile.TemporaryDirectory(prefix="testforge-") as tree,
        tempfile.NamedTemporaryFile(prefix="testforge-") as file,
        socket.create_server(("127.0.0.1", 0)) as server,
        _variable(SECRET, secret),
        sandboxes.open(Path(tree), inside) as box,
    ):
        told = {
            "files": [file.name, str(Path.home() / ".ssh")],
            "port": server.getsockname()[1],
            "secret": secret,
        }
        command = [inside.command, "-I", "-S", "-c", INTRUDER.read_text()]
        done = box.run(command, timeout_s=TRY_S, stdin=json.dumps(told).encode())
    with contextlib.suppress(ValueError, KeyError, TypeError):
        found = json.loads(done.stdout)
        return {name: str(found[name]) for name in TRIED}
    raise SandboxError(
        "Nothing could be tried in the sandbox: its Python gave no answer.", done.stderr[-2000:]
    )


@contextlib.contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
