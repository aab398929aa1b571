"""The last layer of every sandbox's image: testforge's own files, on top of whatever image the repository needs."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import posixpath
import py_compile
import shlex
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot import settings
from bot.errors import SandboxError
from bot.sandbox import Limits
from bot.sandbox.engine import ANSWER_S, NO_SPACE, full_disk, labels, remove, speaking

if TYPE_CHECKING:
    from docker import APIClient

PLACE = "/opt/testforge"
GUEST = Path(__file__).with_name("guest")
STARTUP = Path(__file__).with_name("startup")
REPOSITORY = "testforge-box"
PARENT = "testforge.parent"
UNUSED_S = 24 * 3600.0
"""A layer that was not used for so long is removed; it is made again in a second."""


def obtain(client: APIClient, image: str, command: str) -> str:
    """Return the name of an image with the guest's files and a `bin/python` that is the interpreter; made if missing.

    Args:
        image: The image to put them on.
        command: Path of the interpreter in it.

    Raises:
        SandboxError: The image is missing, or the layer cannot be made.
    """
    with speaking(f"give the image {image}"):
        parent = str(client.inspect_image(image)["Id"])  # type: ignore[no-untyped-call]
        files = _files(command)
        name = f"{REPOSITORY}:{_digest(parent, files)}"
        _record(name).touch()
        if not client.images(name=name, quiet=True):
            recipe = f"FROM {parent}\nCOPY --chown=0:0 files {PLACE}\n"
            _build(client, parent, {**files, **_compiled()}, name, recipe)
            remove_unused(client)
    return name


def remove_unused(client: APIClient) -> tuple[str, ...]:
    """Remove the layers that nobody has used for `UNUSED_S`, and those that have lost their name; returns what went."""
    from docker.errors import APIError

    removed: list[str] = []
    for row in client.images(filters={"label": "testforge.image=box"}):
        names = [tag for tag in row["RepoTags"] or () if tag.startswith(f"{REPOSITORY}:")]
        if any(time.time() - _last_used(name, row) < UNUSED_S for name in names or [""]):
            continue
        for name in names or [row["Id"]]:
            try:
                client.remove_image(name)
            except APIError as problem:
                if problem.status_code not in (404, 409):  # gone, or in use
                    raise
                continue
            _record(name).unlink(missing_ok=True)
            removed.append(name)
    return tuple(removed)


def _last_used(name: str, row: dict[str, Any]) -> float:
    """Return when a layer was used last, in seconds; when it was made, where somebody else used it."""
    try:
        return _record(name).stat().st_mtime
    except OSError:
        return float(row["Created"])


def _record(name: str) -> Path:
    place = settings.cache_directory() / "images"
    place.mkdir(parents=True, exist_ok=True)
    return place / f"box-{name.rpartition(':')[2] or 'none'}"


def prepared(client: APIClient, image: str) -> str:
    """Return the name of an image to install into, made from any image: with uv and a place for the environment.

    Raises:
        SandboxError: The image is missing and cannot be fetched.
    """
    from docker.errors import ImageNotFound
    from uv import find_uv_bin

    with speaking(f"fetch the image {image}"):
        try:
            about: dict[str, Any] = client.inspect_image(image)  # type: ignore[no-untyped-call]
        except ImageNotFound:
            client.pull(image)
            about = client.inspect_image(image)  # type: ignore[no-untyped-call]
        if (about["Config"].get("Labels") or {}).get("testforge.image") == "sandbox":
            return image
        files = {"usr/local/bin/uv": (0o755, Path(find_uv_bin()).read_bytes())}
        name = f"{REPOSITORY}:{_digest(about['Id'], files)}"
        _record(name).touch()
        if not client.images(name=name, quiet=True):
            recipe = (
                f"FROM {about['Id']}\nCOPY --chown=0:0 files /\nCOPY --chown=1000:1000 empty /environment\n"
            )
            _build(client, about["Id"], {**files, "../empty/.keep": (0o644, b"")}, name, recipe)
    return name


def ask(client: APIClient, image: str, command: Sequence[str]) -> str:
    """Return what a command prints in a container of an image, without network and rights; at most a few lines."""
    from bot.sandbox.hardening import USER, host_settings

    settings = host_settings(Limits(disk=16 * 1024**2), cpus=1.0)
    settings |= {"auto_remove": False, "log_config": {"type": "json-file"}}
    made = client.create_container(
        image,
        entrypoint=list(command),
        command=[],
        user=USER,
        labels=labels(),
        host_config=client.create_host_config(**settings),
    )
    try:
        client.start(made["Id"])
        client.wait(made["Id"], timeout=ANSWER_S)
        told: bytes = client.logs(made["Id"], stdout=True, stderr=False, tail=3)
        return told[:4096].decode(errors="replace")
    finally:
        remove(client, made["Id"])


def _files(command: str) -> dict[str, tuple[int, bytes]]:
    found: dict[str, tuple[int, bytes]] = {}
    for top in (GUEST, STARTUP):
        for path in sorted(top.rglob("*.py")):
            found[f"{top.name}/{path.relative_to(top).as_posix()}"] = (0o644, path.read_bytes())
    for name in ("python", "python3"):
        found[f"bin/{name}"] = (0o755, f'#!/bin/sh\nexec {shlex.quote(command)} "$@"\n'.encode())
    return found


def _compiled() -> dict[str, tuple[int, bytes]]:
    """Return the guest compiled, for images with the Python that runs here: others do not look at it."""
    found: dict[str, tuple[int, bytes]] = {}
    with tempfile.TemporaryDirectory(prefix="testforge-") as directory:
        for path in sorted(GUEST.rglob("*.py")):
            inside = Path(GUEST.name) / path.relative_to(GUEST)
            file = Path(importlib.util.cache_from_source(str(inside)))
            py_compile.compile(
                str(path),
                cfile=str(Path(directory) / "compiled"),
                dfile=f"{PLACE}/{inside.as_posix()}",
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
            found[file.as_posix()] = (0o644, (Path(directory) / "compiled").read_bytes())
    return found


def _digest(parent: str, files: dict[str, tuple[int, bytes]]) -> str:
    found = hashlib.sha256(f"{parent} {sys.implementation.cache_tag}".encode())
    for name, (_, content) in files.items():
        found.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:32]


def _build(
    client: APIClient, parent: str, files: dict[str, tuple[int, bytes]], name: str, recipe: str
) -> None:
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        contents = {"Dockerfile": (0o644, recipe.encode())}
        contents |= {posixpath.normpath(f"files/{path}"): entry for path, entry in files.items()}
        for path, (mode, content) in contents.items():
            about = tarfile.TarInfo(path)
            about.size, about.mode = len(content), mode
            archive.addfile(about, io.BytesIO(content))
    context.seek(0)
    marks = {"testforge.image": "box", PARENT: parent}
    told = client.build(
        fileobj=context,
        custom_context=True,
        tag=name,
        rm=True,
        forcerm=True,
        labels=marks,
        network_mode="none",
    )
    for line in told:
        for row in line.splitlines():
            if row.strip():
                raise_problem(json.loads(row))


def raise_problem(told: dict[str, Any]) -> None:
    """Raise what the engine says of a build, if that is an error.

    Raises:
        SandboxError: It is one.
    """
    problem = str(told.get("error", ""))
    if NO_SPACE in problem:
        raise full_disk(problem)
    if problem:
        raise SandboxError(f"The sandbox's own files could not be added to the image: {problem}.")
