"""System packages as a layer of their own between a sandbox image and an environment: installed by root, in a container."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bot import settings
from bot.environment import images, installer
from bot.environment.images import Base
from bot.environment.room import most_bytes, written
from bot.errors import InstallationError
from bot.sandbox import Limits, engine
from bot.sandbox.engine import speaking
from bot.sandbox.hardening import USER, installation_settings

if TYPE_CHECKING:
    from docker import APIClient

FORMAT = "packages-1"
RIGHTS = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID")
"""What apt and dpkg need to own files and to fetch as a lesser user; no other right of root is given."""

_SCRIPT = (
    'export DEBIAN_FRONTEND=noninteractive; command -v apt-get >/dev/null || { echo "there is no apt-get"; exit 1; }; '
    'apt-get update -qq && apt-get install -y -qq --no-install-recommends -- "$@" && apt-get clean && '
    "rm -rf /var/lib/apt/lists/*"
)
_LAST_LINES = 20


def obtain(client: APIClient, start: Base, packages: Sequence[str], note: Callable[[str], None]) -> Base:
    """Return an image with Debian packages on top of another one, made now or by an earlier run.

    Raises:
        InstallationError: They cannot be installed.
    """
    if not packages:
        return start
    named = hashlib.sha256("\0".join((FORMAT, start.id, *packages)).encode()).hexdigest()[:32]
    key = f"packages-{named}"
    with images.locked(key, note):
        if images.facts(client, key) is None:
            note(f"Installing {', '.join(packages)} with apt-get.")
            _make(client, start, packages, key)
        with speaking("look at an image"):
            about: dict[str, Any] = client.inspect_image(images.name(key))  # type: ignore[no-untyped-call]
    return Base(images.name(key), str(about["Id"]), start.python, start.version)


def _make(client: APIClient, start: Base, packages: Sequence[str], key: str) -> None:
    shown = f"apt-get install {' '.join(packages)}"
    options = installation_settings(
        Limits(disk=256 * 1024**2), cpus=2.0, network=settings.load().sandbox_network
    ) | {"cap_add": list(RIGHTS), "log_config": {"type": "json-file", "config": {"max-size": "1m"}}}
    with speaking("install system packages"):
        made = client.create_container(
            start.image,
            entrypoint=["/bin/sh", "-c", _SCRIPT, "apt-get"],
            command=list(packages),
            user="0:0",
            working_dir="/",
            labels=engine.labels(),
            host_config=client.create_host_config(**options),
        )
        container = str(made["Id"])
        try:
            client.start(container)
            code = _wait(client, container)
            told = client.logs(container, tail=_LAST_LINES).decode(errors="replace").strip()
            if code != 0:
                reason = (
                    "it did not end in time" if code is None else (told.splitlines() or ["it failed"])[-1]
                )
                raise InstallationError(
                    f"System packages could not be installed: `{shown}` failed: {reason.rstrip('.')}. See to the names "
                    "in `environment.setup` of .github/testforge.yml.",
                    told,
                )
            written(client, container, most_bytes(), shown)
            repository, _, tag = images.name(key).partition(":")
            marks = [
                f"LABEL {name}={value}" for name, value in sorted(images.marks({"notes": []}, start).items())
            ]
            changes = [*marks, f"USER {USER}", "ENTRYPOINT []", "CMD []"]
            client.commit(container, repository=repository, tag=tag, changes=changes)
        finally:
            with contextlib.suppress(Exception):
                engine.remove(client, container)


def _wait(client: APIClient, container: str) -> int | None:
    """Return the exit code of a container; None if it takes too long."""
    import requests

    try:
        return int(client.wait(container, timeout=int(installer.STEP_S))["StatusCode"])
    except (requests.exceptions.ReadTimeout, requests.exceptions.ConnectionError):
        return None
