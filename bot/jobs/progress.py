"""A run's progress, told to whoever waits: the check run on GitHub, now and then, and the run's page, often."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Any

from bot.errors import GitHubError
from bot.github import checks
from bot.github.hub import Hub
from bot.store.runs import Runs

CHECK_EVERY_S = 15.0
"""GitHub allows few writes a minute, and the review has to be posted too."""
PAGE_EVERY_S = 1.0

_NAMES = {
    "clone": "Cloning",
    "changes": "Reading the change",
    "environment": "Installing the dependencies",
    "baseline": "Running the existing tests",
    "seed": "Writing tests",
    "refine": "Improving the tests",
    "select": "Choosing the tests that prove something",
    "measure": "Measuring",
}


class Reporter:
    """Takes a run's lines of progress as they come.

    Args:
        check: The check run's id; 0 if there is none.
        told: What the check run says all along, such as what the run may cost.
    """

    def __init__(self, runs: Runs, run: str, hub: Hub, check: int, told: str = "") -> None:
        self._runs = runs
        self._run = run
        self._hub = hub
        self._check = check
        self._told = told
        self._files: dict[str, str] = {}
        self._stages = 0
        self._checked = self._paged = float("-inf")

    def __call__(self, progress: Mapping[str, Any]) -> None:
        """Take one line of progress."""
        stage, state = str(progress.get("stage", "")), str(progress.get("state", ""))
        target, text = str(progress.get("target", "")), str(progress.get("text", ""))
        if state == "done":
            self._stages += 1
        if target:
            self._files[target] = "done" if (stage, state) == ("select", "done") else "begun"
        line = ": ".join(filter(None, [_NAMES.get(stage, stage), " ".join(filter(None, [target, text]))]))
        now = time.monotonic()
        if now - self._paged >= PAGE_EVERY_S:
            self._paged = now
            self._runs.update(self._run, stage=line[:500])
        if self._check and now - self._checked >= CHECK_EVERY_S:
            self._checked = now
            with contextlib.suppress(GitHubError):  # a courtesy; the run is more important
                checks.update(self._hub, self._check, line, self._counts(), told=self._told)

    def _counts(self) -> dict[str, int]:
        finished = sum(state == "done" for state in self._files.values())
        return {"files begun": len(self._files), "files finished": finished, "stages done": self._stages}
