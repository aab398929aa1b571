"""The last layer of every sandbox's image: testforge's own files, on top of whatever image the repository needs."""

from __future__ import annotations

import hashlib
import io
import json
import shlex
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import SandboxError
from bot.sandbox.engine import speaking

if TYPE_CHECKING:
    from docker import APIClient

PLACE = "/opt/testforge"
GUEST = Path(__file__).with_name("guest")
STARTUP = Path(__file__).with_name("startup")
REPOSITORY = "testforge-box"
PARENT = "testforge.parent"


def obtain(client: APIClient, image: str, command: str) -> str:
    """Return the name of an image with the guest's files and a `bin/python` that is the interpreter; made if missing.

    Args:
        image: The image to put them on.
        command: Path of the interpreter in it.

    Raises:
        SandboxError: The image is missing, or the layer cannot be made.
    """
    with speaking(f"give the image {image}"):
        parent = str(client.inspect_image(image)["Id"])
        files = _files(command)
        name = f"{REPOSITORY}:{_digest(parent, files)}"
        if not client.images(name=name, quiet=True):
            _build(client, parent, files, name)
    return name


def _files(command: str) -> dict[str, tuple[int, bytes]]:
    found: dict[str, tuple[int, bytes]] = {}
    for top in (GUEST, STARTUP):
        for path in sorted(top.rglob("*.py")):
            found[f"{top.name}/{path.relative_to(top).as_posix()}"] = (0o644, path.read_bytes())
    for name in ("python", "python3"):
        found[f"bin/{name}"] = (0o755, f'#!/bin/sh\nexec {shlex.quote(command)} "$@"\n'.encode())
    return found


def _digest(parent: str, files: dict[str, tuple[int, bytes]]) -> str:
    found = hashlib.sha256(parent.encode())
    for name, (_, content) in files.items():
        found.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:32]


def _build(client: APIClient, parent: str, files: dict[str, tuple[int, bytes]], name: str) -> None:
    recipe = f"FROM {parent}\nCOPY --chown=0:0 files {PLACE}\n"
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        contents = {"Dockerfile": (0o644, recipe.encode())}
        contents |= {f"files/{path}": entry for path, entry in files.items()}
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
            problem = json.loads(row).get("error") if row.strip() else None
            if problem:
                raise SandboxError(f"The sandbox's own files could not be added to the image: {problem}.")
