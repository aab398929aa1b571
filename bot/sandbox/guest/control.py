"""The control: the chosen tests without any mutant, through the same doors as the mutants, before any of these."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .children import watch
from .session import Collected
from .trial import Trial

TEST_SECONDS = 60.0
_RESTARTS = 5


@dataclass
class Baseline:
    """What tests did without a mutant, by their place in the job's list.

    Attributes:
        cpu, wall: Seconds of the tests that passed; the others are missing.
        red: The tests that did not pass.
    """

    cpu: dict[int, float] = field(default_factory=dict)
    wall: dict[int, float] = field(default_factory=dict)
    red: set[int] = field(default_factory=set)

    def cpu_limit(self, test: int) -> float:
        """Return the CPU seconds that a mutant may take in a test."""
        return 0.5 + 10 * self.cpu[test]

    def wall_limit(self, test: int) -> float:
        """Return the wall seconds that a mutant may take in a test without computing."""
        return 2.0 + 10 * self.wall[test]

    def as_json(self) -> str:
        return json.dumps(
            {"cpu": list(self.cpu.items()), "wall": list(self.wall.items()), "red": sorted(self.red)}
        )

    @classmethod
    def from_json(cls, text: str) -> Baseline:
        data = json.loads(text)
        return cls(dict(data["cpu"]), dict(data["wall"]), set(data["red"]))


def measure(tests: Sequence[int], start: Callable[[list[int]], tuple[int, int]], journal: str) -> Baseline:
    """Run tests in a child, in this order, all of them whatever they do; a test that ends its process is left out.

    Args:
        tests: Places in the job's list.
        start: Starts a child that runs `follow` on tests; returns its process id and the pipe to read from.
        journal: The file that the child writes to.
    """
    baseline = Baseline()
    waiting = list(tests)
    for _ in range(_RESTARTS):
        fate = watch(*start(waiting), [TEST_SECONDS] * len(waiting))
        _read(journal, baseline)
        if fate.word == "passed" or fate.position < 0:
            break
        waiting = waiting[fate.position + 1 :]
        if not waiting:
            break
    baseline.red = set(tests) - set(baseline.cpu)
    return baseline


def follow(trial: Trial, tests: Sequence[int], collected: Collected, journal: str) -> None:
    """In the child: run tests, write what each did, and end this process."""
    trial.settle_in(collected.session.config)
    work = [(at, collected.by_id[test]) for at, test in enumerate(trial.tests) if test in collected.by_id]
    with open(journal, "a", encoding="utf-8") as file:
        for index, (at, item) in enumerate(work):
            trial.say(str(at))
            signal.setitimer(signal.ITIMER_PROF, TEST_SECONDS)
            cpu, wall = _cpu(), time.monotonic()
            following = work[index + 1][1] if index + 1 < len(work) else None
            try:
                failed = any(report.failed for report in collected.run(item, following))
            except BaseException:  # as in a trial
                failed = True
            row = {"test": tests[at], "failed": failed, "cpu": _cpu() - cpu, "wall": time.monotonic() - wall}
            file.write(json.dumps(row) + "\n")
            file.flush()
    trial.end("passed")


def _read(journal: str, baseline: Baseline) -> None:
    if not os.path.exists(journal):
        return
    with open(journal, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if not row["failed"]:
                baseline.cpu[row["test"]] = row["cpu"]
                baseline.wall[row["test"]] = row["wall"]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
