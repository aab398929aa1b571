"""How much room an installation takes: watched while it runs, so that it cannot fill the disk."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bot import settings
from bot.errors import InstallationError, SandboxError
from bot.sandbox import engine
from bot.sandbox.diskroom import DiskRoom
from bot.sandbox.engine import speaking

if TYPE_CHECKING:
    from docker import APIClient

LOOK_S = 10.0
"""How often a container is looked at, in seconds."""


def most_bytes() -> int:
    """Return what one environment may take, in bytes: as much as all that are kept together."""
    return int(settings.load().sandbox_images_gb * 1e9)


@contextlib.contextmanager
def watched(where: engine.Engine, container: str, most: int) -> Iterator[None]:
    """End a container that writes more than `most` bytes into its own layer while the context is open.

    Raises:
        InstallationError: It did.
    """
    over = threading.Event()
    done = threading.Event()

    def look() -> None:
        with contextlib.closing(where.client()) as client:
            while not done.wait(LOOK_S):
                with contextlib.suppress(SandboxError), speaking("tell a container's size"):
                    if _size(client, container) > most:
                        over.set()
                        engine.remove(client, container)
                        return

    thread = threading.Thread(target=look, name="room", daemon=True)
    thread.start()
    try:
        yield
    except SandboxError:
        if over.is_set():  # the container is gone, and with it whoever was to answer
            raise too_much("The installation", most) from None
        raise
    finally:
        done.set()
        thread.join()


def written(client: APIClient, container: str, most: int, shown: str) -> None:
    """Look once at what a container has written into its own layer.

    Raises:
        InstallationError: It is more than `most` bytes.
    """
    with speaking("tell a container's size"):
        if _size(client, container) > most:
            raise too_much(f"`{shown}`", most)


def check_directory(directory: Path, most: int) -> None:
    """Look once at what a directory takes on the disk, files with several names counted once.

    Raises:
        InstallationError: It is more than `most` bytes.
    """
    if DiskRoom(0.0, most, 0, [str(directory)]).taken() > most:
        raise too_much("The installation", most)


def _size(client: APIClient, container: str) -> int:
    rows = client.containers(all=True, size=True, filters={"id": container})
    return int(rows[0].get("SizeRw") or 0) if rows else 0


def too_much(what: str, most: int) -> InstallationError:
    """Return the error that ends an installation which takes more than `most` bytes."""
    return InstallationError(
        f"{what} took more than {most / 1e9:g} GB of disk, so it was ended. Have less installed for the tests, or allow "
        "more with TESTFORGE_SANDBOX_IMAGES_GB."
    )
