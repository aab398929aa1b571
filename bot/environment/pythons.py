"""Finding a Python on this machine that a project can run on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from bot.errors import InstallationError

OLDEST = SpecifierSet(">=3.9", prereleases=True)
"""What pytest and coverage still support, and so what testforge's own part inside the sandbox runs on."""

SEARCH_S = 60


@dataclass(frozen=True, slots=True)
class Python:
    """An interpreter outside any virtual environment and its full version, such as `3.11.7`."""

    command: str
    version: str


def accepts(version: str, requires: str, pinned: str | None) -> bool:
    """Tell whether a version is what the configuration pins, or else what the project requires, and one we run on."""
    return version in _wanted(requires, pinned) and version in OLDEST


def find(requires: str, pinned: str | None) -> Python:
    """Return the running Python if it will do, otherwise another one that is already on this machine.

    Args:
        requires: The project's `requires-python`; what cannot be read as specifiers counts as none.
        pinned: `environment.python` of the configuration; it wins.

    Raises:
        InstallationError: There is none.
    """
    running = platform.python_version()
    if accepts(running, requires, pinned):
        return Python(os.path.realpath(getattr(sys, "_base_executable", sys.executable)), running)
    wanted = SpecifierSet(f"{_wanted(requires, pinned)},{OLDEST}")
    command = _search(str(wanted))
    version = _version(command) if command else ""
    if not version:
        raise InstallationError(
            f"The project needs Python {pinned or requires or OLDEST}, and none that is also 3.9 or newer, as testforge needs, "
            f"is on this machine (testforge itself runs on {running}). "
            "Install one, for example with `uv python install`, or set `environment.python` in .github/testforge.yml."
        )
    return Python(command, version)


def _wanted(requires: str, pinned: str | None) -> SpecifierSet:
    try:
        return SpecifierSet(f"=={pinned}.*" if pinned else requires, prereleases=True)
    except InvalidSpecifier:
        return SpecifierSet(prereleases=True)


def _search(wanted: str) -> str:
    """Return the path of a Python that uv finds; empty if it finds none. Never downloads one."""
    from uv import find_uv_bin

    # pyenv keeps its versions where nothing looks for them unless one is activated.
    kept = sorted(Path.home().glob(".pyenv/versions/3.*/bin"), key=_numbers, reverse=True)
    done = subprocess.run(
        [
            *(
                find_uv_bin(),
                "python",
                "find",
                "--no-project",
                "--no-config",
                "--no-python-downloads",
                "--system",
            ),
            wanted,
        ],
        env={**os.environ, "PATH": os.pathsep.join([*map(str, kept), os.environ.get("PATH", os.defpath)])},
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SEARCH_S,
        check=False,
    )
    return os.path.realpath(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else ""


def _numbers(directory: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", directory.parent.name)]


def _version(command: str) -> str:
    done = subprocess.run(
        [command, "-I", "-c", "import platform; print(platform.python_version())"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SEARCH_S,
        check=False,
    )
    return done.stdout.strip()
