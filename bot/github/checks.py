"""Progress as a check run: a courtesy, so where the App may not write checks, nothing is shown and nothing fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.github.faults import ForbiddenError, NotThereError, UnreachableError
from bot.github.hub import Hub
from bot.github.pulls import Pull

NAME = "testforge"
Conclusion = Literal["success", "neutral", "failure", "cancelled", "skipped", "timed_out", "action_required"]

_MOST_TEXT = 65_535  # characters of a summary
_MOST_ANNOTATIONS = 50  # a request; further requests add to them


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on lines of a file."""

    path: str
    first: int
    last: int
    message: str
    title: str = ""
    level: Literal["notice", "warning", "failure"] = "notice"

    def as_json(self) -> dict[str, Any]:
        """Return it as GitHub takes it."""
        data: dict[str, Any] = {
            "path": self.path,
            "start_line": self.first,
            "end_line": self.last,
            "annotation_level": self.level,
            "message": self.message[:60_000],
        }
        return {**data, "title": self.title[:255]} if self.title else data


def start(hub: Hub, pull: Pull, *, run: str = "", told: str = "") -> int:
    """Begin a check run on the head commit and return its id; 0 if the App may not.

    One that this run began before (and whose answer was lost) is taken up again.

    Args:
        told: More to say at the beginning, such as what the run may cost.
    """
    body: dict[str, Any] = {
        "name": NAME,
        "head_sha": pull.head,
        "status": "in_progress",
        "output": {"title": "Reading the change", "summary": f"testforge has begun. {told}".strip()},
    }
    if run:
        body["external_id"] = run
    try:
        known = _begun(hub, pull.head, run)
        if known:
            return known
        for _ in range(2):
            try:
                return int(hub.post("/check-runs", body)["id"])
            except UnreachableError:
                known = _begun(hub, pull.head, run)
                if known:
                    return known
    except (ForbiddenError, NotThereError):
        return 0
    raise UnreachableError("GitHub does not take the check run. Try again later.")


def _begun(hub: Hub, head: str, run: str) -> int:
    """Return the id of the check run that this run began earlier; 0 if there is none."""
    if not run:
        return 0
    listed = hub.pages(f"/commits/{head}/check-runs", "check_runs", check_name=NAME, filter="all")
    return max((int(check["id"]) for check in listed if check.get("external_id") == run), default=0)


def update(
    hub: Hub, check: int, stage: str, counts: Mapping[str, int] | None = None, *, told: str = ""
) -> None:
    """Say which stage a run has come to, with counts such as `{"tests kept": 3}`, and what was told at its beginning."""
    counted = ", ".join(f"{count} {name}" for name, count in (counts or {}).items())
    summary = f"{counted or stage}\n\n{told}".strip()
    _change(hub, check, {"status": "in_progress", "output": {"title": stage[:255], "summary": summary}})


def finish(
    hub: Hub,
    check: int,
    conclusion: Conclusion,
    summary: str,
    *,
    title: str = "",
    annotations: Sequence[Annotation] = (),
) -> None:
    """End a check run. `summary` is Markdown; its first line is the title if none is given."""
    title = title or next(iter(summary.splitlines()), conclusion)
    output = {"title": title[:255] or conclusion, "summary": summary[:_MOST_TEXT] or conclusion}
    batches = [
        annotations[at : at + _MOST_ANNOTATIONS] for at in range(0, len(annotations), _MOST_ANNOTATIONS)
    ]
    for batch in batches[:-1]:
        _change(hub, check, {"output": {**output, "annotations": [remark.as_json() for remark in batch]}})
    last: dict[str, Any] = {"annotations": [remark.as_json() for remark in batches[-1]]} if batches else {}
    _change(hub, check, {"status": "completed", "conclusion": conclusion, "output": {**output, **last}})


def _change(hub: Hub, check: int, body: Mapping[str, Any]) -> None:
    if check:
        hub.patch(f"/check-runs/{check}", body)
