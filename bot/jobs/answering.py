"""The last word on a run: the check run's conclusion and, where somebody asked by a comment, the answer."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, cast

from bot.deliver.review import Review
from bot.github import answers, checks, pulls
from bot.github.faults import NotThereError
from bot.github.wishes import Wish
from bot.jobs.office import Office

_CONCLUSIONS: Mapping[str, checks.Conclusion] = {
    "failed": "neutral",
    "cancelled": "cancelled",
    "superseded": "cancelled",
    "skipped": "skipped",
}


def conclude(office: Office, run: str, wish: Wish, end: Mapping[str, Any]) -> None:
    """Say how a run ended wherever that is waited for; where the pull request is gone, nobody waits.

    Raises:
        GitHubError: GitHub does not take it.
    """
    known = office.store.runs.get(run)
    check = (known.check_run if known else None) or 0
    with (
        contextlib.suppress(NotThereError),
        office.app.connect(wish.installation, wish.repository) as hub,
    ):
        if end["state"] == "done":
            data = office.store.runs.review(run)
            assert data is not None
            built = Review.from_json(data)
            conclusion = cast("checks.Conclusion", built.conclusion)
            checks.finish(hub, check, conclusion, built.summary, title=built.title)
            # A review is an answer; where there was nothing to review with, who asked is told so.
            answer = "" if built.body else f"{built.title}."
        else:
            if not check and end.get("told"):
                check = checks.start(hub, pulls.read(hub, wish.number), run=run)
            checks.finish(hub, check, _CONCLUSIONS[end["state"]], end["reason"])
            answer = end["reason"]
        if wish.comment is not None and answer:
            answers.answer(hub, pulls.read(hub, wish.number), wish, answer)
