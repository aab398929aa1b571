"""What a child does with its mutant: the chosen tests, one by one, until one fails."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .session import Collected, use_own_temporary_directory


@dataclass(frozen=True)
class Trial:
    """The tests of one child.

    Attributes:
        pipe: Where to say which test begins (its position) and how it ended (`passed`, `failed`, or another word).
        tests: Node ids in the order to run.
        cpu_seconds: CPU limit of each.
        place: A directory that does not exist yet, for the child's temporary files.
    """

    pipe: int
    tests: Sequence[str]
    cpu_seconds: Sequence[float]
    place: str

    def run(self, collected: Collected) -> None:
        """Run the tests and end this process."""
        self.settle_in(collected.session.config)
        work = [
            (position, item) for position, test in enumerate(self.tests) for item in _items(collected, test)
        ]
        missing = [p for p, test in enumerate(self.tests) if _file(test) in collected.errors]
        if missing:
            self.end("failed", missing[0])
        for at, (position, item) in enumerate(work):
            self.say(str(position))
            signal.setitimer(signal.ITIMER_PROF, self.cpu_seconds[position])
            following = work[at + 1][1] if at + 1 < len(work) else None
            try:
                failed = any(report.failed for report in collected.run(item, following))
            except (
                BaseException
            ):  # pytest.exit, KeyboardInterrupt: the session would have ended with an error
                failed = True
            signal.setitimer(signal.ITIMER_PROF, 0)
            if failed:
                self.end("failed")
        self.end("passed")

    def settle_in(self, config: Any) -> None:
        """Give this child its own temporary directories."""
        os.mkdir(self.place)
        tempfile.tempdir = os.environ["TMPDIR"] = self.place
        use_own_temporary_directory(config, os.path.join(self.place, "pytest"))

    def say(self, word: str) -> None:
        os.write(self.pipe, word.encode("ascii") + b"\n")

    def end(self, word: str, position: int = -1) -> None:
        """Say the last word, at a position if one is given, and leave without any clean-up."""
        self.say(word if position < 0 else f"{position}\n{word}")
        os._exit(0)


def _items(collected: Collected, test: str) -> list[Any]:
    """Return a test's item; if the mutant has renamed its case, the cases of its function that are new."""
    item = collected.by_id.get(test)
    if item is not None:
        return [item]
    function = test.partition("[")[0] + "["
    return (
        [item for name, item in collected.by_id.items() if name.startswith(function)] if "[" in test else []
    )


def _file(test: str) -> str:
    return test.partition("::")[0]


def silence() -> None:
    """Send this process's output to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
