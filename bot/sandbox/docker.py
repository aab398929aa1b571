"""The Docker sandbox: a container of its own for each copy of a tree, closed to the network, the host and other runs.

The container's first process is the warden (`warden.py`), whose text and whose requests go in through the container's
standard input: no directory of the host is mounted, and no archive that comes out of it is ever unpacked here. When
testforge ends, however it ends, that input ends too, and with it the container.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from bot.errors import SandboxError
from bot.sandbox import Completed, Interpreter, Limits, boximage, engine, loading, packing
from bot.sandbox.answers import completed, listing
from bot.sandbox.channel import Channel
from bot.sandbox.engine import speaking
from bot.sandbox.hardening import HOME, host_settings, installation_settings, user
from bot.sandbox.surroundings import NOT_LISTED, variables

if TYPE_CHECKING:
    from docker import APIClient

ANSWER_S = 60.0
GRACE_S = 20.0
"""How long past a command's limit its end is waited for."""
DEFAULT = Limits()
LONGEST_LISTING = 64 * 1024**2
MOST_CPUS = 2.0


class DockerSandboxes:
    """Opens Docker sandboxes.

    Args:
        runtime: Such as `runsc`; None is the engine's own choice.

    Raises:
        SandboxError: No engine answers, or it lacks the runtime.
    """

    kind = "docker"

    def __init__(self, runtime: str | None = None) -> None:
        self.engine = engine.connect()
        self.runtime = self.engine.choose_runtime(runtime)
        self._images: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()
        with speaking("be tidied up"), contextlib.closing(self.engine.client()) as client:
            engine.remove_abandoned(client)

    def open(self, tree: Path, interpreter: Interpreter, limits: Limits = DEFAULT) -> DockerSandbox:
        """Return a sandbox with a fresh copy of `tree`.

        Raises:
            SandboxError: The tree cannot be copied, or the container cannot be made.
        """
        settings = host_settings(limits, cpus=min(MOST_CPUS, self.engine.cpus), runtime=self.runtime)
        return self._filled(
            tree, settings, interpreter, limits, lambda client: self._image(client, interpreter)
        )

    def open_installation(
        self, tree: Path, image: str, python: str, limits: Limits, network: str
    ) -> DockerSandbox:
        """Return a container that can reach the network and whose own files can be kept as an image.

        Args:
            tree: What to copy into it.
            image: What to start from.
            python: Path of the Python in it.
            network: Docker's name of the network.
        """
        settings = installation_settings(limits, cpus=self.engine.cpus, network=network)
        return self._filled(tree, settings, Interpreter(python, "", ()), limits, lambda _: image)

    def _filled(
        self,
        tree: Path,
        settings: Mapping[str, Any],
        interpreter: Interpreter,
        limits: Limits,
        image: Callable[[APIClient], str],
    ) -> DockerSandbox:
        packed = packing.Packed(tree)
        client = self.engine.client()
        try:
            box = DockerSandbox(client, settings, image(client), interpreter, limits)
        except BaseException:
            client.close()
            raise
        try:
            box.fill(packed)
        except BaseException:
            box.close()
            raise
        return box

    def _image(self, client: APIClient, interpreter: Interpreter) -> str:
        if interpreter.image is None:
            raise SandboxError(
                "This environment lies on the host and has no image, so the Docker sandbox cannot use it; use `--sandbox process`."
            )
        key = (interpreter.image, interpreter.command)
        with self._lock:
            if key not in self._images:
                self._images[key] = boximage.obtain(client, *key)
            return self._images[key]


class DockerSandbox:
    """One container with a copy of a tree; see `bot.sandbox.Sandbox`. Requests from several threads wait for each other.

    Attributes:
        container: The container's id.
    """

    kind = "docker"
    tree = f"{HOME}/tree"
    scratch = f"{HOME}/scratch"
    guest = f"{boximage.PLACE}/guest"

    def __init__(
        self,
        client: APIClient,
        settings: Mapping[str, Any],
        image: str,
        interpreter: Interpreter,
        limits: Limits,
    ) -> None:
        self.interpreter = interpreter
        self._client = client
        self._limits = limits
        self._lock = threading.Lock()
        self._packed: packing.Packed | None = None
        self._written: dict[str, bytes] = {}
        with speaking("make a container"):
            made = client.create_container(
                image,
                entrypoint=[interpreter.command, "-I", "-S", "-c", loading.FROM_INPUT, HOME],
                command=[],
                user=user(settings.get("runtime")),
                working_dir="/",
                hostname="sandbox",
                stdin_open=True,
                labels=engine.labels(),
                host_config=client.create_host_config(**settings),
            )
            self.container = str(made["Id"])
            self._finalizer = weakref.finalize(self, _discard, client, self.container, os.getpid())
            try:
                self._channel = Channel(_attach(client, self.container))
                client.start(self.container)
            except BaseException:
                self._finalizer()
                raise
        self._channel.say(loading.texts("clearing", "holdings", "watching", "warden"))

    def fill(self, packed: packing.Packed) -> None:
        """Write a tree's files into the sandbox, then those that the build of its environment made."""
        self._packed = self._packed or packed
        answer, _ = self._ask(
            {"do": "fill", "entries": packed.entries, "additions": self.interpreter.additions},
            stream=packed.content(),
            seconds=10 * ANSWER_S,
        )
        if "refused" in answer:
            raise SandboxError(
                f"The repository could not be copied into its container ({packed.size // 1024**2} MB of at most "
                f"{self._limits.disk // 1024**2} MB): {str(answer['refused'])[:300]}."
            )

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        """Run a command in the tree with a clean environment; all its processes are gone when this returns."""
        limits = self._limits
        question = {
            "do": "run",
            "command": list(command),
            "env": self._environment() | dict(env or {}),
            "seconds": timeout_s,
            "output": limits.output,
            "limits": {"RLIMIT_AS": limits.memory, "RLIMIT_FSIZE": limits.file_size, "RLIMIT_CORE": 0},
        }
        seconds, most = timeout_s + GRACE_S, 2 * limits.output + 8
        answer, content = self._ask({**question, "whole": True}, stdin, seconds=seconds, most=most)
        if "lost" in answer:
            self._put_back(frozenset(map(str, answer["lost"])))
            answer, content = self._ask({**question, "whole": False}, stdin, seconds=seconds, most=most)
        return completed(answer, content, limits)

    def read(self, path: str, *, limit: int = 64 * 1024**2) -> bytes:
        """Return a file's content. Raises FileNotFoundError, or SandboxError if larger than `limit` bytes."""
        answer, content = self._ask({"do": "read", "path": self._absolute(path), "limit": limit}, most=limit)
        if "missing" in answer:
            raise FileNotFoundError(path)
        _accept(answer, path)
        return content

    def write(self, path: str, content: bytes) -> None:
        """Create or overwrite a file, making its directories."""
        whole = self._absolute(path)
        answer, _ = self._ask({"do": "write", "path": whole}, content)
        _accept(answer, path)
        if whole.startswith(f"{self.tree}/"):
            self._written[whole.removeprefix(f"{self.tree}/")] = content

    def remove(self, path: str) -> None:
        """Delete a file or a directory; nothing happens if there is none."""
        whole = self._absolute(path)
        below = [name for name in self._written if f"{self.tree}/{name}/".startswith(f"{whole}/")]
        for name in below:
            del self._written[name]
        answer, _ = self._ask({"do": "remove", "path": whole})
        if "missing" not in answer:
            _accept(answer, path)

    def files(self) -> tuple[str, ...]:
        """Return the paths of the tree's files, sorted, without links, caches and version control."""
        answer, content = self._ask({"do": "files", "without": sorted(NOT_LISTED)}, most=LONGEST_LISTING)
        _accept(answer, self.tree)
        return listing(content)

    def keep(self, name: str, marks: Mapping[str, str]) -> None:
        """Keep the container's own files, which the tree and the scratch directory are not among, as an image."""
        changes = [f"LABEL {key}={value}" for key, value in sorted(marks.items())]
        repository, _, tag = name.partition(":")
        with speaking("keep an image"):
            self._client.commit(self.container, repository=repository, tag=tag, changes=changes)

    def close(self) -> None:
        """Remove the container; closing twice is harmless."""
        self._finalizer()
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _put_back(self, lost: frozenset[str]) -> None:
        """Write again what code has deleted: a test that clears its directory must not decide for the next command."""
        if self._packed is not None:
            self.fill(self._packed.only(lost - self._written.keys()))
        for name in sorted(lost & self._written.keys()):
            self.write(name, self._written[name])

    def _ask(
        self,
        question: Mapping[str, Any],
        payload: bytes = b"",
        *,
        stream: Any = (),
        seconds: float = ANSWER_S,
        most: int = 0,
    ) -> tuple[dict[str, Any], bytes]:
        """Put a question to the warden; after an answer that fails or cannot be right the container is gone."""
        if not self._finalizer.alive:
            raise SandboxError("The sandbox is closed.")
        with self._lock:
            try:
                return self._channel.ask(question, payload, stream=stream, seconds=seconds, most=most)
            except BaseException:
                self.close()
                raise

    def _absolute(self, path: str) -> str:
        return posixpath.normpath(path if path.startswith("/") else f"{self.tree}/{path}")

    def _environment(self) -> dict[str, str]:
        own = posixpath.dirname(self.interpreter.command)
        return variables(
            self.tree,
            self.scratch,
            roots=self.interpreter.import_roots,
            programs=[f"{boximage.PLACE}/bin", own],
        )


def _attach(client: APIClient, container: str) -> Any:
    """Return a connection to a container's streams, before it is started."""
    stream = client.attach_socket(container, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
    # Over a Unix socket the SDK gives a file object around it, over TLS the socket itself.
    return getattr(stream, "_sock", stream)


def _accept(answer: Mapping[str, Any], path: str) -> None:
    if "refused" in answer:
        raise SandboxError(f"{path!r} in the sandbox: {str(answer['refused'])[:300]}.")
    if "missing" in answer:
        raise SandboxError(f"{path!r} in the sandbox is missing.")


def _discard(client: APIClient, container: str, owner: int) -> None:
    """Remove a sandbox's container, in the process that made it (a forked child ends with the same finalizers)."""
    if os.getpid() != owner:
        return
    with contextlib.suppress(SandboxError), speaking("remove a container"):
        engine.remove(client, container)
    client.close()
