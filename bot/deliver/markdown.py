"""Markdown for GitHub that shows text of a repository or a model as it is: nobody is mentioned, nothing is injected."""

from __future__ import annotations

import re

from bot.deliver.wording import clean

_RUN = re.compile(r"`+")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$^=:-])")
_LINKS = re.compile(r"(?<=[@#])(?=\w)|(?<=://)|(?<=\bwww\.)|(?<=GH-)(?=\d)", re.IGNORECASE)
_BAR = re.compile(r"((?<!\\)(?:\\\\)*)\|")
_ZERO_WIDTH = "\u200b"
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def code(text: str, most: int = 120) -> str:
    """Return text as an inline code span on one line, its end left out if it is long."""
    shown = clean(text).replace("\r", " ").strip()
    if len(shown) > most:
        shown = f"{shown[: most - 3]}..."
    if not shown:
        return "` `"
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str, most: int = 120) -> str:
    """Return text as an inline code span inside a table, where a bar would end the cell."""
    return in_cell(code(text, most))


def in_cell(markdown: str) -> str:
    """Return Markdown on one line as it may stand in a table: no bar of it ends the cell."""
    return _BAR.sub(r"\1\\|", markdown)


def plain(text: str, most: int = 600) -> str:
    """Return text as prose on one line that Markdown changes nothing in, with no mention, link or reference."""
    shown = clean(text).replace("\r", " ").strip()
    if len(shown) > most:
        shown = f"{shown[: most - 3]}..."
    return _SPECIAL.sub(r"\\\1", _LINKS.sub(_ZERO_WIDTH, shown))


def fenced(text: str, language: str = "") -> str:
    """Return text as a fenced block that its own fences cannot end."""
    fence = fence_for(text)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def fence_for(text: str) -> str:
    """Return a fence of backticks that is longer than any run of them in a text."""
    return "`" * max(3, _longest_run(text) + 1)


def fold(summary: str, content: str) -> str:
    """Return content that is shown on a click; `summary` and `content` are Markdown already."""
    # GitHub reads Markdown inside `<details>` after an empty line; in `<summary>` it does not, so that is HTML.
    return f"<details><summary>{summary}</summary>\n\n{content}\n\n</details>"


def html(text: str) -> str:
    """Return text of ours or a repository's for the inside of an HTML element, such as `<summary>`."""
    shown = _LINKS.sub(_ZERO_WIDTH, clean(text).replace("\r", " "))
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def printable(text: str) -> bool:
    """Whether a comment carries a text unchanged: no control characters but tabs, nothing that turns its direction."""
    return _is_utf8(text) and _CONTROL.search(text) is None


def sendable(text: str) -> bool:
    """Whether a text can be sent at all: a patch of a file in another encoding cannot."""
    return "\0" not in text and _is_utf8(text)


def length(text: str) -> int:
    """Return how long GitHub counts a text: in UTF-16 units, which is never less than in characters."""
    return len(text) + sum(character > "\uffff" for character in text)


def _is_utf8(text: str) -> bool:
    """Whether a text holds no lone surrogates, which stand for bytes that are not UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUN.findall(text)), default=0)
