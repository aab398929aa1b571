"""Cached problems with candidates and tests, executed: the tables that `bench.intent` and `bench.scaling` read.

Executing is the long part, so its outcome is kept beside the work directory's other files and used again for the same
input files and limits; `--fresh` executes anew.
"""

from __future__ import annotations

import argparse
import hashlib
import pickle
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from bot.programs.assertions import Assertion, split
from bot.programs.bare import bare_sandbox
from bot.programs.cached import read_candidates, read_tasks, read_tests
from bot.programs.grid import Grid, run_grids
from bot.programs.table import Problem, Table, tabulate
from bot.sandbox import Sandbox

_VERSION = 3
HIDDEN_S = 3.0
"""CPU seconds for all hidden tests of a program together."""


@dataclass(frozen=True, slots=True)
class Case:
    """One problem, executed.

    Attributes:
        table: Candidates and, last, the reference, against all assertions of the samples.
        weights: By candidate, how many samples gave it.
        samples: The unit tests: for each generation its assertions, as indices into the table's.
        right: By candidate, whether the hidden tests pass.
    """

    name: str
    table: Table
    weights: tuple[int, ...]
    samples: tuple[tuple[int, ...], ...]
    right: tuple[bool, ...]

    @property
    def reference(self) -> int:
        """The index of the reference in the table."""
        return len(self.weights)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the data is and how it is executed."""
    parser.add_argument("--problems", type=Path, required=True, metavar="FILE", help="problems, JSON lines")
    parser.add_argument(
        "--candidates", type=Path, required=True, metavar="FILE", help="candidates, JSON lines"
    )
    parser.add_argument("--tests", type=Path, required=True, metavar="FILE", help="tests, JSON lines")
    parser.add_argument(
        "--asserts", type=int, default=5, metavar="N", help="the first N of each generation (default 5)"
    )
    parser.add_argument(
        "--limit", type=float, default=0.25, metavar="S", help="CPU seconds a test (default 0.25)"
    )
    parser.add_argument("--only", type=int, metavar="N", help="the first N problems")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sandbox", default="auto", choices=("auto", "docker", "process"))
    parser.add_argument("--work", type=Path, default=Path(".bench"), metavar="DIR")
    parser.add_argument(
        "--fresh", action="store_true", help="execute anew, whatever was kept of an earlier run"
    )


def printed_by(name: str, options: argparse.Namespace) -> str:
    """Return the line that says which command made a table."""
    files = " ".join(
        f"--{what} {getattr(options, what).name}" for what in ("problems", "candidates", "tests")
    )
    return f"\nPrinted by `python -m bench.{name} {files}` on {date.today():%d %B %Y}.\n"


def load(options: argparse.Namespace) -> list[Case]:
    """Return the executed cases for the options, from an earlier run where nothing differs."""
    files = (options.problems, options.candidates, options.tests)
    told = repr((_VERSION, options.asserts, options.limit, options.only)).encode()
    digest = hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files) + told)
    kept = options.work / f"cases-{digest.hexdigest()[:16]}.pickle"
    if kept.is_file() and not options.fresh:
        return _trusted(kept)
    cases = _execute(options)
    options.work.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(cases))
    return cases


def _trusted(kept: Path) -> list[Case]:
    """Return what this benchmark itself has written."""
    cases: list[Case] = pickle.loads(kept.read_bytes())
    return cases


def _execute(options: argparse.Namespace) -> list[Case]:
    tasks = read_tasks(options.problems)
    candidates = read_candidates(options.candidates, tasks)
    tests = read_tests(options.tests)
    names = [name for name in tasks if name in candidates and name in tests][: options.only]
    problems, samples = [], []
    for name in names:
        task, given = tasks[name], tests[name]
        numbers: dict[Assertion, int] = {}
        units = []
        for sample in given.samples:
            found = [one for index in sample for one in split(given.asserts[index], task.function)]
            units.append(tuple(numbers.setdefault(one, len(numbers)) for one in found[: options.asserts]))
        problems.append(Problem((*candidates[name].programs, task.reference), tuple(numbers)))
        samples.append(tuple(units))
    with bare_sandbox(options.sandbox) as box:
        started = time.monotonic()
        tables = tabulate(box, problems, limit_s=options.limit, workers=options.workers)
        took = time.monotonic() - started
        pairs = sum(len(p.programs) * len(t.calls) for p, t in zip(problems, tables, strict=True))
        print(
            f"{len(problems)} problems, {sum(len(p.programs) for p in problems)} programs, {pairs} pairs of program and "
            f"call executed in {took:.0f} s by {options.workers} workers ({box.kind} sandbox)",
            file=sys.stderr,
        )
        hidden = [
            Grid(
                tuple(f"{program}\n{tasks[name].check}\n" for program in problem.programs),
                (f"check({tasks[name].function})",),
                ((),),
            )
            for name, problem in zip(names, problems, strict=True)
        ]
        verdicts = run_grids(box, hidden, limit_s=HIDDEN_S, workers=options.workers)
    return [
        Case(
            name,
            table,
            candidates[name].weights,
            units,
            tuple(row[0].kind == "value" for row in rows[:-1]),
        )
        for name, table, units, rows in zip(names, tables, samples, verdicts, strict=True)
    ]


def agreement(options: argparse.Namespace, box: Sandbox, sample: int, seed: int = 0) -> tuple[int, list[str]]:
    """Run a sample of pairs with a process for each pair; return how many, and those that differ."""
    cases = load(options)
    tasks = read_tasks(options.problems)
    candidates = read_candidates(options.candidates, tasks)
    pairs = [
        (case, program, call)
        for case in cases
        for program in range(len(case.weights))
        for call in range(len(case.table.calls))
    ]
    chosen = random.Random(seed).sample(pairs, min(sample, len(pairs)))
    grids = []
    for case, program, call in chosen:
        of_call = tuple(one.predicate for one in case.table.assertions if one.call == case.table.calls[call])
        grids.append(Grid((candidates[case.name].programs[program],), (case.table.calls[call],), (of_call,)))
    found = run_grids(box, grids, limit_s=options.limit, workers=options.workers, alone=True)
    different = [
        f"{case.name}, program {program}, {case.table.calls[call][:80]}: {case.table.cells[program][call]} and alone {rows[0][0]}"
        for (case, program, call), rows in zip(chosen, found, strict=True)
        if rows[0][0] != case.table.cells[program][call]
    ]
    return len(chosen), different


def fraction_right(case: Case, candidates: Sequence[int]) -> float:
    """Return the share of right ones among candidates, weighted by how many samples gave each."""
    total = sum(case.weights[one] for one in candidates)
    return sum(case.weights[one] for one in candidates if case.right[one]) / total if total else 0.0
