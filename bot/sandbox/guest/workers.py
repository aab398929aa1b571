"""Worker processes: each judges chunks of mutants, one mutant after the other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from .children import Fate
from .control import Baseline
from .plan import Case, History, chunks
from .shop import FAILS, PASSES, Enter, Shop, become_a_worker
from .swapping import CannotSwapError

REFUSED = "refused"
"""The file that lists mutants whose function could not be exchanged."""
_TOKEN = 8
_BEYOND_DOUBT = 20
_SLOW_SECONDS = 1.0  # such tests come last, whatever they have killed
_OUTCOMES = {"passed": "survived", "failed": "killed", "timeout": "timeout"}


@dataclass
class Workers:
    """Judges cases in one way (`enter`), against what the same tests did without a mutant.

    Attributes:
        start_seconds: Wall limit of a child before its first test.
    """

    shop: Shop
    enter: Enter
    baseline: Baseline
    start_seconds: float

    def judge(self, cases: Sequence[Case]) -> None:
        """Judge cases, in as many processes as the job allows.

        Raises:
            GoOnError: In a child, see `Shop.start`.
        """
        parts = chunks(cases)
        reader, writer = os.pipe()
        workers = []
        for _ in range(min(self.shop.job["workers"], len(parts))):
            pid = os.fork()
            if pid == 0:
                os.close(writer)
                become_a_worker()
                while True:
                    token = os.read(reader, _TOKEN)
                    if not token:
                        os._exit(0)
                    self._chunk(parts[int(token)])
            workers.append(pid)
        os.close(reader)
        for number in range(len(parts)):
            os.write(writer, str(number).encode("ascii").rjust(_TOKEN))
        os.close(writer)
        for pid in workers:
            os.waitpid(pid, 0)

    def _chunk(self, part: Sequence[Case]) -> None:
        history = History()
        for case in part:
            killer = self._judge(case, history)
            if killer is not None:
                history.add(killer)
        self.shop.results.flush()

    def _judge(self, case: Case, history: History) -> Optional[int]:
        """Judge one mutant, write its verdict, and return the test that killed it."""
        # Nobody knows what runs in the processes that a test starts: it may be anything.
        reaching = dict.fromkeys([*case.tests, *sorted(self.baseline.spawning - case.without)])
        tests = history.order([test for test in reaching if test in self.baseline.cpu])
        tests.sort(key=self._is_slow)
        while tests:
            try:
                fate = self._run(case, tests)
            except (CannotSwapError, SyntaxError, ValueError, RecursionError, MemoryError):
                with open(self.shop.file(REFUSED), "a", encoding="ascii") as file:
                    file.write(f"{case.number}\n")
                return None
            if fate.word == "passed" or fate.position > 0:
                self.shop.alone[tests[0]] = PASSES
            if fate.word == "passed":
                break
            sequence = tests[: max(0, fate.position) + 1]
            killer = sequence[-1]
            if fate.word == "timeout" and not (fate.computed and self._is_brief(killer)):
                sequence = [killer]
                fate = self._once_more(case, killer)
            if fate.word == "timeout" or (
                fate.word == "failed" and (fate.position < 0 or self._is_sound(sequence))
            ):
                self.shop.results.verdict(case, _OUTCOMES[fate.word], killer)
                return killer
            tests.remove(killer)
        self.shop.results.verdict(case, "survived")
        return None

    def _is_sound(self, tests: Sequence[int]) -> bool:
        """Whether the last of some tests, which failed after the others, owes that to the mutant.

        It does if it passes alone and in whatever order without one; if not, just this sequence is tried.
        """
        killer, alone = tests[-1], self.shop.alone
        if not alone[killer]:
            alone[killer] = PASSES if self._run(None, [killer]).word == "passed" else FAILS
        if alone[killer] == PASSES and (len(tests) == 1 or killer not in self.baseline.fragile):
            return True
        return len(tests) > 1 and self._run(None, tests).word == "passed"

    def _once_more(self, case: Case, test: int) -> Fate:
        """Run a test that exceeded its limit again, alone and with twice the time: the machine may have been busy."""
        started = self.shop.start(case, [test], [2 * self.baseline.cpu_limit(test)], self.enter)
        return self.shop.follow(started, [2 * self.baseline.wall_limit(test)], 2 * self.start_seconds)

    def _is_brief(self, test: int) -> bool:
        """Whether a test's limit is so many times what it takes that no busy machine accounts for it."""
        return self.baseline.cpu_limit(test) >= _BEYOND_DOUBT * self.baseline.cpu[test]

    def _is_slow(self, test: int) -> bool:
        return self.baseline.cpu[test] >= _SLOW_SECONDS

    def _run(self, case: Optional[Case], tests: Sequence[int]) -> Fate:
        started = self.shop.start(case, tests, [self.baseline.cpu_limit(test) for test in tests], self.enter)
        return self.shop.follow(
            started, [self.baseline.wall_limit(test) for test in tests], self.start_seconds
        )
