"""The first run of programs that people wrote: in processes of their own, since some change what others rely on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .judging import in_processes
from .outcomes import InvalidCaseError, Outcome
from .programs import Case
from .search import Search

MOST_PROGRAMS = 1500
_CANARIES = 5


class Trial:
    """Finds out which programs reach what was changed, and leaves out those after which others give something else."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.canaries: list[tuple[Case, Outcome]] = []

    def reaching(self, cases: Sequence[Case]) -> list[Case]:
        """Return the programs that reach what was changed and do no harm."""
        cases = cases[:MOST_PROGRAMS]
        tried = in_processes(cases, self._try, self.search.runner.guard)
        return [cases[index] for index, near in tried if near]

    def _try(self, case: Case) -> bool:
        """Whether a program reaches what was changed; this process ends here if it changed more than its own."""
        case = self.search.settled(case)
        try:
            outcome = self.search.runner.run(case)
        except InvalidCaseError:
            outcome = None
        silent = outcome is None or outcome.then is None or outcome.then.text in ("", "None")
        if silent or any(step.statement for step in case.given):
            self._look_at_canaries()
        if outcome is None:
            return False
        if not silent and len(self.canaries) < _CANARIES:
            self.canaries.append((case, outcome))
        return self.search.focus.reached(case.lines)

    def _look_at_canaries(self) -> None:
        for case, outcome in self.canaries:
            try:
                same = self.search.runner.run(case).key == outcome.key
            except InvalidCaseError:
                same = False
            if not same:
                os._exit(1)
