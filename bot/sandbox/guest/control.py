"""The control: the chosen tests without any mutant, through the same doors as the mutants, before any of these."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Optional

from .shop import Enter, Shop, become_a_worker

TEST_SECONDS = 60.0
START_SECONDS = 120.0
_RESTARTS = 5
_KEPT = "baseline"
_OBSERVING = 3  # times as long as otherwise, or so


@dataclass
class Baseline:
    """What tests did without a mutant, by their place in the job's list.

    Attributes:
        cpu, wall: Seconds of the tests that passed; the others are missing.
        fragile: Tests that did not pass when all ran in the opposite order.
        spawning: Tests that started other processes.
        start: CPU seconds before the first test.
        imported: Modules that the tests imported.
        observed: Whether the tests were observed and all of them passed.
    """

    cpu: dict[int, float] = field(default_factory=dict)
    wall: dict[int, float] = field(default_factory=dict)
    fragile: set[int] = field(default_factory=set)
    spawning: set[int] = field(default_factory=set)
    start: float = 0.0
    imported: tuple[str, ...] = ()
    observed: bool = False

    def cpu_limit(self, test: int) -> float:
        """Return the CPU seconds that a mutant may take in a test."""
        return 0.5 + 10 * self.cpu[test]

    def wall_limit(self, test: int) -> float:
        """Return the wall seconds that a mutant may take in a test without computing."""
        return 2.0 + 10 * self.wall[test]

    def add(self, other: Baseline) -> None:
        """Take over what another control has found out of tests that this one has not run."""
        for test in set(other.cpu) - set(self.cpu):
            self.cpu[test], self.wall[test] = other.cpu[test], other.wall[test]
        self.fragile |= other.fragile
        self.spawning |= other.spawning

    def take_off_what_observing_costs(self, other: Baseline) -> None:
        """Correct the seconds of an observed run by those of another, in which tests may have had it easier."""
        for mine, others in ((self.cpu, other.cpu), (self.wall, other.wall)):
            for test, seconds in mine.items():
                mine[test] = max(seconds / _OBSERVING, others.get(test, seconds))

    @property
    def start_limit(self) -> float:
        """The CPU seconds that a mutant may take before the first test."""
        return 2.0 + 10 * self.start


def keep(baseline: Baseline, shop: Shop, lost: Iterable[int]) -> None:
    """Leave a baseline, and the tests that did not pass, for another process of the engine."""
    sets = [sorted(each) for each in (lost, baseline.fragile, baseline.spawning)]
    with open(shop.file(_KEPT), "w", encoding="ascii") as file:
        json.dump([*sets, baseline.cpu, baseline.wall], file)


def kept(shop: Shop) -> tuple[Baseline, frozenset[int]]:
    """Return what another process has left; an empty baseline if none has."""
    path = shop.file(_KEPT)
    if not os.path.exists(path):
        return Baseline(), frozenset()
    with open(path, encoding="ascii") as file:
        lost, fragile, spawning, *seconds = json.load(file)
    cpu, wall = ({int(test): value for test, value in each.items()} for each in seconds)
    return Baseline(cpu, wall, set(fragile), set(spawning)), frozenset(lost)


def take(
    shop: Shop, tests: Sequence[int], enter: Enter, name: str, observe: Optional[Enter] = None
) -> Baseline:
    """Run tests in their order and, at the same time, in the opposite one; each order in a child.

    All are run, whatever they do; a test that ends its process or exceeds a generous limit counts as failed.

    Args:
        tests: Places in the job's list.
        name: Tells the files of this control from those of another.
        observe: What to use for the run in their order in place of `enter`: it does the same and looks at what the tests
            do, which must not change what becomes of them. Where it does, that run is made anew.

    Raises:
        GoOnError: In a child, see `Shop.start`.
    """
    backwards = list(reversed(tests))
    forward, backward = _results(
        shop, {f"{name}-forward": (tests, observe or enter), f"{name}-backward": (backwards, enter)}
    )
    if observe is not None and len(forward.cpu) == len(tests):
        forward.observed = True
        forward.take_off_what_observing_costs(backward)
    elif observe is not None:
        # Whether that is the observer's doing, or the tests', this shows.
        [forward] = _results(shop, {f"{name}-again": (tests, enter)})
    forward.fragile = set(forward.cpu) - set(backward.cpu)
    forward.spawning |= backward.spawning
    return forward


def _results(shop: Shop, runs: Mapping[str, tuple[Sequence[int], Enter]]) -> list[Baseline]:
    """Run tests at the same time in several processes, by the names of their journals."""
    helpers = []
    for journal, (tests, enter) in runs.items():
        pid = os.fork()
        if pid == 0:
            # Not here: a watcher takes all children of its process for the remains of its own.
            become_a_worker()
            _run(shop, list(tests), enter, shop.file(journal))
            os._exit(0)
        helpers.append(pid)
    for pid in helpers:
        os.waitpid(pid, 0)
    return [_read(shop.file(journal)) for journal in runs]


def _run(shop: Shop, tests: list[int], enter: Enter, journal: str) -> None:
    for _ in range(_RESTARTS):
        if not tests:
            return
        part = f"{journal}.part"
        started = shop.start(None, tests, [TEST_SECONDS] * len(tests), enter, part)
        fate = shop.follow(started, [TEST_SECONDS] * len(tests), START_SECONDS)
        _append(part, tests, journal)
        if fate.word == "passed" or fate.position < 0:
            return
        tests = tests[fate.position + 1 :]


def _append(part: str, tests: Sequence[int], journal: str) -> None:
    """Move a child's lines to the journal, with the tests' places in the job's list."""
    if not os.path.exists(part):
        return
    with open(part, encoding="ascii") as file:
        rows = [json.loads(line) for line in file if line.endswith("\n")]
    os.remove(part)
    with open(journal, "a", encoding="ascii") as file:
        for row in rows:
            if "position" in row:
                row["test"] = tests[row.pop("position")]
            file.write(json.dumps(row) + "\n")


def _read(journal: str) -> Baseline:
    baseline = Baseline()
    if not os.path.exists(journal):
        return baseline
    with open(journal, encoding="ascii") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        if "start" in row:
            baseline.start = max(baseline.start, row["start"])
        elif "imported" in row:
            baseline.imported = tuple(row["imported"])
        elif not row["failed"]:
            baseline.cpu[row["test"]], baseline.wall[row["test"]] = row["cpu"], row["wall"]
            if row["spawns"]:
                baseline.spawning.add(row["test"])
    return baseline
