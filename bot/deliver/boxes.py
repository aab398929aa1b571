"""The check boxes of the bot's own comments: drawn, and read back. Each stands for a command."""

from __future__ import annotations

import re

BOXES = {
    "review": "Review again",
    "apply": "Commit the proposed tests to this branch",
    "pr": "Open a pull request with the proposed tests into this branch",
}
"""The boxes there are, by the command that each stands for (`review` is a bare `/testforge`)."""

ANSWERS = {
    "yes": "Yes",
    "no": "No",
    "undefined": "It does not matter, or should not be called so",
}
"""The boxes below a question, by the command that each stands for; its argument is the question, such as `Q1`."""

_BOX = re.compile(r"^- \[([ xX])\] <!-- testforge:box=([a-z]+(?:-Q[0-9]{1,4})?) -->", re.MULTILINE)


def draw(name: str) -> str:
    """Return the line of Markdown for one box, not ticked."""
    return f"- [ ] <!-- testforge:box={name} --> {BOXES[name]}"


def draw_answers(question: str) -> str:
    """Return the boxes for the answers to a question, such as `Q1`, not ticked."""
    return "\n".join(
        f"- [ ] <!-- testforge:box={name}-{question} --> {text}" for name, text in ANSWERS.items()
    )


def ticked(body: str) -> frozenset[str]:
    """Return the names of the boxes that are ticked in a comment, such as `apply` or `yes-Q1`."""
    return frozenset(name for mark, name in _BOX.findall(body) if mark != " " and _is_known(name))


def _is_known(name: str) -> bool:
    word, _, question = name.partition("-")
    return word in ANSWERS if question else name in BOXES


def unticked(body: str) -> str:
    """Return a comment with no box ticked."""
    return _BOX.sub(lambda match: f"- [ ] <!-- testforge:box={match[2]} -->", body)
