"""The last word on a run: the check run's conclusion and, where somebody asked by a comment, the answer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from bot.deliver.review import Review
from bot.github import answers, checks, pulls
from bot.github.faults import RefusedError
from bot.github.wishes import Wish
from bot.jobs.office import Office

_CONCLUSIONS: Mapping[str, checks.Conclusion] = {
    "asked": "success",
    "failed": "neutral",
    "cancelled": "cancelled",
    "superseded": "cancelled",
    "skipped": "skipped",
}


def conclude(office: Office, run: str, wish: Wish, end: Mapping[str, Any]) -> list[str]:
    """Say how a run ended wherever that is waited for.

    Returns:
        Why it could not be told in one place or the other: the pull request is gone, archived or locked.

    Raises:
        GitHubError: GitHub does not answer.
    """
    known = office.store.runs.get(run)
    check = (known.check_run if known else None) or 0
    word = _last_word(office, run, end)
    refusals: list[str] = []
    with office.app.connect(wish.installation, wish.repository) as hub:
        with _noted(refusals):
            if not check and end.get("told"):
                check = checks.start(hub, pulls.read(hub, wish.number), run=run)
            checks.finish(hub, check, word.conclusion, word.summary, title=word.title)
        if wish.comment is not None and word.answer:
            with _noted(refusals):
                answers.answer(hub, pulls.read(hub, wish.number), wish, word.answer)
    return refusals


@dataclass(frozen=True, slots=True)
class _Word:
    """How a run ended: for its check run, and for who asked (`answer` is empty where a review is answer enough)."""

    conclusion: checks.Conclusion
    summary: str
    title: str
    answer: str


def _last_word(office: Office, run: str, end: Mapping[str, Any]) -> _Word:
    if end["state"] != "done":
        return _Word(_CONCLUSIONS[end["state"]], end["reason"], "", end["reason"])
    data = office.store.runs.review(run)
    assert data is not None
    built = Review.from_json(data)
    # A review is an answer; where there was nothing to review with, who asked is told so.
    answer = "" if built.body else f"{built.title}."
    return _Word(cast("checks.Conclusion", built.conclusion), built.summary, built.title, answer)


@contextlib.contextmanager
def _noted(refusals: list[str]) -> Iterator[None]:
    """Note what GitHub refuses, so that the rest can still be told."""
    try:
        yield
    except RefusedError as error:
        refusals.append(error.message)
