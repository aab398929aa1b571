"""The mutation engine: the suite is collected once, and each mutant meets the tests that reach it in a fork.

The process that starts (the zygote) imports pytest and its plugins and stops before the first conftest of the tree.
From it are forked: one process that collects the suite and stays (`server.py`), whose children exchange the code of
one function; and, for mutants of code that runs at import, children that import the mutated module themselves. No
test ever runs in a process that others are forked from.

The job is a dict: `tree`, `scratch`, `path` (absolute), `source`, `check` (what is still to be found out about the
mutants: "", `compiles`, `equivalent`), `mutants` (`first`, `last`, `start`, `end`, `text`, `function`, `without`:
places of tests not to run), `tests` (node ids), `first` (tests to try first), `lines` (of the file, by test),
`statements` (the lines that coverage knows of), `import_lines`, `spawning` (whether a test might start other Pythons, whose lines no tracer sees), `workers`,
`results` (the file to write).

Each line of the results is a JSON object: `{"mutant": place, "outcome": word, "test": place or null}`,
`{"note": sentence}`, `{"red": [places of tests]}`, or `{"problem": sentence, "detail": text}` when nothing could be
judged.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Optional

from . import control, session
from .imports import ImportGraph
from .loading import is_imported, replace_source
from .plan import IMPORT, SWAP, Case, Plan
from .server import DEPENDENTS, serve, threads
from .shop import Begin, GoOnError, Results, Shop, start_afresh
from .trial import Trial
from .workers import REFUSED, Workers


def main(job: dict[str, Any]) -> int:
    """Judge the mutants of a job; see the module for the job and the results."""
    # Children that collect anew would otherwise compile the suite each time.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.path.join(job["scratch"], "engine-bytecode")
    results = Results(job["results"])
    try:
        plan = Plan(job)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        results.write(problem=f"The file does not compile under the repository's Python: {error}")
        return 0
    for number, outcome in plan.settled.items():
        results.write(mutant=number, outcome=outcome, test=None)
    if plan.cases:
        zygote = Zygote(Shop(job, plan, results))
        takeover = session.Takeover(_session(job), zygote.loop)
        code = session.run(_session(job), takeover, plugins=[zygote])
        zygote.session_ended(f"pytest ended with exit code {code}. {takeover.problem}".strip())
    return 0


def _session(job: dict[str, Any]) -> session.SessionJob:
    # Whole files: a mutant may give the cases of a test other names.
    files = list(dict.fromkeys(test.partition("::")[0] for test in job["tests"]))
    return session.SessionJob(job["tree"], job["scratch"], selection=files, capture="sys")


def run_afresh(job: dict[str, Any]) -> int:
    """Run one child's tests in this new process (see `shop.start_afresh`), where `afresh.py` has put the mutant."""
    trial = Trial(**job["fresh"])
    session.run(_session(job), session.Takeover(_session(job), trial.run))
    trial.end("failed", 0)
    return 0


class Zygote:
    """The plugin that stops a pytest session before the tree's first conftest, and forks the others from there."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._role: Optional[Callable[[session.Collected], None]] = None
        self._trial: Optional[Trial] = None
        self._idle: frozenset[str] = frozenset()

    @session.hook(tryfirst=True)
    def pytest_load_initial_conftests(self, args: list[str]) -> None:
        """Coordinate everything from here; only children return, to load the tree and meet their role in `loop`."""
        try:
            self._coordinate()
        except GoOnError:
            # pytest reads them again after this hook.
            args[:] = [word for word in args if word not in self._idle]
            return
        except BaseException:
            self._break_down()
        os._exit(0)

    def loop(self, collected: session.Collected) -> None:
        """Play this process's role now that the suite is collected."""
        try:
            if self._role is not None:
                self._role(collected)
        except BaseException:
            self._break_down()
        os._exit(0)

    def session_ended(self, problem: str) -> None:
        """Say why a session ended without a loop: in a child, its mutant broke it; otherwise it was broken before."""
        if self._trial is not None:
            self._trial.end("failed", 0)
        self._shop.results.write(problem=f"The suite could not be collected again: {problem}")
        os._exit(1)

    def _break_down(self) -> None:
        """End this process for a fault of the engine's own; pytest would print it where nobody looks."""
        self._shop.results.write(problem="The mutation engine broke down.", detail=traceback.format_exc())
        os._exit(1)

    def _coordinate(self) -> None:
        shop = self._shop
        unforkable = threads() > 1
        if unforkable:
            shop.results.write(
                note="A plugin of pytest keeps threads, so each mutant is run in a new Python."
            )
            cases = [replace(case, way=IMPORT) for case in shop.plan.cases]
        else:
            self._run_server()
            refused = self._refused()
            cases = [case for case in shop.plan.cases if case.way == IMPORT or case.number in refused]
        if cases:
            self._judge_by_import(self._narrowed(cases), unforkable or is_imported(shop.path))
        else:
            shop.results.write(red=sorted(control.kept(shop)[1]))

    def _run_server(self) -> None:
        server = os.fork()
        if server == 0:
            plan = self._shop.plan
            if not self._shop.spawning and all(case.way == SWAP for case in plan.cases):
                self._collect_only(
                    self._shop.names(sorted({test for case in plan.cases for test in case.tests}))
                )
            graph = ImportGraph()
            self._role = lambda collected: serve(self._shop, collected, graph)
            raise GoOnError
        _, status = os.waitpid(server, 0)
        if status != 0:
            os._exit(1)

    def _judge_by_import(self, cases: Sequence[Case], afresh: bool) -> None:
        """Judge mutants by children that import the mutated module themselves."""
        shop = self._shop
        baseline = control.Baseline(start=control.START_SECONDS)

        def enter(case: Optional[Case]) -> Begin:
            def begin(trial: Trial) -> None:
                if afresh:
                    start_afresh(shop, case, trial)
                replace_source(shop.path, shop.mutated(case))
                signal.setitimer(signal.ITIMER_PROF, baseline.start_limit)
                self._role, self._trial = trial.run, trial
                self._collect_only(trial.tests)

            return begin

        # Alone means something else here: less is collected.
        shop.alone[:] = bytes(len(shop.alone))
        known, lost = control.kept(shop)
        tests = sorted({test for case in cases for test in case.tests} | lost)
        # What the other control has seen holds here too; one test shows that this way works at all.
        green = [test for test in tests if test in known.cpu]
        fresh = [test for test in tests if test not in known.cpu]
        baseline = control.take(shop, sorted([*fresh, *green[:1]]), enter, "import")
        if tests and not baseline.cpu:
            shop.results.write(problem="No test passes when it is run again without a mutant.")
            return
        if not lost.isdisjoint(baseline.cpu):
            shop.results.write(
                note="Tests do not pass in a fork of the collected suite that do otherwise; the mutants that they reach "
                "are each run in a process of its own."
            )
        baseline.add(known)
        shop.spawning = shop.spawning or bool(baseline.spawning)
        shop.results.write(red=[test for test in tests if test not in baseline.cpu])
        Workers(shop, enter, baseline, control.START_SECONDS).judge(cases)

    def _collect_only(self, tests: Iterable[str]) -> None:
        """Leave out the files that hold none of some tests: the cost is to grow with these, not with the suite."""
        files = {test.partition("::")[0] for test in self._shop.job["tests"]}
        self._idle = frozenset(files.difference(test.partition("::")[0] for test in tests))

    def _refused(self) -> set[int]:
        """Return the mutants whose function could not be exchanged."""
        path = self._shop.file(REFUSED)
        if not os.path.exists(path):
            return set()
        with open(path, encoding="ascii") as file:
            return {int(line) for line in file}

    def _narrowed(self, cases: Sequence[Case]) -> list[Case]:
        """Leave out the tests that neither execute the file nor import it through anything."""
        path = self._shop.file(DEPENDENTS)
        # Of a module that pytest or a plugin has imported before, nobody has seen who imports it.
        if not os.path.exists(path) or is_imported(self._shop.path):
            return list(cases)
        with open(path, encoding="ascii") as file:
            feeling = set(json.load(file))
        feeling.update(
            place for place, test in enumerate(self._shop.job["tests"]) if self._shop.job["lines"][test]
        )
        return [replace(case, tests=tuple(test for test in case.tests if test in feeling)) for case in cases]
