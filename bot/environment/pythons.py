"""The Pythons on this machine, and the one among them that a repository's code runs on."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from packaging.markers import default_environment

from bot.environment import python_choice
from bot.environment.python_choice import OLDEST, Choice, Wish
from bot.errors import InstallationError

SEARCH_S = 60


@dataclass(frozen=True, slots=True)
class Python:
    """An interpreter outside any virtual environment and its full version, such as `3.11.7`."""

    command: str
    version: str


def find(wish: Wish) -> tuple[Python, Choice]:
    """Return the running Python if it will do, otherwise another one that is already on this machine.

    Raises:
        InstallationError: There is none.
    """
    running = platform.python_version()
    near = python_choice.minor(running)
    if wish.accepts(running) and wish.preferred in ("", near):
        own = Python(os.path.realpath(getattr(sys, "_base_executable", sys.executable)), running)
        found = python_choice.choose(wish, [running])
        assert found is not None
        return own, found
    there = {python.version: python for python in installed()}
    chosen = python_choice.choose(wish, list(there), usual=near)
    if chosen is None:
        wanted = wish.requires if wish.required_by != python_choice.CONFIGURED else wish.requires[2:-2]
        versions = dict.fromkeys(python_choice.minor(version) for version in there)
        raise InstallationError(
            f"The project needs Python {wanted or OLDEST}, and none that is also 3.9 or newer, as testforge needs, "
            f"is on this machine (there is {', '.join(versions) or running}). "
            "Install one, for example with `uv python install`, or set `environment.python` in .github/testforge.yml."
        )
    return there[chosen.version], chosen


def installed() -> Iterator[Python]:
    """Yield the Pythons that uv finds, the newest first; it never downloads one."""
    from uv import find_uv_bin

    # pyenv keeps its versions where nothing looks for them unless one is activated.
    kept = sorted(Path.home().glob(".pyenv/versions/3.*/bin"), key=_numbers, reverse=True)
    # Its shims are scripts that start whichever Python a directory's settings name, and take their time for it.
    path = [
        place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(place).name != "shims"
    ]
    options = ["--only-installed", "--all-versions", "--no-config", "--no-python-downloads"]
    done = subprocess.run(
        [find_uv_bin(), "python", "list", *options, "--output-format", "json"],
        env={**os.environ, "PATH": os.pathsep.join([*map(str, kept), *path])},
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SEARCH_S,
        check=False,
    )
    try:
        rows: list[dict[str, Any]] = json.loads(done.stdout)
    except ValueError:
        return
    for row in rows:
        if row.get("implementation") == "cpython":
            yield Python(os.path.realpath(row["path"]), str(row["version"]))


def markers(version: str, *, linux: bool = False) -> Mapping[str, str]:
    """Return the values of markers for a version of Python, on this machine or (`linux`) in a container on it."""
    found = dict(cast("Mapping[str, str]", default_environment()))
    if linux:
        found |= {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"}
    return found | {
        "implementation_name": "cpython",
        "implementation_version": version,
        "platform_python_implementation": "CPython",
        "python_full_version": version,
        "python_version": python_choice.minor(version),
    }


def _numbers(directory: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", directory.parent.name)]
