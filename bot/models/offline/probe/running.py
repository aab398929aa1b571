"""Runs a case on the module and tells what it gave; runs it again on a faulty module and says whether that shows."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import sys
from types import ModuleType
from typing import Any

from . import guard, telling, watching
from .ambience import CHANCE, PLACE, Ambience
from .comparing import Comparison
from .evaluation import Texts
from .names import Names
from .observing import Observer
from .outcomes import InvalidCaseError, Key, Outcome, Then
from .programs import Case
from .state import Sink, State
from .warned import Warned

_LEFT = (
    watching.TooManySteps,
    guard.RefusedError,
    guard.OverdueError,
    SystemExit,
    KeyboardInterrupt,
    GeneratorExit,
)
_LARGE = re.compile(r"\d{6,}|\d+e\d+")
_ENDLESS = re.compile(r"range\([^()]*\d{6,}")
_DIGITS = 5
_BEARABLE_SECONDS = 0.15
_REMEMBERED = 5000


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
        self.bearable: dict[str, int] = {}
        self.unbearable: dict[str, int] = {}
        self.before: dict[tuple[str, ...], dict[str, Key]] = {}
        self.names = Names(module, tree)
        self.texts = Texts(self.names)
        self.observer = Observer(self.names, self.texts, record, path, tree)
        self.warned = Warned()
        self.comparison = Comparison(self.texts, self.warned)
        self.adopt(module)

    def adopt(self, module: ModuleType) -> None:
        """Run on this version of the module from now on."""
        self.module = module
        self.names.adopt(module)
        self.state = State(module)
        self.before.clear()
        self.observer.adopt(module)

    def run(self, case: Case) -> Outcome:
        """Run a case and tell what it gave. Raises InvalidCaseError if it cannot be a test."""
        if not self._bearable(case):
            raise InvalidCaseError("OverdueError")
        try:
            outcome = self._run_imported(case)
            self._refuse_accidents(case, outcome)
            return outcome
        except guard.OverdueError:  # the net was hit while what the case left was cleared away
            raise InvalidCaseError("OverdueError") from None

    def _run_imported(self, case: Case) -> Outcome:
        """Run a case; once more where it imported something, since that may look at files and counts only once."""
        known = len(sys.modules)
        try:
            outcome = self._run(case)
        except InvalidCaseError:
            if len(sys.modules) == known:
                raise
        else:
            if len(sys.modules) == known:
                return outcome
        return self._run(case)

    def _run(self, case: Case) -> Outcome:
        record = self.record
        texts = [step.text for step in case.given]
        before = self._looked_at_before(case) if texts else {}
        self._start(watching.STEP_LIMIT)
        try:
            space = self.names.space([*texts, case.when.text])
            self.guard.arm()
            for step in case.given:
                exec(self.texts.code(step.text, "exec"), space)
            record.marks.clear()
            entered = dict(record.hits)
            then = self._when(case, space)
            shown = self._features(record, then, entered)
            checks = self.observer.checks(case, space, then, before)
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
        outcome.lazy = self.observer.iterating
        outcome.output = self.sink.taken()
        return outcome

    def _looked_at_before(self, case: Case) -> dict[str, Key]:
        """Look at what was given in a run of its own, for a look may change an object; the same steps once."""
        texts = tuple(step.text for step in case.given)
        found = self.before.get(texts)
        if found is None:
            if len(self.before) >= _REMEMBERED:
                self.before.clear()
            found = {}
            self._start(watching.STEP_LIMIT)
            try:
                space = self.names.space([*texts])
                self.guard.arm()
                for text in texts:
                    exec(self.texts.code(text, "exec"), space)
                found = self.observer.before(case, space)
            except BaseException:  # the run proper meets it again, and tells
                found = {}
            finally:
                self.guard.armed = False
                self._put_back()
            self.before[texts] = found
        return found

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
            if then.warning:
                found.add(("warns", then.warning))
        return frozenset(found)

    def _when(self, case: Case, space: dict[str, Any]) -> Then | None:
        text = case.when.text
        self.observer.iterating = False
        try:
            if case.when.statement:
                exec(self.texts.code(text, "exec"), space)
                return None
            self.warned.heard.clear()
            value = eval(self.texts.code(text, "eval"), space)
            then = self.observer.tell(value, space)
            if self.warned.heard:
                self.warned.tell(then, self.module)
            space["result"] = value
            return then
        except MemoryError:
            raise
        except Exception as error:
            then = self.observer.tell_error(error)
            if self.observer.is_refused(case, error):
                then.deliberate = True
            if telling.is_opaque(then.message, text):
                then.message = ""
            return then

    def states(self, case: Case) -> list[tuple[str, Then]]:
        """Run a case and return all that can be looked at afterwards of the objects that it was given."""
        self._start(watching.STEP_LIMIT)
        try:
            space = self.names.space([*(step.text for step in case.given), case.when.text])
            self.guard.arm()
            for step in case.given:
                exec(self.texts.code(step.text, "exec"), space)
            with contextlib.suppress(Exception):
                exec(self.texts.code(case.when.text, "exec"), space)
            texts = [
                view.replace("{self}", name)
                for name, views in self.observer.receivers(case, space)
                for view in views
            ]
            looks = [(text, self.observer.look(text, space)) for text in texts if text != case.when.text]
            return [(text, then) for text, then in looks if then is not None]
        except (Exception, *_LEFT):
            return []
        finally:
            self.guard.armed = False
            self._put_back()

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
                exec(self.texts.code(step.text, "exec"), space)
            return not self.comparison.same(case, outcome.then, space) or any(
                not self.comparison.matches(then, self.texts.value(text, space), space)
                for text, then in outcome.checks
            )
        except guard.OverdueError:
            self.overdue = True
            return True
        except BaseException:
            return True
        finally:
            self.guard.armed = False
            self._put_back()
