"""The images on the engine: those that environments start from, those that are kept, and those that have to go."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot import settings
from bot.environment import python_choice
from bot.environment.locking import locked_file
from bot.environment.python_choice import Wish
from bot.errors import InstallationError
from bot.sandbox import boximage
from bot.sandbox.engine import speaking

if TYPE_CHECKING:
    from docker import APIClient

BASES = "testforge-sandbox"
KEPT = "testforge-environment"
BASE, FACTS = "testforge.base", "testforge.facts"
LATEST_PATCH = 99
"""Stands for the last digits of a Python's version, which an image's name does not tell."""


@dataclass(frozen=True, slots=True)
class Base:
    """An image to install into.

    Attributes:
        id: Of its content.
        python: Path of the Python in it.
        version: Of that Python, such as `3.11`.
    """

    image: str
    id: str
    python: str
    version: str


def base(client: APIClient, wish: Wish, image: str | None) -> tuple[Base, str]:
    """Return the image that an environment starts from, and a sentence on why it is this one.

    Args:
        wish: What the repository says about its Python.
        image: `environment.image` of the configuration; it wins.

    Raises:
        InstallationError: There is none with the right Python.
    """
    if image is not None:
        found = _look(client, boximage.prepared(client, image), image)
        if not wish.accepts(f"{found.version}.{LATEST_PATCH}"):
            asked = (
                f"{wish.required_by} asks for {wish.requires}"
                if wish.requires
                else "testforge needs 3.9 or newer"
            )
            raise InstallationError(
                f"The image {image} has Python {found.version}, and {asked}. Set `environment.image` in "
                ".github/testforge.yml to one with the right version."
            )
        return found, f"Python {found.version} of the image {image}, as `environment.image` says."
    there = versions(client)
    chosen = python_choice.choose(wish, [f"{version}.{LATEST_PATCH}" for version in there])
    if chosen is None:
        wanted = wish.requires or "3.9 or newer"
        if wish.required_by == python_choice.CONFIGURED:
            wanted = wanted[2:-2]
        raise InstallationError(
            f"The project needs Python {wanted}, and the Docker engine has sandbox images for "
            f"{', '.join(there) or 'no version'} only. Build one with `sandbox-images/build.sh VERSION`, or set "
            "`environment.image` or `environment.python` in .github/testforge.yml."
        )
    name = f"{BASES}:{python_choice.minor(chosen.version)}"
    return _look(client, name, name), chosen.because


def versions(client: APIClient) -> tuple[str, ...]:
    """Return the versions of Python that there are sandbox images for, oldest first."""
    with speaking("list its images"):
        rows = client.images(name=BASES)
    tags = {tag.rpartition(":")[2] for row in rows for tag in row.get("RepoTags") or ()}
    found = [tag for tag in tags if tag.startswith("3.") and tag[2:].isdigit()]
    return tuple(sorted(found, key=lambda tag: int(tag[2:])))


def _look(client: APIClient, image: str, shown: str) -> Base:
    """Find the Python of an image, which says itself where it is; asked once for each image."""
    program = "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])"
    with speaking(f"look into the image {shown}"):
        about: dict[str, Any] = client.inspect_image(image)  # type: ignore[no-untyped-call]
        record = _records() / f"python-{str(about['Id']).rpartition(':')[2]}"
        told = record.read_text().split() if record.is_file() else []
        if not told:
            told = boximage.ask(client, image, ["python3", "-I", "-S", "-c", program]).split()
    if len(told) != 2 or not told[0].startswith("/"):
        raise InstallationError(
            f"The image {shown} has no Python 3 as `python3`; set `environment.image` to one that has, 3.9 or newer."
        )
    record.write_text(" ".join(told))
    return Base(image, str(about["Id"]), told[0], told[1])


# ---------------------------------------------------------------- kept


def name(key: str) -> str:
    """Return the name of the image kept under a key."""
    return f"{KEPT}:{key}"


def facts(client: APIClient, key: str) -> dict[str, Any] | None:
    """Return what was written down on a kept image, and note that it is used; None where there is none."""
    from docker.errors import ImageNotFound

    with speaking("list its images"):
        try:
            about = client.inspect_image(name(key))  # type: ignore[no-untyped-call]
        except ImageNotFound:
            return None
    try:
        found = json.loads(base64.b64decode(about["Config"]["Labels"][FACTS]))
    except (ValueError, KeyError, TypeError):
        return None
    (_records() / key).touch()
    return found if isinstance(found, dict) else None


def marks(about: dict[str, Any], start: Base) -> dict[str, str]:
    """Return the labels of an image that is to be kept.

    Args:
        about: What later runs must know of it; JSON.
        start: What it was made from.
    """
    told = base64.b64encode(json.dumps(about).encode()).decode()
    return {"testforge.image": "environment", BASE: start.id, FACTS: told}


def locked(key: str, note: Callable[[str], None]) -> contextlib.AbstractContextManager[None]:
    """Let no other run make the same image at the same time."""
    return locked_file(_records() / f"{key}.lock", note)


def remove_unused(client: APIClient, most_gb: float, *, keep: str) -> tuple[str, ...]:
    """Remove kept images, the one used longest ago first, until the rest is small enough; returns their keys.

    Args:
        most_gb: What they may take together beyond their bases, in GB (10**9 bytes).
        keep: A key that stays whatever its size.
    """
    with speaking("list its images"):
        rows = [row for row in client.images(name=KEPT) if row["RepoTags"]]
        sizes = {_key(row): _own_size(client, row) for row in rows}
    removed: list[str] = []
    total = sum(sizes.values())
    for row in sorted(rows, key=_last_used):
        key = _key(row)
        if total <= most_gb * 1e9:
            break
        if key != keep and sizes[key] > 0 and _remove(client, key):
            total -= sizes[key]
            removed.append(key)
    return tuple(removed)


def _own_size(client: APIClient, row: dict[str, Any]) -> int:
    from docker.errors import ImageNotFound

    try:
        below = client.inspect_image((row["Labels"] or {}).get(BASE, ""))  # type: ignore[no-untyped-call]
    except (ImageNotFound, ValueError):
        return int(row["Size"])
    return int(row["Size"]) - int(below["Size"])


def _remove(client: APIClient, key: str) -> bool:
    """Remove a kept image and the layers on top of it; not one that a container uses now."""
    from docker.errors import APIError

    with speaking("remove an image"):
        parent = client.inspect_image(name(key))["Id"]  # type: ignore[no-untyped-call]
        above = client.images(filters={"label": f"{boximage.PARENT}={parent}"}, quiet=True)
        try:
            for image in [*above, name(key)]:
                client.remove_image(image)
        except APIError as problem:
            if problem.status_code == 409:
                return False
            raise
    (_records() / key).unlink(missing_ok=True)
    return True


def _key(row: dict[str, Any]) -> str:
    return str(row["RepoTags"][0]).rpartition(":")[2]


def _last_used(row: dict[str, Any]) -> float:
    """Return when an image was used last, in seconds; when it was made, where another machine or user used it."""
    try:
        return (_records() / _key(row)).stat().st_mtime
    except OSError:
        return float(row["Created"])


def _records() -> Path:
    place = settings.cache_directory() / "images"
    place.mkdir(parents=True, exist_ok=True)
    return place
