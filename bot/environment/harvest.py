"""Runs in an environment's own Python after an installation; it is sent as text to a container.

    python harvest.py TREE ADDITIONS ROOT...

Prints, as JSON, what is installed and what the project that was built from TREE says about itself, and gives its modules
back to the tree (see `settle`).
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import platform
import shutil
import sys
from pathlib import Path

LINK = "testforge-tree.pth"
DEEPEST = 100
"""Directories within each other that a module may lie in."""


def main(tree: str, additions: str, roots: list[str]) -> None:
    """Do what the text above says."""
    found = list(importlib.metadata.distributions())
    own = None
    for each in found:
        origin = each.read_text("direct_url.json")
        if origin and json.loads(origin).get("url") == f"file://{tree}":
            own = each
    copies = settle(own, Path(tree), Path(additions), roots, tree) if own is not None else []
    print(  # noqa: T201
        json.dumps(
            {
                "version": platform.python_version(),
                "packages": {each.metadata["Name"]: each.version for each in found if each.metadata["Name"]},
                "metadata": own.read_text("METADATA") if own is not None else None,
                "copies": copies,
            }
        )
    )


def settle(
    own: importlib.metadata.Distribution, tree: Path, additions: Path, roots: list[str], inside: str
) -> list[str]:
    """Make an installed project an editable one, whatever its build backend: its modules are those of the tree.

    What was installed of them is removed, so that no module is found that the tree does not have (any more); what the build
    made and the tree lacks (compiled modules, a version file) is copied to `additions`, each at its own place; and the
    tree's directories are put on the search path.

    Args:
        roots: Directories of the tree from which modules are imported.
        inside: The tree's path as code sees it later.

    Returns:
        Names of packages and modules that are no part of the tree under their names, and stay as copies.
    """
    copies: set[str] = set()
    homes: set[str] = set()
    site = Path(str(own.locate_file(""))).resolve()
    for file in own.files or ():
        top = file.parts[0]
        source = Path(str(file.locate()))
        ours = len(file.parts) < DEEPEST and _lies_in(source, site)
        if top.endswith((".dist-info", ".data", ".pth")) or not ours:
            continue
        home = next((root for root in roots if (tree / root / top).exists()), None)
        if home is None:
            if source.suffix == ".py" and not top.startswith("__editable__"):
                copies.add(top)
            continue
        homes.add(home)
        if not (tree / home / file).exists() and "__pycache__" not in file.parts:
            target = additions / home / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
        source.unlink()
        _remove_empty(source.parent, len(file.parts) - 1)
    if homes:
        link = site / LINK
        if link.is_symlink():
            link.unlink()
        link.write_text("".join(f"{inside}/{home}\n" for home in sorted(homes)))
    return sorted(copies)


def _lies_in(file: Path, site: Path) -> bool:
    """Tell whether a file is one of the packages' directory: the list of them was written by the code's own build."""
    return file.is_file() and not file.is_symlink() and site in file.parent.resolve().joinpath("x").parents


def _remove_empty(directory: Path, levels: int) -> None:
    """Remove a directory that holds nothing but compiled modules any more, and those above it, so many levels."""
    for _ in range(levels):
        shutil.rmtree(directory / "__pycache__", ignore_errors=True)
        with contextlib.suppress(OSError):
            directory.rmdir()
        directory = directory.parent


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
