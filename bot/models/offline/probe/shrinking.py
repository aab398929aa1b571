"""Chosen cases cut down to what their evidence needs, for a person has to read them: steps and long texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from .choosing import cost_of
from .judging import Judge, in_processes
from .outcomes import InvalidCaseError
from .programs import MINED, Arg, Case, Op, Step

SHORT = 24
MOST_TRIES = 160
MOST_FAULTS = 8
_SECONDS = 10
_PIECES = re.compile(r"\s*(?:\w+|[^\w\s])")


class Shrinker:
    """Takes steps away, and lines and words out of literals, as long as a case shows the same."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.runner = judge.runner
        self.entries: list[Op] = []

    def shrink(self, cases: Sequence[Case], credited: Sequence[Sequence[Any]]) -> list[Case]:
        """Return the cases, those with several steps or long texts made shorter where they can be.

        Args:
            credited: For each case what it is there for: numbers of faults, as `("fault", number)`, and features.
        """
        kept = list(cases)
        ops = [case.when.op for case in cases if case.origin in MINED and _is_entry(case.when)]
        entries = {op.form: op for op in ops if op is not None}
        self.entries = [entries[form] for form in sorted(entries)]
        todo = [i for i, case in enumerate(cases) if len(case.given) > 1 or any(map(_long, _steps(case)))]
        found = in_processes(
            todo, lambda i: self._shortest(cases[i], credited[i]), self.runner.guard, _SECONDS
        )
        for place, (entry, rows) in found:
            if rows:
                case = cases[todo[place]]
                kept[todo[place]] = self._rebuilt(case, _steps(self._entered(case, entry)), rows)
        return kept

    def _rebuilt(self, case: Case, steps: Sequence[Step], rows: Sequence[tuple[int, list[str]]]) -> Case:
        """Return the case with these of the steps and their texts; the case itself if that does not run."""
        new = _with_steps(case, [_filled(steps[place], texts) for place, texts in rows])
        try:
            new.outcome = self.runner.run(new)
        except InvalidCaseError:
            return case
        checks = {expression for expression, _ in case.outcome.checks}
        new.outcome.checks = [check for check in new.outcome.checks if check[0] in checks]
        return new

    def _entered(self, case: Case, entry: int) -> Case:
        """Return the case with its text given to another entry of the package; itself for entry -1."""
        if entry < 0:
            return case
        op = self.entries[entry]
        step = Step(op.form, (Arg(op.params[0], case.when.args[0].text),), op)
        return Case(op.subject, case.given, step, case.origin)

    def _shortest(self, whole: Case, credited: Sequence[Any]) -> tuple[int, list[tuple[int, list[str]]]]:
        """Return the entry, and the places of the steps of the shortest case found with the literal texts of each."""
        case, entry = whole, -1
        for other in range(len(self.entries)) if _is_entry(whole.when) else ():
            new = self._entered(whole, other)
            if self._shows(new, case, credited, alike=False):
                case, entry = new, other
        places = list(range(len(case.given) + 1))
        best = case
        for place in range(len(case.given) - 1, -1, -1):
            fewer = [p for p in places if p != place]
            if self._is_read(case.given[place], [_steps(case)[p] for p in fewer]):
                continue  # by a function that is not called: the case holds, but a reader misses the name
            new = _with_steps(case, [_steps(case)[p] for p in fewer])
            if self._shows(new, case, credited):
                best, places = new, fewer
        tries = MOST_TRIES if any(map(_long, _steps(best))) else 0
        progress = True
        while progress and tries > 0:
            progress = False
            for new in _smaller(best):
                tries -= 1
                if tries < 0:
                    break
                if self._shows(new, case, credited):
                    best, progress = new, True
                    break
        rows = [(p, _texts(step)) for p, step in zip(places, _steps(best))]  # noqa: B905
        return entry, rows if best is not whole else []

    def _is_read(self, step: Step, others: Sequence[Step]) -> bool:
        """Whether others read the name that a step binds, and none of them binds it."""
        texts = [other.text for other in others]
        bound = any(other.target == step.target for other in others)
        return (
            bool(step.target)
            and not bound
            and any(step.target in self.runner.names.read_by(t) for t in texts)
        )

    def _shows(self, new: Case, case: Case, credited: Sequence[Any], *, alike: bool = True) -> bool:
        """Whether a case is a test still, costs less, and shows what the other is there for."""
        try:
            outcome = self.runner.run(new)
        except InvalidCaseError:
            return False
        then = outcome.then
        if outcome.leaves or outcome.lazy or (then is None) != (case.outcome.then is None):
            return False
        old = case.outcome.then
        if then is not None and (then.kind != old.kind or (alike and then.type != old.type)):
            return False
        if then is not None and then.kind == "holds" and not then.text and not outcome.checks:
            return False
        if then is not None and then.is_accident(new.when.text, strict=False):
            return False
        checks = {expression for expression, _ in case.outcome.checks}
        outcome.checks = [check for check in outcome.checks if check[0] in checks]
        if len(outcome.checks) < len(checks):
            return False
        new.outcome = outcome
        if cost_of(new) >= cost_of(case):
            return False
        numbers = [e[1] for e in credited if isinstance(e, tuple) and e[0] == "fault"]
        lines = {e for e in credited if isinstance(e, int)}
        if not lines <= new.lines:
            return False
        if not numbers and not {e for e in credited if not isinstance(e, int)} <= new.features:
            return False
        holds = not self.runner.differs(new, outcome, new.steps * 8 + 3000)
        return holds and all(self._tells(new, number) for number in numbers[:MOST_FAULTS])

    def _tells(self, case: Case, number: int) -> bool:
        undo = self.judge.put_in(self.judge.faults[number])
        if undo is None:
            return True
        try:
            return self.runner.differs(case, case.outcome, case.steps * 8 + 3000)
        finally:
            undo()


def _is_entry(step: Step) -> bool:
    """Whether a step gives one text to a function."""
    return (
        step.op is not None and len(step.args) == 1 and step.args[0].text[:1] in "'\"" and not step.receiver
    )


def _steps(case: Case) -> list[Step]:
    return [*case.given, case.when]


def _with_steps(case: Case, steps: Sequence[Step]) -> Case:
    last = steps[-1]
    subject = last.op.subject if case.origin in MINED and last.op is not None else case.subject
    new = Case(subject, tuple(steps[:-1]), last, case.origin)
    new.unbound = case.unbound
    return new


def _smaller(case: Case) -> Iterator[Case]:
    """Yield the case with one text made smaller, by large pieces first."""
    steps = _steps(case)
    for place, step in enumerate(steps):
        texts = _texts(step)
        for index, text in enumerate(texts):
            for less in _less(text):
                row = [*texts[:index], less, *texts[index + 1 :]]
                yield _with_steps(case, [*steps[:place], _filled(step, row), *steps[place + 1 :]])


def _less(text: str) -> Iterator[str]:
    """Yield shorter texts of a string literal: halves, then lines, then single words taken out."""
    value = ast.literal_eval(text)
    lines = value.splitlines(keepends=True)
    if len(lines) > 2:
        yield from (repr(part) for part in _without(lines))
    words = _PIECES.findall(value)
    if "".join(words) != value:
        words.append(value[len("".join(words)) :])
    yield from (repr(part) for part in _without(words))


def _without(parts: list[str]) -> Iterator[str]:
    """Yield the parts joined without each half, each quarter ... and each single one."""
    size = len(parts) // 2
    while size:
        for start in range(0, len(parts), size):
            left = parts[:start] + parts[start + size :]
            if left:
                yield "".join(left).strip(" ")
        size //= 2


def _long(step: Step) -> bool:
    return any(len(text) > SHORT for text in _texts(step))


def _places(step: Step) -> list[tuple[int, int, int]]:
    """Return where string literals stand in a step: (argument, or -1 for the form, start, end), in characters."""
    found: list[tuple[int, int, int]] = []
    for number, text in [(-1, step.form), *((i, arg.text) for i, arg in enumerate(step.args))]:
        if not text.isascii() or "\n" in text:
            continue
        try:
            tree = ast.parse(text.replace("{*}", "..."), mode="eval")
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append((number, node.col_offset, node.end_col_offset or 0))
    return sorted(found)


def _texts(step: Step) -> list[str]:
    """Return the string literals of a step, in the order of `_places`."""
    return [(step.form if n < 0 else step.args[n].text)[first:last] for n, first, last in _places(step)]


def _filled(step: Step, texts: list[str]) -> Step:
    """Return a step with its string literals replaced."""
    places = _places(step)
    form, args = step.form, [arg.text for arg in step.args]
    for (number, first, last), new in sorted(zip(places, texts), reverse=True):  # noqa: B905 - Python 3.9 has no strict
        if number < 0:
            form = form[:first] + new + form[last:]
        else:
            args[number] = args[number][:first] + new + args[number][last:]
    made = tuple(Arg(arg.param, text, arg.keyword) for arg, text in zip(step.args, args))  # noqa: B905
    return Step(form, made, step.op, step.target, step.receiver, step.statement)
