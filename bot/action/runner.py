"""What a runner and its steps tell each other: outputs, the job's summary, annotations, and text that commands nothing."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_LARGEST_SUMMARY = 1024 * 1024 - 4096  # bytes; a larger one is refused as a whole

Level = Literal["notice", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Runner:
    """The runner's files. A path that is None, as outside of a workflow, takes nothing.

    Attributes:
        output, summary: The files `GITHUB_OUTPUT` and `GITHUB_STEP_SUMMARY`.
    """

    output: Path | None
    summary: Path | None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Runner:
        """Return the runner of a step's environment."""
        output, summary = (environment.get(name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"))
        return cls(Path(output) if output else None, Path(summary) if summary else None)

    def set(self, name: str, value: str) -> None:
        """Set an output. Its value may hold anything, line breaks and what looks like other outputs too."""
        if self.output is None:
            return
        mark = f"testforge-{secrets.token_hex(16)}"
        with self.output.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{name}<<{mark}\n{value}\n{mark}\n")

    def summarise(self, markdown: str) -> None:
        """Add Markdown to the job's summary, cut where the runner would refuse it."""
        if self.summary is None:
            return
        data = markdown.encode("utf-8", "backslashreplace")
        if len(data) > _LARGEST_SUMMARY:
            data = data[:_LARGEST_SUMMARY].decode("utf-8", "ignore").encode() + b"\n\n(cut here)\n"
        with self.summary.open("ab") as file:
            file.write(data + b"\n")


def annotate(level: Level, text: str, *, file: str = "", line: int | None = None) -> None:
    """Print an annotation, which the runner shows above the log and, with a file, in the diff."""
    place = ",".join(
        f"{name}={_property(str(value))}" for name, value in (("file", file), ("line", line)) if value
    )
    sys.stdout.write(f"::{level}{f' {place}' if place else ''}::{_data(text)}\n")
    sys.stdout.flush()


@contextmanager
def commands_stopped() -> Iterator[None]:
    """Let nothing that is printed meanwhile command the runner: what code of a repository says is only shown."""
    mark = secrets.token_hex(16)
    sys.stdout.write(f"::stop-commands::{mark}\n")
    sys.stdout.flush()
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout.write(f"::{mark}::\n")
        sys.stdout.flush()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
