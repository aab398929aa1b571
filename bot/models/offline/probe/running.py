"""Runs a case on the module and tells what it gave; runs it again on a faulty module and says whether that shows."""

from __future__ import annotations

import ast
import contextlib
import itertools
import math
import os
import re
import sys
from types import CodeType, GeneratorType, ModuleType
from typing import Any

from . import guard, telling, watching
from .ambience import CHANCE, PLACE, Ambience
from .names import IMPORTS, Names
from .outcomes import InvalidCaseError, Outcome, Then
from .patches import set_by
from .programs import Case
from .state import Sink, State

ITERATED = 60
_LEFT = (
    watching.TooManySteps,
    guard.RefusedError,
    guard.OverdueError,
    SystemExit,
    KeyboardInterrupt,
    GeneratorExit,
)
_REFUSAL = re.compile(r"'\S+' not supported between|unsupported operand type\(s\) for ")
_SMALL = (int, str, bytes, float, bool, type(None), tuple)
_LAZY = (GeneratorType, map, filter, zip, enumerate, reversed)


_LARGE = re.compile(r"\d{6,}|\d+e\d+")
_ENDLESS = re.compile(r"range\([^()]*\d{6,}")
_DIGITS = 5
_BEARABLE_SECONDS = 0.15


class Runner:
    """Runs cases against one module."""

    def __init__(
        self,
        module: ModuleType,
        tree: ast.Module,
        path: str,
        record: watching.Record,
        watch: guard.Guard,
        ambience: Ambience,
    ) -> None:
        self.module = module
        self.path = path
        self.record = record
        self.guard = watch
        self.sink = Sink()
        self.ambience = ambience
        self.chancy = CHANCE in ambience.used  # at import: what was drawn then is there all the time
        self.overdue = False
        self.iterating = False
        self.bearable: dict[str, int] = {}
        self.unbearable: dict[str, int] = {}
        self.names = Names(module, tree)
        self.raises = _raise_lines(tree)
        self.compiled: dict[tuple[str, str], CodeType] = {}
        self.literals: dict[str, bool] = {}
        self.views: dict[str, list[str]] = {}
        self.adopt(module)

    def adopt(self, module: ModuleType) -> None:
        """Run on this version of the module from now on."""
        self.module = module
        self.names.adopt(module)
        self.state = State(module)
        self.teller = telling.Teller(module, self.evaluate)

    def code(self, text: str, mode: str) -> CodeType:
        """Compile a text once."""
        found = self.compiled.get((text, mode))
        if found is None:
            found = compile(text, "<case>", mode, dont_inherit=True)
            self.compiled[text, mode] = found
        return found

    def evaluate(self, text: str) -> Any:
        """Evaluate an expression over the module's names."""
        return eval(self.code(text, "eval"), self.names.space([text]))

    # ------------------------------------------------------------ running

    def run(self, case: Case) -> Outcome:
        """Run a case and tell what it gave. Raises InvalidCaseError if it cannot be a test."""
        if not self._bearable(case):
            raise InvalidCaseError("OverdueError")
        try:
            outcome = self._run(case)
            self._refuse_accidents(case, outcome)
            return outcome
        except guard.OverdueError:  # the net was hit while what the case left was cleared away
            raise InvalidCaseError("OverdueError") from None

    def _run(self, case: Case) -> Outcome:
        record = self.record
        texts = [step.text for step in case.given]
        self._start(watching.STEP_LIMIT)
        try:
            space = self.names.space([*texts, case.when.text])
            self.guard.arm()
            for step in case.given:
                exec(self.code(step.text, "exec"), space)
            before = self._views_before(case, space)
            record.marks.clear()
            entered = dict(record.hits)
            then = self._when(case, space)
            shown = self._features(record, then, entered)
            checks = self._checks(case, space, then, before)
            outcome = Outcome(then, checks)
            case.lines = frozenset(record.hits)
            case.features = self._features(record, then, entered) if then is None else shown
            case.steps = record.steps
        except (MemoryError, *_LEFT) as error:
            raise InvalidCaseError(type(error).__name__) from None
        except Exception as error:
            raise InvalidCaseError(f"{type(error).__name__}: {error}") from None
        except BaseException as error:  # of an extension that raises its own kind: it must not end the search
            raise InvalidCaseError(type(error).__name__) from None
        finally:
            self.guard.armed = False
            leaves = self._put_back()
        if self.guard.touched:
            raise InvalidCaseError("touched " + self.guard.touched)
        outcome.leaves = leaves
        outcome.lazy = self.iterating
        outcome.output = self.sink.taken()
        return outcome

    def _refuse_accidents(self, case: Case, outcome: Outcome) -> None:
        """Raise InvalidCaseError if what the case gave depends on chance, clocks, the environment or places of files."""
        around = self.ambience
        if self.chancy:
            around.used.add(CHANCE)
        if not around.used:
            return
        if PLACE in around.used:
            raise InvalidCaseError("depends on the files of the machine")
        number, overdue = around.number, self.overdue
        try:
            for other in around.others():
                around.number = other
                if self.differs(case, outcome, case.steps * 8 + 3000):
                    raise InvalidCaseError("depends on chance, time or the environment")
        finally:
            around.number, self.overdue = number, overdue

    def _put_back(self) -> bool:
        """Take back what a case did to the module; return whether a test would not have taken it back itself."""
        self.names.patches.undo()
        return self.state.restore()

    def _bearable(self, case: Case) -> bool:
        """Whether numbers as large as a case's are known to end in time, tried out in a process of its own if not.

        A loop in C over a thousand million items counts no step and hears no signal.
        """
        if _ENDLESS.search(case.when.text):
            return False
        digits = max((len(run) for run in _LARGE.findall(" ".join(case.key))), default=0)
        if digits <= self.bearable.get(case.subject, _DIGITS):
            return True
        if digits >= self.unbearable.get(case.subject, 10**6):
            return False
        pid = os.fork()
        if not pid:
            self.guard.limit_processor(1)
            self.guard.watch_time()
            self.bearable[case.subject] = digits
            with contextlib.suppress(BaseException):
                self.run(case)
            os._exit(0)
        _, status, used = os.wait4(pid, 0)
        ended = status == 0 and used.ru_utime + used.ru_stime < _BEARABLE_SECONDS
        (self.bearable if ended else self.unbearable)[case.subject] = digits
        return ended

    def _start(self, limit: int) -> None:
        self.record.clear(limit)
        self.sink.taken()
        self.ambience.begin()

    @staticmethod
    def _features(record: watching.Record, then: Then | None, entered: dict[int, int]) -> frozenset[Any]:
        found: set[Any] = set(record.marks)
        for line, count in record.hits.items():
            count -= entered.get(line, 0)
            if count > 0:
                found.add(line)
                found.add((line, "x", 1 if count == 1 else 2 if count == 2 else 3))
        if then is not None:
            found.add((then.kind, then.type, then.text[:1] in "'\"" and len(then.text) < 3))
        return frozenset(found)

    def _when(self, case: Case, space: dict[str, Any]) -> Then | None:
        text = case.when.text
        self.iterating = False
        try:
            if case.when.statement:
                exec(self.code(text, "exec"), space)
                return None
            value = eval(self.code(text, "eval"), space)
            then = self.tell(value, space)
            space["result"] = value
            return then
        except MemoryError:
            raise
        except Exception as error:
            then = self.tell_error(error)
            if self._is_refused(case, error):
                then.deliberate = True
            if telling.is_opaque(then.message, text):
                then.message = ""
            return then

    def _is_refused(self, case: Case, error: Exception) -> bool:
        """Whether an operator of the module returned NotImplemented, so that Python refuses the operands."""
        op = case.when.op
        if (
            not isinstance(error, TypeError)
            or op is None
            or op.node is None
            or not op.form.startswith("{self} ")
        ):
            return False
        told = _REFUSAL.match(str(error)) is not None
        return told and any(op.first <= line <= op.last for line in self.record.hits)

    def tell_error(self, error: Exception) -> Then:
        """Tell an exception: type, message where it is stable, and whether the module raises it on purpose."""
        kind = type(error)
        name = kind.__name__
        if (
            kind.__module__ not in ("builtins", self.module.__name__)
            and getattr(self.module, name, None) is not kind
        ):
            name = f"{kind.__module__}.{name}"
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        deliberate = self._is_ours(kind.__module__) or (
            last is not None
            and last.tb_frame.f_code.co_filename == self.path
            and last.tb_lineno in self.raises
        )
        message = str(error) if deliberate or _REFUSAL.match(str(error)) else ""
        if telling.ADDRESS.search(message) or len(message) > 300 or not message.isprintable():
            message = ""
        then = Then("raises", "", name, message, error)
        then.deliberate = deliberate
        return then

    def _is_ours(self, module: str) -> bool:
        """Whether a module is of the same package as the one under test."""
        return module.partition(".")[0] == self.module.__name__.partition(".")[0]

    def tell(self, value: Any, space: dict[str, Any]) -> Then:
        """Tell a value as an expression, as its items, or by what holds of it."""
        kind = type(value)
        if (
            isinstance(value, _LAZY)
            or (kind.__module__ == "itertools" and hasattr(value, "__next__"))
            or (hasattr(value, "__next__") and "iterator" in kind.__name__)
        ):
            self.iterating = True
            items = _items(value)
            self.iterating = False
            told = self._text(items) if items is not None else None
            if told is not None:
                return self._literal(Then("items", told, kind.__name__, value=items))
            return Then("holds", "", kind.__name__, value=value)
        own = [
            name
            for name in space
            if name not in self.names.defined and name not in IMPORTS and name != "result"
        ]
        for name in own:
            if space[name] is value and not isinstance(value, _SMALL) and not name.startswith("__"):
                return Then("holds", f"result is {name}", kind.__name__, value=value)
        if kind is float and math.isnan(value):
            return Then("holds", "math.isnan(result)", "float", value=value)
        told = self._text(value)
        if told is not None:
            return self._literal(
                Then("approx" if telling.has_long_float(value) else "value", told, kind.__name__, value=value)
            )
        return Then("holds", "", kind.__name__, value=value)

    def _text(self, value: Any) -> str | None:
        with self.record.aside():
            return self.teller.text(value)

    def _literal(self, then: Then) -> Then:
        known = self.literals.get(then.text)
        if known is None:
            try:
                ast.literal_eval(then.text)
                known = True
            except (ValueError, SyntaxError):
                known = False
            self.literals[then.text] = known
        then.literal = known
        return then

    # ------------------------------------------------------------ state afterwards

    def _receivers(self, case: Case, space: dict[str, Any]) -> list[tuple[str, list[str]]]:
        found = []
        for step in case.given:
            patched = set_by(step.text)
            if patched:
                found.append((patched, ["{self}"]))
            if step.target and step.target in space:
                views = self.views.get(type(space[step.target]).__name__)
                if views:
                    found.append((step.target, views))
        return found

    def _views_before(self, case: Case, space: dict[str, Any]) -> dict[str, tuple[str, str, str, str]]:
        before = {}
        for name, views in self._receivers(case, space):
            for view in views:
                text = view.replace("{self}", name)
                if text != case.when.text:
                    then = self._look(text, space)
                    if then is not None:
                        before[text] = then.key
        return before

    def _checks(
        self,
        case: Case,
        space: dict[str, Any],
        then: Then | None,
        before: dict[str, tuple[str, str, str, str]],
    ) -> list[tuple[str, Then]]:
        """Look at the objects that were given: what changed, or for a statement without effect, the first view."""
        checks: list[tuple[str, Then]] = []
        for text, key in before.items():
            after = self._look(text, space)
            if after is not None and (after.key != key or (case.unbound and _about(text, case.unbound))):
                checks.append((text, after))
        if not checks and then is None:
            for text in before:
                after = self._look(text, space)
                if after is not None:
                    checks.append((text, after))
                    break
        return checks[:7]

    def states(self, case: Case) -> list[tuple[str, Then]]:
        """Run a case and return all that can be looked at afterwards of the objects that it was given."""
        self._start(watching.STEP_LIMIT)
        try:
            space = self.names.space([*(step.text for step in case.given), case.when.text])
            self.guard.arm()
            for step in case.given:
                exec(self.code(step.text, "exec"), space)
            with contextlib.suppress(Exception):
                exec(self.code(case.when.text, "exec"), space)
            texts = [
                view.replace("{self}", name) for name, views in self._receivers(case, space) for view in views
            ]
            looks = [(text, self._look(text, space)) for text in texts if text != case.when.text]
            return [(text, then) for text, then in looks if then is not None]
        except (Exception, *_LEFT):
            return []
        finally:
            self.guard.armed = False
            self._put_back()

    def _look(self, text: str, space: dict[str, Any]) -> Then | None:
        try:
            whole = {**self.names.space([text]), **space} if self.names.sources(text) else space
            value = eval(self.code(text, "eval"), whole)
        except Exception:
            return None
        told = self._text(value)
        if told is None:
            return None
        return self._literal(
            Then(
                "approx" if telling.has_long_float(value) else "value",
                told,
                type(value).__name__,
                value=value,
            )
        )

    # ------------------------------------------------------------ differing

    def differs(self, case: Case, outcome: Outcome, limit: int) -> bool:
        """Whether the case, as a test that asserts this outcome, fails on the module as it is now."""
        try:
            return self._differs(case, outcome, limit)
        except guard.OverdueError:
            self.overdue = True
            return True

    def _differs(self, case: Case, outcome: Outcome, limit: int) -> bool:
        self._start(limit)
        try:
            space = self.names.space([*(step.text for step in case.given), case.when.text])
            self.guard.arm()
            for step in case.given:
                exec(self.code(step.text, "exec"), space)
            return not self._same_then(case, outcome.then, space) or any(
                not self._matches(then, self._eval(text, space), space) for text, then in outcome.checks
            )
        except guard.OverdueError:
            self.overdue = True
            return True
        except BaseException:
            return True
        finally:
            self.guard.armed = False
            self._put_back()

    def _eval(self, text: str, space: dict[str, Any]) -> Any:
        whole = {**self.names.space([text]), **space} if self.names.sources(text) else space
        return eval(self.code(text, "eval"), whole)

    def _same_then(self, case: Case, then: Then | None, space: dict[str, Any]) -> bool:
        text = case.when.text
        if then is None:
            exec(self.code(text, "exec"), space)
            return True
        if then.kind == "raises":
            try:
                if case.when.statement:
                    exec(self.code(text, "exec"), space)
                else:
                    value = eval(self.code(text, "eval"), space)
            except Exception as error:
                told = type(error).__name__ == then.type.rsplit(".", 1)[-1]
                return told and (not then.message or str(error) == then.message)
            return False
        value = eval(self.code(text, "eval"), space)
        space["result"] = value
        return self._matches(then, value, space)

    def _matches(self, then: Then, value: Any, space: dict[str, Any]) -> bool:
        if then.kind == "holds":
            if then.text:
                return bool(self._eval(then.text, {**space, "result": value}))
            return type(value).__name__ == then.type
        if then.kind == "items":
            value = _items(value)
        expected = then.value if then.literal else self._eval(then.text, {})
        if expected is None or expected is True or expected is False:
            return value is expected
        if then.kind == "approx":
            return _close(value, expected)
        return bool(value == expected)


def _items(value: Any) -> list[Any] | None:
    """Return an iterator's items; None if there are many, or they grow without end."""
    items: list[Any] = []
    for item in itertools.islice(value, ITERATED + 1):
        items.append(item)
        if sys.getsizeof(item) > 4096:
            return None
    return items if len(items) <= ITERATED else None


def _about(text: str, name: str) -> bool:
    """Whether a view looks at the object of this name."""
    return re.search(rf"\b{name}\b", text) is not None


def _close(value: Any, expected: Any) -> bool:
    if isinstance(expected, (list, tuple)):
        return (
            type(value) is type(expected)
            and len(value) == len(expected)
            and all(map(_close, value, expected))
        )
    if isinstance(expected, dict):
        return (
            isinstance(value, dict)
            and value.keys() == expected.keys()
            and all(_close(value[key], expected[key]) for key in expected)
        )
    if isinstance(expected, float):
        return isinstance(value, (int, float)) and math.isclose(value, expected, rel_tol=1e-6, abs_tol=1e-12)
    return bool(value == expected)


def _raise_lines(tree: ast.Module) -> frozenset[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(lines)
