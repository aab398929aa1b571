"""What a child does: the chosen tests, one by one, until one fails; or all of them, for the control."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .session import Collected, use_own_temporary_directory

_SPAWNING = frozenset(["subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.fork", "os.forkpty"])


@dataclass(frozen=True)
class Trial:
    """The tests of one child.

    Attributes:
        pipe: Where to say which test begins (its position) and how it ended (`passed`, `failed`, or another word).
        tests: Node ids in the order to run.
        cpu_seconds: CPU limit of each.
        place: A directory for the child's temporary files.
        journal: For the control: a file that gets a line for each test (`position`, `failed`, `cpu`, `wall`, and
            `spawns` if it started a process), after one with the seconds it took to come so far (`start`) and before
            one with the modules that were imported (`imported`). No failure then ends the trial.
    """

    pipe: int
    tests: Sequence[str]
    cpu_seconds: Sequence[float]
    place: str
    journal: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for another Python."""
        return asdict(self)

    def run(self, collected: Collected) -> None:
        """Run the tests and end this process."""
        watcher = _Watcher(self.journal) if self.journal else None
        self._settle_in(collected.session.config)
        broken = [place for place, test in enumerate(self.tests) if _file(test) in collected.errors]
        if broken:
            self.end("failed", broken[0])
        work = [
            (position, item) for position, test in enumerate(self.tests) for item in _items(collected, test)
        ]
        for at, (position, item) in enumerate(work):
            self.say(str(position))
            following = work[at + 1][1] if at + 1 < len(work) else None
            if watcher is not None:
                watcher.begin()
            failed = self._fails(collected, item, following, self.cpu_seconds[position])
            if watcher is not None:
                watcher.end(position, failed)
            elif failed:
                self.end("failed")
        if watcher is not None:
            watcher.leave()
        self.end("passed")

    def _fails(self, collected: Collected, item: Any, following: Any, cpu_seconds: float) -> bool:
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
        try:
            return any(report.failed for report in collected.run(item, following))
        except BaseException:
            # pytest.exit, KeyboardInterrupt: the session would have ended with an error.
            return True
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _settle_in(self, config: Any) -> None:
        """Give this child its own temporary directories."""
        tempfile.tempdir = os.environ["TMPDIR"] = self.place
        use_own_temporary_directory(config, os.path.join(self.place, "pytest"))

    def say(self, word: str) -> None:
        """Say a word to whoever watches."""
        os.write(self.pipe, word.encode("ascii") + b"\n")

    def end(self, word: str, position: int = -1) -> None:
        """Say the last word, at a position if one is given, and leave without any clean-up."""
        self.say(word if position < 0 else f"{position}\n{word}")
        os._exit(0)


class _Watcher:
    """Writes what tests use, in the control."""

    def __init__(self, journal: str) -> None:
        self._file = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._cpu = self._wall = 0.0
        self._spawned = False
        self._modules = frozenset(sys.modules)
        sys.addaudithook(self._hear)
        self._write(start=_cpu())

    def begin(self) -> None:
        self._spawned, self._cpu, self._wall = False, _cpu(), time.monotonic()

    def end(self, position: int, failed: bool) -> None:
        wall = time.monotonic() - self._wall
        self._write(position=position, failed=failed, cpu=_cpu() - self._cpu, wall=wall, spawns=self._spawned)

    def leave(self) -> None:
        """Write which modules the tests have imported."""
        self._write(imported=sorted(frozenset(sys.modules) - self._modules))

    def _hear(self, event: str, _: object) -> None:
        if event in _SPAWNING:
            self._spawned = True

    def _write(self, **row: Any) -> None:
        os.write(self._file, json.dumps(row).encode("ascii") + b"\n")


def silence() -> None:
    """Send this process's output to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def spare_explanations(items: Sequence[Any]) -> None:
    """Let failures explain nothing: nobody reads it, and it costs more than most tests."""
    for item in items:
        item.repr_failure = item._repr_failure_py = _no_explanation
    try:
        from _pytest.assertion import rewrite

        rewrite._call_reprcompare = _first_explanation
    except (ImportError, AttributeError):
        return


def _no_explanation(*_: object, **__: object) -> str:
    return "failed"


def _first_explanation(_: object, __: object, explanations: Sequence[str], *___: object) -> str:
    return explanations[0] if explanations else ""


def _items(collected: Collected, test: str) -> list[Any]:
    """Return a test's item; if the mutant has renamed its case, the cases that its function has now."""
    item = collected.by_id.get(test)
    if item is not None:
        return [item]
    function = test.partition("[")[0] + "["
    return (
        [item for name, item in collected.by_id.items() if name.startswith(function)] if "[" in test else []
    )


def _file(test: str) -> str:
    return test.partition("::")[0]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
