"""Commands in comments: `/testforge ...` at the start of a line, said and not quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

NAMES = ("apply", "dismiss", "explain", "help", "intent", "no", "pr", "status", "stop", "undefined", "yes")
"""The commands there are, besides `/testforge` alone, which asks for a review."""

_MOST = 5  # of one comment are read
_WORDS = 40  # of one command are read
_COMMAND = re.compile(r"/testforge(?=\s|$)[ \t]*(.*)", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_UNFIT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
"""What no word holds, and what databases do not take."""
_LINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name in lower case (empty for a bare `/testforge`), and the words after it."""

    name: str
    arguments: tuple[str, ...] = ()


def parse(text: str) -> tuple[Command, ...]:
    """Return the commands of a comment, at most a few.

    Those that are quoted, indented, in a fenced block, in `<pre>` or in an HTML comment do not count: somebody talks
    about them, or hides them.
    """
    found: list[Command] = []
    for line in _said(text):
        match = _COMMAND.match(line)
        if match is None:
            continue
        words = _UNFIT.sub("", match[1]).split()[:_WORDS]
        found.append(Command(words[0].lower() if words else "", tuple(word[:200] for word in words[1:])))
        if len(found) == _MOST:
            break
    return tuple(found)


def _said(text: str) -> Iterator[str]:
    """Yield the lines that are neither in a fenced block nor in what HTML hides or shows as it is."""
    fence, hidden = "", ""
    for line in _LINE.split(text):
        if fence:
            closing = line.strip()
            if closing and set(closing) == {fence[0]} and len(closing) >= len(fence) and not _indented(line):
                fence = ""
            continue
        if hidden:
            _, ended, line = line.partition(hidden)
            if not ended:
                continue
            hidden = _opened(line)
            continue  # what follows on the line of the end does not start a line
        opening = _FENCE.match(line)
        if opening:
            fence = opening[1]
            continue
        yield line
        hidden = _opened(line)


def _indented(line: str) -> bool:
    """Whether a line stands so far in that it is code, or with a tab."""
    return line.startswith(("    ", "\t"))


def _opened(line: str) -> str:
    """Return what ends the HTML comment or `<pre>` that a line leaves open; empty if it leaves none open."""
    while True:
        match = re.search(r"<!--|<pre\b", line, re.IGNORECASE)
        if match is None:
            return ""
        end = "-->" if match[0] == "<!--" else "</pre>"
        _, ended, line = line[match.end() :].partition(end)
        if not ended:
            return end
