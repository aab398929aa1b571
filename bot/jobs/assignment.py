"""What a run's own process is told to do, and what it gives back: files of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bot.github.wishes import Wish

AGAIN = 75
"""The exit code of a process whose sandbox broke, so that another one may come further."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One run for one process.

    Attributes:
        run: The run's id.
        head: The commit to review.
        budget_usd: What the models may cost; None is no limit.
        directory: An empty directory for the clone and the result; whoever assigns removes it.
        is_last: There will be no other try, so what was found counts, however little it is.
        parent: The process id of whoever assigns; without it, there is nobody to work for.
    """

    run: str
    wish: Wish
    head: str
    budget_usd: float | None
    directory: str
    parent: int
    is_last: bool = False

    @property
    def result(self) -> Path:
        """The file that the result is written to."""
        return Path(self.directory, "result.json")

    def save(self) -> Path:
        """Write it to a file in its directory, and return which."""
        path = Path(self.directory, "assignment.json")
        path.write_text(json.dumps({**asdict(self), "wish": self.wish.as_json()}), "utf-8")
        return path

    @classmethod
    def load(cls, path: Path) -> Assignment:
        """Return the assignment that `save` wrote."""
        data = json.loads(path.read_text("utf-8"))
        return cls(**{**data, "wish": Wish.from_json(data["wish"])})


@dataclass(frozen=True, slots=True)
class Result:
    """What a run found.

    Attributes:
        report: Schema 1.
        review: As `bot.deliver.review` gives it; None where there is nothing to post.
        tests, suites: What to remember for later pushes, as `Remembered` and `RememberedSuite`.
        askings: What can be asked about the changed functions, as `Asking`; None if that was not looked into.
        failure: Why there is no report, as a sentence; empty if there is one.
        is_broken: A sandbox broke under the run.
        passing: The failure may not happen again, such as GitHub's not answering.
    """

    report: dict[str, Any] = field(default_factory=dict)
    review: dict[str, Any] | None = None
    tests: list[dict[str, Any]] = field(default_factory=list)
    suites: list[dict[str, Any]] = field(default_factory=list)
    askings: list[dict[str, Any]] | None = None
    cost_usd: float = 0.0
    is_broken: bool = False
    failure: str = ""
    passing: bool = False

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        half = path.with_suffix(".half")
        half.write_text(json.dumps(asdict(self)), "utf-8")
        half.replace(path)

    @classmethod
    def load(cls, path: Path) -> Result | None:
        """Return what a process found; None if it did not come so far."""
        try:
            return cls(**json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None
