"""Runs in an environment's own Python after an installation; it is sent as text, never imported.

    python harvest.py TREE ADDITIONS ROOT...

Prints, as JSON, what is installed and what the project that was built from TREE says about itself, and copies the files
that its build made and the tree lacks (compiled modules, a version file) to ADDITIONS, each at its own place.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shutil
import sys
from pathlib import Path


def main(tree: str, additions: str, roots: list[str]) -> None:
    """Do what the text above says."""
    found = list(importlib.metadata.distributions())
    own = None
    for each in found:
        origin = each.read_text("direct_url.json")
        if origin and json.loads(origin).get("url") == f"file://{tree}":
            own = each
    if own is not None:
        keep_built_files(own, Path(tree), Path(additions), roots)
    print(  # noqa: T201
        json.dumps(
            {
                "version": platform.python_version(),
                "packages": {each.metadata["Name"]: each.version for each in found if each.metadata["Name"]},
                "metadata": own.read_text("METADATA") if own is not None else None,
            }
        )
    )


def keep_built_files(
    own: importlib.metadata.Distribution, tree: Path, additions: Path, roots: list[str]
) -> None:
    """Copy what the build made and the tree lacks."""
    for file in own.files or ():
        top = file.parts[0]
        if ".." in file.parts or top.endswith((".dist-info", ".data")) or "__pycache__" in file.parts:
            continue
        home = next((root for root in roots if (tree / root / top).is_dir()), None)
        source = Path(str(file.locate()))
        if home is not None and not (tree / home / file).exists() and source.is_file():
            target = additions / home / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
