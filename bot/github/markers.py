"""Hidden marks in what the bot posts, by which it finds its own again. They stand at the very beginning, where no code can."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

_RUN = re.compile(r"\A<!-- testforge:run=([A-Za-z0-9_.:-]{1,80}) head=([0-9a-f]{40,64}) -->")
_ANSWER = re.compile(r"\A<!-- testforge:answer=([A-Za-z0-9_.:-]{1,80}) -->")
STICKY = "<!-- testforge:sticky -->"
QUESTIONS = "<!-- testforge:questions -->"
_LONGEST = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9_.:-]")


@dataclass(frozen=True, slots=True)
class RunMark:
    """Of which run and head commit a review is."""

    run: str
    head: str

    def __str__(self) -> str:
        return f"<!-- testforge:run={name(self.run)} head={self.head} -->"


def name(text: str) -> str:
    """Return an id as it may stand in a mark; what is too long keeps its beginning and is told apart by a digest."""
    plain = _UNSAFE.sub("-", text)
    return plain if len(plain) <= _LONGEST else f"{plain[:60]}-{digest(text, 16)}"


def digest(text: str, length: int) -> str:
    """Return so many hexadecimal digits that stand for a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def run_mark(body: str) -> RunMark | None:
    """Return the mark of a review; None if it has none."""
    match = _RUN.match(body)
    return RunMark(match[1], match[2]) if match else None


def answer_mark(delivery: str) -> str:
    """Return the mark of the one answer to a delivery."""
    return f"<!-- testforge:answer={name(delivery)} -->"


def is_answer(body: str, delivery: str) -> bool:
    """Whether a comment is the answer to a delivery."""
    match = _ANSWER.match(body)
    return match is not None and match[1] == name(delivery)


def is_sticky(body: str) -> bool:
    """Whether a comment is the summary that is edited from run to run."""
    return body.startswith(STICKY)


def is_on_questions(body: str) -> bool:
    """Whether a comment is the one that asks the author."""
    return body.startswith(QUESTIONS)
