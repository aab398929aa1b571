"""The mutation engine: the suite is collected once, and each mutant meets the tests that reach it in a fork.

The process that starts (the zygote) imports pytest and its plugins and stops before the first conftest of the tree.
From it are forked: one process that collects the suite and stays, whose children exchange the code of one function;
and, for mutants of code that runs at import, children that import the mutated module themselves. No test ever runs
in a process that others are forked from.

The job is a dict: `tree`, `scratch`, `path` (absolute), `source`, `check` (what is still to be found out about the
mutants: "", `compiles`, `equivalent`), `mutants` (`first`, `last`, `start`, `end`, `text`, `function`, `without`:
places of tests not to run), `tests` (node ids), `first` (tests to try first), `lines` (of the file, by test),
`import_lines`, `workers`, `results` (the file to write).

Each line of the results is a JSON object: `{"mutant": place, "outcome": word, "test": place or null}`,
`{"note": sentence}`, `{"red": [places of tests]}`, or `{"problem": sentence}` when nothing could be judged.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from . import control, session
from .children import adopt_orphans, become_a_trial, watch
from .control import Baseline
from .loading import real_path, replace_source
from .plan import IMPORT, SWAP, Case, History, Plan, chunks
from .swapping import CannotSwapError, Functions
from .trial import Trial, silence

_TOKEN = 4
_COLLECT_SECONDS = 120.0
Enter = Callable[[Optional[Case], Trial], bool]


def main(job: dict[str, Any]) -> int:
    """Judge the mutants of a job; see the module for the job and the results."""
    journal = Journal(job["results"])
    # Forks that collect anew would otherwise compile the suite each time.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.path.join(job["scratch"], "mutation-bytecode")
    try:
        plan = Plan(job)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        journal.write(problem=f"The file does not compile under the repository's Python: {error}")
        return 0
    for number, outcome in plan.settled.items():
        journal.write(mutant=number, outcome=outcome, test=None)
    if not plan.cases:
        return 0
    engine = Engine(job, plan, journal)
    asked = session.SessionJob(job["tree"], job["scratch"], selection=job["tests"], capture="sys")
    takeover = session.Takeover(asked, engine.loop)
    code = session.run(asked, takeover, plugins=[engine])
    engine.session_ended(f"pytest ended with exit code {code}. {takeover.problem}".strip())
    return 0


class Journal:
    """The results file, to which all processes of the engine append whole lines."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, **row: Any) -> None:
        os.write(self._file, json.dumps(row).encode("ascii") + b"\n")


class Engine:
    """The plugin that turns one pytest session into the zygote and all that is forked from it."""

    def __init__(self, job: Mapping[str, Any], plan: Plan, journal: Journal) -> None:
        self.job = job
        self.plan = plan
        self.journal = journal
        self.path = real_path(job["path"])
        self.room = os.path.join(job["scratch"], f"mutation-{os.getpid()}")
        self._role: Callable[[session.Collected], None] = self._serve
        self._trial: Optional[Trial] = None

    @session.hook(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """Coordinate everything from here; only children return, to load the tree and meet their role in `loop`."""
        try:
            self._coordinate()
        except BaseException:
            self._break_down()

    def _coordinate(self) -> None:
        os.mkdir(self.room)
        server = os.fork()
        if server == 0:
            return
        _, status = os.waitpid(server, 0)
        if status == 0 and self._judge_by_import():
            return
        shutil.rmtree(self.room, ignore_errors=True)
        sys.stdout.flush()
        os._exit(0 if status == 0 else 1)

    def loop(self, collected: session.Collected) -> None:
        """Play this process's role now that the suite is collected."""
        try:
            self._role(collected)
        except BaseException:
            self._break_down()
        os._exit(0)

    def _break_down(self) -> None:
        """End this process for a fault of the engine's own; pytest would print it where nobody looks."""
        self.journal.write(problem="The mutation engine broke down.", detail=traceback.format_exc())
        os._exit(1)

    def session_ended(self, problem: str) -> None:
        """Say why a session ended without a loop: in a child, the mutant broke it; otherwise it was broken before."""
        if self._trial is not None:
            self._trial.end("failed", 0)
        self.journal.write(problem=f"The suite could not be collected: {problem}")
        os._exit(1)

    # ------------------------------------------------------------ the process that has collected the suite

    def _serve(self, collected: session.Collected) -> None:
        gc.collect()
        functions = Functions(self.path)
        gc.freeze()
        tests = [place for place, test in enumerate(self.job["tests"]) if test in collected.by_id]
        journal = os.path.join(self.room, "control")

        def null(trial_tests: list[int]) -> tuple[int, int]:
            def follow(_: Optional[Case], trial: Trial) -> bool:
                replace_source(self.path, self.job["source"])
                for function in functions:
                    function.__code__ = function.__code__.replace()
                control.follow(trial, trial_tests, collected, journal)
                return True

            pid, pipe, _ = self._start(None, trial_tests, None, follow)
            return pid, pipe

        adopt_orphans()
        baseline = control.measure(tests, null, journal)
        with open(os.path.join(self.room, "baseline"), "w", encoding="utf-8") as file:
            file.write(baseline.as_json())
        self.journal.write(red=sorted(set(range(len(self.job["tests"]))) - set(baseline.cpu)))
        if not baseline.cpu:
            self.journal.write(
                problem="No test passes without a mutant when it is run in a fork of the collected suite."
            )
            os._exit(1)
        cases = [case for case in self.plan.cases if case.way == SWAP]

        def enter(case: Optional[Case], trial: Trial) -> bool:
            if case is not None:
                replace_source(self.path, self._mutated(case))
                if functions:
                    try:
                        functions.swap(self.plan.module, case.unit, case.splice)
                    except CannotSwapError:
                        trial.end("import")
            trial.run(collected)
            return True

        self._work(cases, baseline, enter)

    # ------------------------------------------------------------ the zygote

    def _judge_by_import(self) -> bool:
        """Judge what needs the mutated module imported; True in a child, which is to go on with its session."""
        with open(os.path.join(self.room, "baseline"), encoding="utf-8") as file:
            baseline = Baseline.from_json(file.read())
        refused = self._refused()
        cases = [case for case in self.plan.cases if case.way == IMPORT or case.number in refused]
        if not cases:
            return False
        adopt_orphans()

        def enter(case: Optional[Case], trial: Trial) -> bool:
            replace_source(self.path, self.job["source"] if case is None else self._mutated(case))
            self._role, self._trial = trial.run, trial
            return True

        return self._work(cases, baseline, enter)

    def _refused(self) -> set[int]:
        """Return the mutants whose function could not be exchanged."""
        path = os.path.join(self.room, "refused")
        if not os.path.exists(path):
            return set()
        with open(path, encoding="ascii") as file:
            return {int(line) for line in file}

    # ------------------------------------------------------------ workers

    def _work(self, cases: Sequence[Case], baseline: Baseline, enter: Enter) -> bool:
        """Judge cases in several worker processes; True in a child that is to go on."""
        parts = chunks(cases)
        reader, writer = os.pipe()
        workers = []
        for _ in range(min(self.job["workers"], len(parts))):
            pid = os.fork()
            if pid == 0:
                os.close(writer)
                adopt_orphans()
                while True:
                    token = os.read(reader, _TOKEN)
                    if not token:
                        os._exit(0)
                    if self._judge_chunk(parts[int(token)], baseline, enter):
                        return True
            workers.append(pid)
        os.close(reader)
        for number in range(len(parts)):
            os.write(writer, str(number).encode("ascii").rjust(_TOKEN))
        os.close(writer)
        for pid in workers:
            os.waitpid(pid, 0)
        return False

    def _judge_chunk(self, part: Sequence[Case], baseline: Baseline, enter: Enter) -> bool:
        history = History()
        for case in part:
            tests = history.order([test for test in case.tests if test in baseline.cpu])
            if not tests:
                self.journal.write(mutant=case.number, outcome="survived", test=None)
                continue
            pid, pipe, place = self._start(case, tests, baseline, enter)
            if pid == 0:
                return True
            fate = watch(pid, pipe, [baseline.wall_limit(test) for test in tests], _COLLECT_SECONDS)
            _remove(place)
            if fate.word == "import":
                with open(os.path.join(self.room, "refused"), "a", encoding="ascii") as file:
                    file.write(f"{case.number}\n")
                continue
            outcome = {"passed": "survived", "failed": "killed"}.get(fate.word, fate.word)
            killer = None if outcome == "survived" else tests[max(0, fate.position)]
            history.add(killer)
            self.journal.write(mutant=case.number, outcome=outcome, test=killer)
        return False

    def _start(
        self, case: Optional[Case], tests: Sequence[int], baseline: Optional[Baseline], enter: Enter
    ) -> tuple[int, int, str]:
        """Fork a child for one mutant: (process id, pipe, its directory); in the child, if `enter` returns, (0, ...)."""
        reader, writer = os.pipe()
        place = os.path.join(
            self.room, f"{os.getpid()}-{'control' if case is None else case.number}-{len(tests)}"
        )
        pid = os.fork()
        if pid:
            os.close(writer)
            return pid, reader, place
        os.close(reader)
        become_a_trial()
        silence()
        ids = [self.job["tests"][test] for test in tests]
        limits = [control.TEST_SECONDS if baseline is None else baseline.cpu_limit(test) for test in tests]
        enter(case, Trial(writer, ids, limits, place))
        return 0, writer, place

    def _mutated(self, case: Case) -> str:
        start, end, text = case.splice
        source: str = self.job["source"]
        return source[:start] + text + source[end:]


def _remove(place: str) -> None:
    try:
        os.rmdir(place)
    except FileNotFoundError:
        return
    except OSError:
        shutil.rmtree(place, ignore_errors=True)
