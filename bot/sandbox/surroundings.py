"""What commands meet in any sandbox: their environment, and what of a tree is never listed."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence

SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")
NOT_LISTED = frozenset(
    {
        *("__pycache__", ".git", ".hg", ".svn", ".tox", ".nox"),
        *(".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"),
    }
)


def variables(
    tree: str, scratch: str, *, roots: Sequence[str], programs: Sequence[str], startup: Sequence[str] = ()
) -> dict[str, str]:
    """Return the whole environment of a command, the same in every run.

    Args:
        tree, scratch: As commands see them.
        roots: Directories of the tree to import from, relative to it.
        programs: Directories to look for programs in, before the system's.
        startup: More directories to import from, after those.
    """
    own = [posixpath.normpath(f"{tree}/{root}") for root in roots]
    return {
        "PATH": os.pathsep.join((*programs, *SYSTEM_PATH)),
        "PYTHONPATH": os.pathsep.join((*own, *startup)),
        "HOME": f"{scratch}/home",
        "TMPDIR": f"{scratch}/tmp",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }
