"""How much of the disk the files of a sandbox take; the keeper loads it, too.

What is free is asked of the file system, which costs nothing: when more has gone than the sandbox may take, its own files
are counted, since others write to the disk as well. They are now and then anyway, since others delete, too.
"""

# pathlib and contextlib would cost more to import than all the rest (pyproject lets ruff allow it).

from __future__ import annotations

import os
import stat
import time

LOOK_S = 10.0
SHARE = 0.02
"""How much of the time counting may take."""


class DiskRoom:
    """Tells when directories of a sandbox hold too much.

    Args:
        since: When the sandbox was opened, in seconds: older files are not its own.
        most: What its files may take together, in bytes.
        free: What was free when it was opened, in bytes.
        places: The directories; the first one tells the file system.
    """

    def __init__(self, since: float, most: int, free: int, places: list[str]) -> None:
        self._since, self._most, self._places = since, most, places
        self._floor = free - most
        self._next = time.monotonic() + LOOK_S

    def is_over(self, pids: set[int]) -> bool:
        """Tell whether there is too much now; files without a name that processes hold open count, too."""
        began = time.monotonic()
        if free(self._places[0]) >= self._floor and began < self._next:
            return False
        taken = self.taken(pids)
        now = time.monotonic()
        self._next = now + max(LOOK_S, (now - began) / SHARE)
        # What others have taken is theirs: the next look is when as much more has gone as is still allowed.
        self._floor = free(self._places[0]) - max(self._most - taken, 0)
        return taken > self._most

    def taken(self, pids: frozenset[int] | set[int] = frozenset()) -> int:
        """Return the bytes that its files take; files with several names count once."""
        seen: dict[tuple[int, int], int] = {}
        waiting = list(self._places)
        while waiting:
            try:
                entries = list(os.scandir(waiting.pop()))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                return self._most + 1  # closed, or too deep to look at: who hides that much has no excuse
            for entry in entries:
                try:
                    about = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISDIR(about.st_mode):
                    waiting.append(entry.path)
                if about.st_ctime >= self._since:
                    seen[about.st_dev, about.st_ino] = about.st_blocks * 512
        for pid in pids:
            for about in _nameless(pid):
                seen[about.st_dev, about.st_ino] = about.st_blocks * 512
        return sum(seen.values())


def free(place: str) -> int:
    """Return how many bytes of the file system of a directory are free."""
    about = os.statvfs(place)
    return about.f_bavail * about.f_frsize


def _nameless(pid: int) -> list[os.stat_result]:
    """Return the files that a process holds open and that have no name any more."""
    found = []
    place = f"/proc/{pid}/fd/"
    try:
        for name in os.listdir(place):
            about = os.stat(place + name)
            if stat.S_ISREG(about.st_mode) and not about.st_nlink:
                found.append(about)
    except OSError:
        pass  # it has ended, or is not ours to look at
    return found
