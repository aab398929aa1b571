"""Which case tells which fault from the real code: faults are swapped in, one after another, in two processes."""

from __future__ import annotations

import ast
import collections
import contextlib
import gc
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from . import constants, faults, guard, watching
from .faults import Fault
from .loading import Woven
from .programs import Case
from .running import Runner

PROCESSES = 2
KILLERS_WANTED = 5
CASES_PER_FAULT = 40
CASES_AT_IMPORT = 400
FAULT_SECONDS = 2
CHECKS_SECONDS = 10
FAULTS_A_CHECK = 30
"""By about how many faults, spread over all that a case is credited with, its checks are tried."""


class Judge:
    """Swaps faults into the module and runs cases on it."""

    def __init__(self, woven: Woven, runner: Runner, found: list[Fault]) -> None:
        self.woven = woven
        self.runner = runner
        self.faults = found
        self.text = faults.Text(woven.source)
        self.flags = faults.flags_of(woven.tree)
        self.constants = constants.Constants(woven.tree)
        self.slow: set[int] = set()
        self.functions: dict[tuple[Any, ...], list[FunctionType]] = {}
        self.light_codes: dict[tuple[Any, ...], CodeType] = {}
        self.reaching: dict[int, list[int]] = {}

    def kills(self, wanted: Sequence[Fault], cases: Sequence[Case]) -> dict[int, list[int]]:
        """Return, by fault number, the indexes of cases that show it (at most `KILLERS_WANTED`)."""
        order = [fault for fault in wanted if fault.number not in self.slow]
        results: dict[int, list[int]] = {}
        self.reaching = {}
        for index, case in enumerate(cases):
            for line in case.lines:
                self.reaching.setdefault(line, []).append(index)
        with self.light():
            for _, row in in_processes(order, lambda fault: self._try(fault, cases), self.runner.guard):
                results[row[0]] = row[1]
                if row[2]:
                    self.slow.add(row[0])
        return results

    def _try(self, fault: Fault, cases: Sequence[Case]) -> list[Any]:
        early = self.at_import(fault)
        reaching = self.reaching.get(fault.reached, [])
        if early:
            read = [index for line in sorted(self.readers(fault)) for index in self.reaching.get(line, ())]
            reaching = list(dict.fromkeys([*sorted(read), *reaching]))
            near = set(reaching)
            reaching = [*reaching, *(i for i in range(len(cases)) if i not in near)]
        most = CASES_AT_IMPORT if early else CASES_PER_FAULT
        killers: list[int] = []
        self.runner.overdue = False
        undo = self.put_in(fault)
        if undo is None:
            return [fault.number, reaching[:1], False]
        try:
            for index in reaching[:most]:
                case = cases[index]
                if self.runner.differs(case, case.outcome, case.steps * 8 + 3000):
                    killers.append(index)
                    if len(killers) >= KILLERS_WANTED or self.runner.overdue:
                        break
        finally:
            undo()
        return [fault.number, killers, self.runner.overdue]

    def trim(self, cases: Sequence[Case], credited: Sequence[Sequence[int]]) -> None:
        """Take off the checks without which each case still shows the faults it is credited with, as far as these are tried."""
        todo = [i for i, case in enumerate(cases) if len(case.outcome.checks) > (case.outcome.then is None)]
        for index, needed in zip(todo, self._needed(todo, cases, credited)):  # noqa: B905 - Python 3.9 has no strict
            outcome = cases[index].outcome
            if not needed and (
                outcome.then is None or (outcome.then.kind == "holds" and not outcome.then.text)
            ):
                needed = [0]
            outcome.checks = [check for place, check in enumerate(outcome.checks) if place in needed]

    def _needed(
        self, todo: list[int], cases: Sequence[Case], credited: Sequence[Sequence[int]]
    ) -> list[list[int]]:
        def work(index: int) -> list[int]:
            case = cases[index]
            full = list(case.outcome.checks)
            needed: list[int] = []
            told = credited[index]
            for number in told[:: -(-len(told) // FAULTS_A_CHECK) or 1]:
                undo = self.put_in(self.faults[number])
                if undo is None:
                    continue
                try:
                    for places in [
                        needed,
                        *([*needed, place] for place in range(len(full)) if place not in needed),
                    ]:
                        case.outcome.checks = [full[place] for place in places]
                        if self.runner.differs(case, case.outcome, case.steps * 8 + 3000):
                            needed = list(places)
                            break
                finally:
                    undo()
                    case.outcome.checks = full
            return sorted(needed)

        with self.light():
            found: dict[int, list[int]] = dict(in_processes(todo, work, self.runner.guard, CHECKS_SECONDS))
        # What could not be found out in time stays as it is.
        return [
            found.get(place, [*range(len(cases[index].outcome.checks))]) for place, index in enumerate(todo)
        ]

    # ------------------------------------------------------------ swapping

    def put_in(self, fault: Fault) -> Callable[[], None] | None:
        """Make the module faulty; return what undoes it, or None if the fault shows at import already."""
        if not self.at_import(fault):
            code = faults.compiled(self.text, fault, self.woven.path, self.flags)
            if code is None:
                return _nothing
            undo = self._swap(code)
            if undo is not None:
                return undo
        return self._execute_anew(fault)

    def readers(self, fault: Fault) -> frozenset[int]:
        """Return the lines within functions that read the constant that a fault at import spoils."""
        return self.constants.readers(fault.line) if fault.scope is None else frozenset()

    def at_import(self, fault: Fault) -> bool:
        """Whether a fault can show while the module is imported: any case may then show it."""
        return fault.scope is None or fault.reached in self.woven.import_lines

    @contextlib.contextmanager
    def light(self) -> Iterator[None]:
        """Let the module run without most of its hooks meanwhile: what differs is asked, not what is run.

        Lambdas of one line cannot be told apart and keep their hooks.
        """
        if not self.light_codes:
            tree = watching.tick(ast.parse(self.woven.source))
            code = compile(tree, self.woven.path, "exec", flags=self.flags, dont_inherit=True)
            found = list(faults.codes(code))
            keys = collections.Counter(map(faults.code_key, found))
            self.light_codes = {faults.code_key(c): c for c in found if keys[faults.code_key(c)] == 1}
        kept: list[tuple[FunctionType, CodeType]] = []
        for key, functions in self.living().items():
            new = self.light_codes.get(key)
            for function in functions if new is not None else ():
                if new is not None and new.co_freevars == function.__code__.co_freevars:
                    kept.append((function, function.__code__))
                    function.__code__ = new
        try:
            yield
        finally:
            for function, old in kept:
                function.__code__ = old

    def living(self) -> dict[tuple[Any, ...], list[FunctionType]]:
        """Return the functions that were made from the module's file, by what their code is recognised by."""
        if not self.functions:
            for thing in gc.get_objects():
                if isinstance(thing, FunctionType) and thing.__code__.co_filename == self.woven.path:
                    self.functions.setdefault(faults.code_key(thing.__code__), []).append(thing)
        return self.functions

    def _swap(self, code: CodeType) -> Callable[[], None] | None:
        kept: list[tuple[FunctionType, CodeType]] = []
        for new in faults.codes(code):
            for function in self.living().get(faults.code_key(new), ()):
                if new.co_freevars == function.__code__.co_freevars:
                    kept.append((function, function.__code__))
                    function.__code__ = new
        if not kept:
            return None

        def undo() -> None:
            for function, old in kept:
                function.__code__ = old

        return undo

    def _execute_anew(self, fault: Fault) -> Callable[[], None] | None:
        real = self.runner.module
        try:
            new = self.woven.execute(fault, self.runner.record)
        except BaseException:
            self.woven.put_back(real)
            return None
        self.runner.adopt(new)

        def undo() -> None:
            self.woven.put_back(real)
            self.runner.adopt(real)

        return undo


def _nothing() -> None:
    """Undo nothing."""


def in_processes(
    items: Sequence[Any], work: Callable[[Any], Any], watch: guard.Guard, seconds: int = FAULT_SECONDS
) -> Iterator[tuple[int, Any]]:
    """Yield each item's index with `work(item)`, computed in forked processes with a fixed partition, in the items' order.

    A process that dies loses the item it worked on; the others of its share go on in a new process.
    """
    results: dict[int, Any] = {}
    shares = [list(range(start, len(items), PROCESSES)) for start in range(PROCESSES)]
    readers = [(share, _start(share, items, work, watch, seconds)) for share in shares if share]
    while readers:
        again = []
        for share, (pid, reader) in readers:
            with os.fdopen(reader, "r", encoding="utf-8") as stream:
                done = 0
                for line in stream:
                    if not line.endswith("\n"):
                        break
                    results[share[done]] = json.loads(line)
                    done += 1
            os.waitpid(pid, 0)
            rest = share[done + 1 :]
            if done < len(share) and rest:
                again.append((rest, _start(rest, items, work, watch, seconds)))
        readers = again
    for index in sorted(results):
        yield index, results[index]


def _start(
    share: list[int], items: Sequence[Any], work: Callable[[Any], Any], watch: guard.Guard, seconds: int
) -> tuple[int, int]:
    reader, writer = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    try:
        os.close(reader)
        watch.watch_time()
        with os.fdopen(writer, "w", encoding="utf-8") as stream:
            for index in share:
                watch.limit_processor(seconds)
                stream.write(json.dumps(work(items[index])) + "\n")
                stream.flush()
        os._exit(0)
    except BaseException:
        os._exit(1)
