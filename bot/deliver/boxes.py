"""The check boxes of the sticky comment: drawn, and read back. Each stands for a command."""

from __future__ import annotations

import re

BOXES = {
    "review": "Review again",
    "apply": "Commit the proposed tests to this branch",
    "pr": "Open a pull request with the proposed tests into this branch",
}
"""The boxes there are, by the command that each stands for (`review` is a bare `/testforge`)."""

_BOX = re.compile(r"^- \[([ xX])\] <!-- testforge:box=([a-z]+) -->", re.MULTILINE)


def draw(name: str) -> str:
    """Return the line of Markdown for one box, not ticked."""
    return f"- [ ] <!-- testforge:box={name} --> {BOXES[name]}"


def ticked(body: str) -> frozenset[str]:
    """Return the names of the boxes that are ticked in a comment."""
    return frozenset(name for mark, name in _BOX.findall(body) if mark != " " and name in BOXES)


def unticked(body: str) -> str:
    """Return a comment with no box ticked."""
    return _BOX.sub(lambda match: f"- [ ] <!-- testforge:box={match[2]} -->", body)
