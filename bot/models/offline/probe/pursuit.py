"""The pursuit of faults that no case shows yet: inputs of cases that reach them are varied until one does.

One unit of work is a function with its faults; units run in forked processes, and what they find comes back pickled.
"""

from __future__ import annotations

import base64
import io
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from .faults import Fault
from .judging import Judge, in_processes
from .outcomes import InvalidCaseError
from .programs import Case, Op, Param
from .running import Runner
from .search import OVERDUE_CASES, Search
from .telling import is_opaque

TRIES_PER_FAULT = 24
LEAST_TRIES = 80
MOST_TRIES = 500
UNIT_SECONDS = 25
MOST_OVERDUE = 6
MOST_BATCHES = 2
"""So many times the batches asked for at most: one in which a fault was found out does not count."""


class Pursuit:
    """Searches on for one set of faults at a time."""

    def __init__(self, search: Search, runner: Runner, judge: Judge, seed: int) -> None:
        self.search = search
        self.runner = runner
        self.judge = judge
        self.seed = seed
        self.overdue = 0
        self.things: list[Any] = []
        for op in [
            *search.surface.functions,
            *(o for w in search.surface.owners for o in [*w.makers, *w.ops]),
        ]:
            self.things.append(op)
            self.things.extend(op.params)
        self.places = {id(thing): index for index, thing in enumerate(self.things)}

    def go(self, alive: Sequence[Fault], batches: int) -> int:
        """Pursue faults for so many batches of tries; put the cases that show one into the corpus.

        Returns how many faults were found out.
        """
        groups: dict[str, list[Fault]] = {}
        for fault in alive:
            name = "" if fault.scope is None or self.judge.at_import(fault) else fault.scope.name
            groups.setdefault(name, []).append(fault)
        early = groups.pop("", [])
        for fault in list(early):
            if fault.scope is None and any(fault.reached in case.lines for case in self.search.corpus):
                early.remove(fault)  # a default value: whoever calls the function may show it
                groups.setdefault(f"line {fault.reached}", []).append(fault)
            elif self.judge.readers(fault):
                early.remove(fault)  # a constant: whoever runs a line that reads it may show it
                readers = ", ".join(map(str, sorted(self.judge.readers(fault))))
                groups.setdefault(f"readers {readers}", []).append(fault)
        units = sorted(groups.items(), key=lambda unit: (-len(unit[1]), unit[0]))
        units += [("", early[start::4]) for start in range(4) if early[start::4]]
        found = 0
        for _, rows in in_processes(
            units, lambda unit: self._unit(unit, batches), self.runner.guard, UNIT_SECONDS
        ):
            for packed, numbers in rows:
                case = self._unpack(packed)
                try:
                    case.outcome = self.runner.run(case)
                except InvalidCaseError:
                    continue
                if not self.search.holds(case):
                    continue
                found += len(numbers)
                if case.key not in {other.key for other in self.search.corpus[-50:]}:
                    self.search.corpus.append(case)
                    self.search.seen.add(case.key)
        return found

    def _unit(self, unit: tuple[str, list[Fault]], batches: int) -> list[Any]:
        name, faults = unit
        search = self.search
        search.reseed(f"{self.seed} {name}")
        alive = list(faults)
        self.overdue = 0
        lines = frozenset().union(*map(self._lines, faults))
        seeds = [case for case in search.corpus if not name or lines & case.lines]
        seeds.sort(key=lambda case: (case.size, case.key))
        seeds = seeds[:120]
        self._learn(faults[0])
        rows: list[Any] = []
        idle = batches if name else 1
        for _ in range(MOST_BATCHES * idle):
            if not alive or not seeds or not idle:
                break
            fresh = self._fresh(seeds, alive, min(MOST_TRIES, LEAST_TRIES + TRIES_PER_FAULT * len(alive)))
            with self.judge.light():
                shown = self._shown(alive, fresh)
            for index, numbers in sorted(shown.items()):
                rows.append([self._pack(fresh[index]), numbers])
                seeds.append(fresh[index])
            killed = {number for numbers in shown.values() for number in numbers}
            alive = [fault for fault in alive if fault.number not in killed]
            idle -= not killed
            self._learn(faults[0])
        return rows

    def _lines(self, fault: Fault) -> frozenset[int]:
        """Return the lines of which one has to be run for a fault to show."""
        return self.judge.readers(fault) or frozenset([fault.reached])

    def _learn(self, fault: Fault) -> None:
        """Take what this function's comparisons were seen to compare as hints for new inputs."""
        scope = fault.scope
        if scope is None or self.judge.at_import(fault):
            self.search.tweaker.hints = {}
            return
        hints: dict[type, dict[Any, None]] = {}
        for number, pairs in sorted(self.search.record.operands.items()):
            if not scope.node.lineno <= number // 1000 <= scope.node.end_lineno:
                continue
            for pair in pairs:
                numbers = [abs(pair[0] - pair[1])] if {*map(type, pair)} <= {int, float} else []
                for value in [*pair, *numbers]:
                    near = [value, value + 1, value - 1] if type(value) is int else [value]
                    for one in near:
                        if type(one) in (int, float, str) and len(repr(one)) <= 40:
                            hints.setdefault(type(one), {})[one] = None
        self.search.tweaker.hints = {kind: list(values)[:60] for kind, values in hints.items()}

    def _fresh(self, seeds: list[Case], alive: list[Fault], tries: int) -> list[Case]:
        """Return new cases that reach a fault's line, made from those that do."""
        search = self.search
        by_line: dict[int, list[Case]] = {}
        for fault in alive:
            early = self.judge.at_import(fault) and not self.judge.readers(fault)
            for line in self._lines(fault) - by_line.keys():
                by_line[line] = [c for c in seeds if line in c.lines] or (seeds if early else [])
        wanted = [line for line in sorted(by_line) if by_line[line]]
        fresh: list[Case] = []
        for turn in range(tries):
            if not wanted:
                break
            near = by_line[wanted[turn % len(wanted)]]
            place = int(search.random.random() ** 1.5 * len(near))
            case = search.variants.of(near[place])
            if case is not None and search.random.random() < 0.4:
                case = search.variants.of(case) or case
            if case is None:
                continue
            case = search.settled(case)
            if case.key in search.seen or case.size > 280:
                continue
            search.seen.add(case.key)
            if self._valid(case):
                fresh.append(case)
                if case.features - search.known:
                    search.known |= case.features
                    for line in case.lines & by_line.keys():
                        by_line[line].append(case)
        return fresh

    def _valid(self, case: Case) -> bool:
        overdue = self.search.overdue
        if overdue.get(case.subject, 0) >= OVERDUE_CASES:
            return False
        try:
            outcome = self.runner.run(case)
        except InvalidCaseError as error:
            if str(error) == "OverdueError":
                overdue[case.subject] = overdue.get(case.subject, 0) + 1
            return False
        then = outcome.then
        if outcome.leaves or outcome.lazy:
            return False
        if then is not None and then.is_accident(case.when.text, not self.search.focus.whole):
            return False
        silent = then is None or (then.kind == "holds" and not then.text)
        if silent and not outcome.checks:
            return False
        if then is not None and not self.search.focus.whole and is_opaque(then.text, case.when.text):
            return False
        case.outcome = outcome
        return True

    def _shown(self, alive: Sequence[Fault], fresh: Sequence[Case]) -> Mapping[int, list[int]]:
        shown: dict[int, list[int]] = {}
        for fault in alive:
            if self.overdue >= MOST_OVERDUE:
                break
            lines = self._lines(fault)
            early = self.judge.at_import(fault) and not self.judge.readers(fault)
            undo = self.judge.put_in(fault)
            if undo is None:
                continue
            try:
                self.runner.overdue = False
                tried = 0
                for index, case in enumerate(fresh):
                    if not (early or lines & case.lines):
                        continue
                    tried += 1
                    if self.runner.differs(case, case.outcome, case.steps * 8 + 3000):
                        shown.setdefault(index, []).append(fault.number)
                        self.overdue += self.runner.overdue
                        break
                    if tried > 150:
                        break
            finally:
                undo()
        return shown

    # ------------------------------------------------------------ between processes

    def _pack(self, case: Case) -> str:
        places = self.places

        class Packer(pickle.Pickler):
            def persistent_id(self, thing: Any) -> Any:
                return places.get(id(thing)) if isinstance(thing, (Op, Param)) else None

        buffer = io.BytesIO()
        Packer(buffer, protocol=4).dump((case.subject, case.given, case.when, case.unbound, case.origin))
        return base64.b64encode(buffer.getvalue()).decode()

    def _unpack(self, text: str) -> Case:
        things = self.things

        class Unpacker(pickle.Unpickler):
            def persistent_load(self, place: Any) -> Any:
                return things[place]

        subject, given, when, unbound, origin = Unpacker(io.BytesIO(base64.b64decode(text))).load()
        case = Case(subject, given, when, origin)
        case.unbound = unbound
        return case
