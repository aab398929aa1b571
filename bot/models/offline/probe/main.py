"""The probe's story: import, try, judge, search on, choose, prove, print."""

from __future__ import annotations

import builtins
import json
import os
import resource
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from . import (
    ambience,
    choosing,
    entries,
    examples,
    faults,
    focus,
    guard,
    hollowness,
    inputs,
    inverses,
    judging,
    mining,
    printing,
    proving,
    pursuit,
    registries,
    search,
    shrinking,
    surface,
    survivors,
    trial,
    watching,
)
from .loading import Woven
from .programs import Case
from .running import Runner

MOST_FAULTS = 1500
FEW_FAULTS = 80


def main(arguments: Sequence[str]) -> int:
    """Run the job in a file; print rows on the real stdout. Returns the exit code."""
    job = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    sys.setrecursionlimit(1500)
    sys.dont_write_bytecode = True  # a case that imports something would be refused for it
    warnings.simplefilter("ignore")
    sys.argv = ["probe" if "prove" in arguments[1:] else job["module"]]
    sys.excepthook = _tell
    if "prove" in arguments[1:]:
        proving.answer(job, out)
        guard.Guard.leave_time()
        return 0
    Exploration(job, arguments[0], out).run()
    out.flush()
    guard.Guard.leave_time()
    return 0


def _tell(kind: Any, error: Any, trace: Any) -> None:
    """Print what ended the probe on the real stderr, which the probed code does not see."""
    traceback.print_exception(kind, error, trace, file=sys.__stderr__)


def _is_fault(evidence: Any) -> bool:
    return isinstance(evidence, tuple) and evidence[0] == "fault"


class Exploration:
    """One exploration of one module."""

    def __init__(self, job: dict[str, Any], job_path: str, out: TextIO) -> None:
        self.job = job
        self.job_path = job_path
        self.out = out
        self.record = watching.Record()
        self.guard = guard.Guard()
        self.ambience = ambience.Ambience(self.guard)
        self.woven = Woven(job["module"], job["source"], job["path"], self.record)

    def run(self) -> None:
        """Explore and print."""
        self._start()
        self._grow()
        if self.job.get("round"):
            found, wanted = self._left_over()
            kills, cases = self._judge(found, self.job.get("batches", 8))
        else:
            found, wanted = self._faults(), self._wanted()
            small = not self.focus.whole and len(found) <= FEW_FAULTS
            kills, cases = self._judge(found, self.job.get("batches", 8 if small else 3))
        hollow = hollowness.Hollowness(self.judge)
        hollow.learn(cases)
        barred = hollow.barred(cases, choosing.telling(cases, kills, wanted))
        chosen = choosing.choose(cases, kills, self.job.get("most", 150), wanted, barred)
        picked = [cases[index] for index, _ in chosen]
        credited = [sorted(credit, key=repr) for _, credit in chosen]
        self.judge.trim(picked, [[e[1] for e in row if _is_fault(e)] for row in credited])
        short = shrinking.Shrinker(self.judge).shrink(picked, credited)
        hollow.mend(short)
        told = self._told(kills, found, cases)
        for old, new in zip(picked, short):  # noqa: B905 - Python 3.9 has no strict
            told[id(new)] = told.get(id(old), [])
        stable = proving.prove(short, self.job_path, self.job, self.runner)
        rows = [printing.row_of(case, self.runner, told.get(id(case), [])) for case in stable]
        printing.write(rows, self.out)
        if self.job.get("report"):
            self._report(stable, kills, found)

    def _start(self) -> None:
        self.guard.install()
        self.ambience.install()
        module = self.woven.load()
        self.runner = Runner(module, self.woven.tree, self.woven.path, self.record, self.guard, self.ambience)
        sys.stdout = sys.stderr = self.runner.sink
        self.runner.warned.install()
        self.ambience.home = f"{Path(self.woven.path).parent}{os.sep}"
        self.surface = surface.Surface(module, self.woven.source, self.woven.tree)
        for owner in self.surface.owners:
            self.runner.observer.views[owner.cls.__name__] = owner.views
        self.focus = focus.Focus(self.woven.tree, self.job.get("focus"))
        self.search = search.Search(self.surface, self.runner, self.record, self.focus, self.job["seed"])

    def _faults(self) -> list[faults.Fault]:
        """Return the faults to judge by: those that existing tests leave, of changed lines, or all of a module; of very many every second, third ..."""
        found = faults.find(self.woven.source, self.woven.tree)
        if self.job.get("survivors") is not None:
            return survivors.read(self.job["survivors"], self.woven.source, self.woven.tree)
        if self.job.get("focus") is not None:
            found = [fault for fault in found if fault.line in self.focus.lines]
        found = found[:: 1 + len(found) // MOST_FAULTS]
        for number, fault in enumerate(found):
            fault.number = number
        return found

    def _left_over(self) -> tuple[list[faults.Fault], choosing.Wanted]:
        """Return the faults that the tools reported as not caught, and which evidence is still wanted."""
        found = survivors.read(self.job.get("survivors", ()), self.woven.source, self.woven.tree)
        lines = frozenset(self.job.get("missing_lines", ()))
        origins = frozenset(first for first, _ in self.job.get("missing_branches", ()))
        if not self.focus.whole:
            lines, origins = lines & self.focus.inside, origins & self.focus.inside
        return found, choosing.Wanted(lines, origins)

    def _wanted(self) -> choosing.Wanted:
        """Return which lines and branches count as evidence at first."""
        if self.focus.whole:
            return choosing.everything
        left = self.focus.inside - frozenset(self.job.get("covered", ()))
        return choosing.Wanted(left, left)

    def _grow(self) -> None:
        harvest = examples.Harvest(self.surface)
        harvest.docstrings()
        harvest.tests(self.job.get("examples", ()))
        mined = self._mined(harvest)
        filled = inputs.Inputs(self.surface, self.job["seed"])
        filled.fill()
        self.search.tweaker.learn(filled)
        self.search.make_objects()
        self.search.seeds(harvest.cases)
        self.search.take_over(registries.Registries(self.woven.tree, self.runner.names).cases())
        self.search.take_over(trial.Trial(self.search).reaching(mined))
        self.search.call_everything(self.job.get("per_op", 240))
        inverses.Inverses(self.search).try_all()
        part = 0.5 if self.job.get("round") else 1.0  # later, the pursuit of what is left tells more
        self.search.walk_objects(int(self.job.get("walks", 1500) * part))
        self.search.vary(int(self.job.get("variants", 12000) * part))

    def _mined(self, harvest: examples.Harvest) -> list[Case]:
        """Return what the repository's tests and documents do with the package, as cases."""
        package = self.job["module"].partition(".")[0]
        mine = mining.Mine(Path.cwd(), package, dir(builtins))
        mine.dig(self.job["module"].rpartition(".")[2], self.job.get("suite", ""))
        ways = entries.Entries(mine, harvest, package, self.runner.names)
        cases = [*ways.cases(), *ways.on_texts()]
        self.search.tweaker.texts = ways.short_texts()
        return cases

    def _judge(self, found: list[faults.Fault], batches: int) -> tuple[dict[int, list[int]], list[Case]]:
        """Judge the corpus, pursue what is left alive, and judge the cases found on the way."""
        judge = self.judge = judging.Judge(self.woven, self.runner, found)
        cases = sorted(
            [*self.search.corpus, *self.search.reserved()],
            key=lambda case: (choosing.cost_of(case), case.key),
        )
        kills = judge.kills(found, cases)
        chase = pursuit.Pursuit(self.search, self.runner, judge, self.job["seed"])
        for _ in range(self.job.get("rounds", 2)):
            alive = [fault for fault in found if not kills.get(fault.number)]
            start = len(self.search.corpus)
            chase.go(alive, batches)
            new = self.search.corpus[start:]
            if not new:
                break
            later = [f for f in found if not judge.at_import(f) or not kills.get(f.number)]
            more = judge.kills(later, new)
            for number, killers in more.items():
                kills.setdefault(number, []).extend(len(cases) + index for index in killers)
            cases += new
        return kills, cases

    @staticmethod
    def _told(
        kills: dict[int, list[int]], found: list[faults.Fault], cases: list[Case]
    ) -> dict[int, list[str]]:
        """Return the marks of the faults that each case shows, by the case's identity."""
        told: dict[int, list[str]] = {}
        for number, killers in kills.items():
            for index in killers:
                fault = found[number]
                told.setdefault(id(cases[index]), []).append(fault.mark)
        return told

    def _report(self, chosen: list[Case], kills: dict[int, list[int]], found: list[faults.Fault]) -> None:
        lines = set(self.woven.imported).union(*(case.lines for case in chosen))
        report = {
            "lines": sorted(lines),
            "faults": len(found),
            "killed": sum(1 for killers in kills.values() if killers),
            "tried": self.search.tried,
            "corpus": len(self.search.corpus),
            "chosen": len(chosen),
            "steps": self.record.total,
            "seconds": [
                round(sum(resource.getrusage(who)[:2]), 2)
                for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
            ],
            "alive": [
                f"{f.line}: {f.what} in {f.scope.name if f.scope else 'module'}"
                for f in found
                if not kills.get(f.number)
            ],
        }
        Path(self.job["report"]).write_text(json.dumps(report), encoding="utf-8")
