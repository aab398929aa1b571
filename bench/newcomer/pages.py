"""What a reader types: the blocks of commands on the documentation's pages, and of the README, in their order."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.fences import fences

ROOT = Path(__file__).parents[2]


def block(page: str, *, holds: str) -> str:
    """Return the first block of shell commands on a page of `docs/` that holds a text.

    Raises:
        LookupError: The page has none, so it says something else than it did.
    """
    for fence in fences():
        if fence.page == page and fence.language == "sh" and holds in fence.text:
            return fence.text
    raise LookupError(f"docs/{page} has no block of commands with {holds!r}")


def readme_line(start: str) -> str:
    """Return the first line of the README's indented blocks that starts with a text, without its comment.

    Raises:
        LookupError: There is none.
    """
    for line in (ROOT / "README.md").read_text("utf-8").splitlines():
        if line.startswith(f"    {start}"):
            return re.sub(r"\s+#.*", "", line).strip()
    raise LookupError(f"README.md has no command that starts with {start!r}")
