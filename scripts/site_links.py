"""A hook of mkdocs: links that leave docs/ for a file of the repository lead to that file on GitHub."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

REPOSITORY = "https://github.com/testforge/testforge/blob/main/"
ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"(?<=\]\()(?P<path>\.\./[^)#\s]+)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return a page's text with such links rewritten. Links to files that do not exist stay, so that the build fails."""

    def outward(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), link["path"]))
        return link["path"] if path.startswith("docs/") or not (ROOT / path).exists() else REPOSITORY + path

    return _LINK.sub(outward, markdown)
