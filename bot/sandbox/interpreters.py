"""Which directories of the host an interpreter needs, and where its own commands are."""

from __future__ import annotations

import functools
import os
from pathlib import Path

MOST_LINKS = 40


def bin_directory(command: str) -> str | None:
    """Return a virtual environment's own directory of commands, if both `python` and `python3` are in it.

    A link to its python from elsewhere would lose the environment: python finds it by the link's place.
    """
    directory = Path(command).parent
    if not (directory.parent / "pyvenv.cfg").is_file():
        return None
    if all((directory / name).exists() for name in ("python", "python3")):
        return str(directory)
    return None


@functools.cache
def needed_directories(command: str) -> tuple[str, ...]:
    """Return the directories that an interpreter lives in: its environment's, and each that its links lead through."""
    path = Path.cwd() / command
    found = [str(_prefix(Path(home) / "python")) for home in _base(path)]
    for _ in range(MOST_LINKS):
        found.append(str(_prefix(path)))
        link = _first_link(path)
        if link is None:
            break
        where, leads_to = link
        found.append(str(_prefix(where)))
        path = Path(os.path.normpath(where.parent / leads_to / path.relative_to(where)))
    return tuple(
        sorted({name for name in found if not name.startswith(("/usr/", "/bin", "/lib", "/opt/"))} - {"/usr"})
    )


def _base(executable: Path) -> list[str]:
    """Return the directory of the Python that a virtual environment was made from, where it says so."""
    try:
        lines = (executable.parent.parent / "pyvenv.cfg").read_text().splitlines()
    except (OSError, ValueError):
        return []
    return [
        value.strip() for key, _, value in (line.partition("=") for line in lines) if key.strip() == "home"
    ]


def _prefix(executable: Path) -> Path:
    """Return the installation an executable belongs to; only its directory where that would show too much."""
    directory = executable.parent
    home = Path.home().resolve()
    prefix = directory.parent
    if directory.name != "bin" or prefix in (home, *home.parents):
        return directory
    return prefix


def _first_link(path: Path) -> tuple[Path, str] | None:
    """Return the first part of a path that is a link, and where it leads."""
    for part in (*reversed(path.parents), path):
        if part.is_symlink():
            return part, str(part.readlink())
    return None
