"""What an installation left in an environment: what is in it, the project's own metadata, and files that commands made."""

from __future__ import annotations

import contextlib
import csv
import importlib.metadata
import json
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bot.environment.naming import is_for_tests

READ = ("METADATA", "RECORD", "direct_url.json")
"""The files about a distribution that are read."""
LARGEST = 16 * 1024**2
"""Of such a file, in bytes."""


def packages(environment: Path) -> dict[str, str]:
    """Return the versions of what is installed in an environment, by canonical name."""
    return {canonicalize_name(each.metadata["Name"]): each.version for each in _distributions(environment)}


def project(environment: Path, tree: str) -> importlib.metadata.Distribution | None:
    """Return the distribution that was built from `tree`; None if it is not installed."""
    for found in _distributions(environment):
        with contextlib.suppress(ValueError, AttributeError, RecursionError):
            origin = found.read_text("direct_url.json")
            if origin and json.loads(origin).get("url") == f"file://{tree}":
                return found
    return None


def test_extras(distribution: importlib.metadata.Distribution, markers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the requirements of a distribution's extras for tests, as an environment with these markers needs them."""
    own = canonicalize_name(distribution.metadata["Name"])
    wanted = [extra for extra in distribution.metadata.get_all("Provides-Extra", []) if is_for_tests(extra)]
    lines: list[str] = []
    for extra in wanted:  # grows while it is walked: an extra may name another one of the same project
        for line in distribution.metadata.get_all("Requires-Dist", []):
            try:
                need = Requirement(line)
            except InvalidRequirement:
                continue
            plain = {"extra": "", **markers}
            if (
                need.marker is None
                or need.marker.evaluate(plain)
                or not need.marker.evaluate({**plain, "extra": extra})
            ):
                continue
            if canonicalize_name(need.name) == own:
                wanted += sorted(need.extras - set(wanted))
            else:
                need.marker = None
                lines.append(str(need))
    return tuple(dict.fromkeys(lines))


test_extras.__test__ = False  # type: ignore[attr-defined]


def keep_new_files(before: Iterable[str], after: Iterable[str], tree: Path, additions: Path) -> None:
    """Copy the files of a tree that were not there before to `additions`."""
    for name in sorted(set(after) - set(before)):
        _keep(tree / name, additions / name)


def _keep(source: Path, target: Path) -> None:
    if source.is_file() and not source.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _distributions(environment: Path) -> Iterator[importlib.metadata.Distribution]:
    """Yield what is installed, as far as it can be read: the installation may have put anything in a file's place."""
    for home in sorted(_site(environment).glob("*.dist-info")):
        if not home.is_symlink() and all(_can_be_read(home / name) for name in READ):
            found = importlib.metadata.Distribution.at(home)
            with contextlib.suppress(ValueError, TypeError, LookupError, RecursionError, csv.Error, OSError):
                if found.metadata["Name"] and found.version and found.files is not None:
                    yield found


def _can_be_read(path: Path) -> bool:
    """Tell whether a file is missing, or a regular one of a size that makes sense: reading a pipe would never end."""
    try:
        about = path.lstat()
    except OSError:
        return True
    return stat.S_ISREG(about.st_mode) and about.st_size <= LARGEST


def _site(environment: Path) -> Path:
    found = sorted(environment.glob("lib/python*/site-packages"))
    # The installation may have put a link there that leads elsewhere on this machine.
    inside = [path for path in found if path.resolve().is_relative_to(environment.resolve())]
    return next(iter(inside), environment)
