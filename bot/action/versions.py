"""`python -m bot.action.versions`: the versions of Python whose sandbox images a step needs, one a line."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from bot.errors import TestforgeError

DEFAULT = "3.12"
_ASKED = re.compile(r"""^\s*(?:requires-python|python)\s*[=:]\s*["']?[^0-9"']*(3\.\d+)""", re.MULTILINE)
_KNOWN = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def versions(root: Path) -> tuple[str, ...]:
    """Return the default version, and the one that the checkout asks for if there is a checkout that does."""
    from bot.repoconfig import PATH

    asked: list[str] = []
    for name in (PATH, ".python-version", "pyproject.toml"):
        try:
            text = (root / name).read_text("utf-8", errors="replace")[:100_000]
        except OSError:
            continue
        found = _ASKED.search(text) if name != ".python-version" else re.match(r"\s*(3\.\d+)", text)
        if found:
            asked.append(found[1])
    return tuple(dict.fromkeys(version for version in (*asked[:1], DEFAULT) if version in _KNOWN))


if __name__ == "__main__":
    try:
        sys.stdout.write("\n".join(versions(Path(os.environ.get("GITHUB_WORKSPACE") or "."))) + "\n")
    except TestforgeError as error:
        sys.exit(error.message)
