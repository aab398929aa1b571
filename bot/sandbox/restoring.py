"""Putting files back that code in a sandbox has deleted: a test that clears its directory must not decide for the next."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bot.sandbox import clearing


class Restorer:
    """Knows what a sandbox's tree was given, and where to get it again.

    What code inside changes or adds is its own affair; what it deletes is there again for the next command.

    Args:
        tree: The tree, on this host.
    """

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._origins: dict[str, Path] = {}
        self._written: dict[str, bytes] = {}

    def copied_from(self, *sources: Path) -> None:
        """Note that the tree was just copied from these directories; of a file in several, the first one counts."""
        for name in clearing.files(str(self._tree)):
            found = next((source for source in sources if (source / name).is_file()), None)
            if found is not None:
                self._origins[name] = found / name

    def written(self, path: str, content: bytes) -> None:
        """Note that a file of the tree was written from outside."""
        self._written[path] = content

    def removed(self, path: str) -> None:
        """Note that a file or a directory of the tree was removed from outside, and is to stay away."""
        for known in (self._origins, self._written):
            for name in [name for name in known if path in ("", ".") or f"{name}/".startswith(f"{path}/")]:
                del known[name]

    def restore(self) -> None:
        """Put back what is missing. Raises OSError if that cannot be done."""
        for name in (*self._origins, *self._written):
            target = self._tree / name
            if os.path.lexists(target) or not _make_way(self._tree, target.parent):
                continue
            if name in self._written:
                target.write_bytes(self._written[name])
            else:
                shutil.copy2(self._origins[name], target)
                target.chmod(target.stat().st_mode | 0o600)


def _make_way(tree: Path, directory: Path) -> bool:
    """Make a directory and those above it, and tell whether it is one: never through a link that code has planted."""
    place = tree
    for part in directory.relative_to(tree).parts:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            return False
        place.mkdir(exist_ok=True)
    return True
