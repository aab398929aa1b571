"""The engine's workshop: the job, the results, and how a child is started for a mutant or for the control."""

from __future__ import annotations

import json
import mmap
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from .children import Fate, adopt_orphans, contain, watch
from .letterbox import Sender
from .loading import real_path
from .plan import Case, Plan
from .trial import Trial, silence

PASSES, FAILS = 1, 2
_SOON = 0.5
_MUTANT = "mutant.json"
Begin = Callable[[Trial], None]
"""What a new child does with its tests; it may return, see `GoOnError`."""
Enter = Callable[[Optional[Case]], Begin]
"""Prepares, in the process that forks, what puts a mutant in place (None: the original)."""


class GoOnError(BaseException):
    """Raised in a child that is to go on with the pytest session it was forked from."""


class Results:
    """Where all processes of the engine post their results, those that run tests excepted (`clerk.py`)."""

    def __init__(self, address: str) -> None:
        self._post = Sender(address).post
        self._dumps = json.dumps
        self._waiting: list[bytes] = []
        self._posted = time.monotonic()

    def write(self, **row: Any) -> None:
        """Post a row now, and the verdicts that wait."""
        self._waiting.append(self._dumps(row).encode("ascii") + b"\n")
        self.flush()

    def verdict(self, case: Case, outcome: str, killer: Optional[int] = None) -> None:
        """Post a verdict soon; each letter costs a good part of what a mutant does."""
        row = {"mutant": case.number, "outcome": outcome, "test": killer}
        self._waiting.append(self._dumps(row).encode("ascii") + b"\n")
        if time.monotonic() > self._posted + _SOON:
            self.flush()

    def flush(self) -> None:
        """Post what waits."""
        letter = b"".join(self._waiting)
        self._waiting.clear()
        self._posted = time.monotonic()
        if letter:
            self._post(letter)


class Shop:
    """What all processes of the engine share.

    Attributes:
        room: A directory for the engine's own files, below the job's scratch directory.
        path: The target's real path.
        spawning: Whether tests may start other Pythons, which are to find the mutant.
        alone: By place of a test, shared by all processes: whether it passes when nothing has run before it; 0 where
            that is not known, otherwise `PASSES` or `FAILS`.
    """

    def __init__(self, job: Mapping[str, Any], plan: Plan, results: Results) -> None:
        self.job = job
        self.plan = plan
        self.results = results
        self.path = real_path(job["path"])
        self.room = os.path.join(job["scratch"], "engine")
        self.spawning = bool(job["spawning"])
        self.alone = mmap.mmap(-1, max(1, len(job["tests"])))
        os.makedirs(self.room)

    def file(self, name: str) -> str:
        """Return the path of one of the engine's own files."""
        return os.path.join(self.room, name)

    def mutated(self, case: Optional[Case]) -> str:
        """Return the target's text with a mutant in it (None: the original)."""
        source: str = self.job["source"]
        if case is None:
            return source
        start, end, text = case.splice
        return source[:start] + text + source[end:]

    def names(self, tests: Sequence[int]) -> list[str]:
        """Return the node ids of tests."""
        return [self.job["tests"][test] for test in tests]

    def start(
        self,
        case: Optional[Case],
        tests: Sequence[int],
        cpu_seconds: Sequence[float],
        enter: Enter,
        journal: str = "",
    ) -> tuple[int, int, str]:
        """Fork a child for some tests: its process id, the pipe to read from, and its directory.

        Args:
            case: Its mutant; None is the original.
            tests: Places in the job's list, in the order to run.
            cpu_seconds: CPU limit of each.
            enter: What puts the mutant in place.
            journal: As for `Trial`.

        Raises:
            GoOnError: In the child, once what `enter` gave has returned.
            CannotSwapError: Before there is a child.
        """
        begin = enter(case)
        reader, writer = os.pipe()
        place = self.file(f"{os.getpid()}-{'null' if case is None else case.number}-{len(tests)}")
        pid = os.fork()
        if pid:
            os.close(writer)
            return pid, reader, place
        os.close(reader)
        os.setsid()
        os.mkdir(place)
        if self.spawning:
            self._equip_subprocesses(case, place)
        begin(Trial(writer, self.names(tests), list(cpu_seconds), place, journal))
        raise GoOnError

    def _equip_subprocesses(self, case: Optional[Case], place: str) -> None:
        """Let the Python processes that tests start find the mutant, see `mutated/sitecustomize.py`."""
        file = os.path.join(place, _MUTANT)
        with open(file, "w", encoding="utf-8") as stream:
            json.dump({"path": self.path, "source": self.mutated(case)}, stream)
        os.environ["TESTFORGE_MUTANT"] = file
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutated")
        paths = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), here]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))

    def follow(
        self, started: tuple[int, int, str], wall_seconds: Sequence[float], start_seconds: float
    ) -> Fate:
        """Watch a child to its end, and remove what it leaves."""
        pid, pipe, place = started
        fate = watch(pid, pipe, wall_seconds, start_seconds)
        remove(place)
        return fate


def become_a_worker() -> None:
    """In a process that will start children: set once what each of them inherits."""
    adopt_orphans()
    contain()
    silence()


def start_afresh(shop: Shop, case: Optional[Case], trial: Trial) -> None:
    """In a new child: run the same tests in a new Python, for suites that a fork would break."""
    job = {key: shop.job[key] for key in ("tree", "scratch", "path", "tests", "source")}
    job["source"] = shop.mutated(case)
    job["fresh"] = trial.as_dict()
    file = os.path.join(trial.place, "job.json")
    with open(file, "w", encoding="utf-8") as stream:
        json.dump(job, stream)
    os.set_inheritable(trial.pipe, True)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "anew.py")
    os.execv(sys.executable, [sys.executable, script, file])


def remove(place: str) -> None:
    """Delete a child's directory, which is empty more often than not."""
    try:
        os.rmdir(place)
    except FileNotFoundError:
        return
    except OSError:
        shutil.rmtree(place, ignore_errors=True)
