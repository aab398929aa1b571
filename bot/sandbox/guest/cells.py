"""One program on one input after another, in a process that was forked for it: what it gives, and which tests hold.

Every input meets the program as if nothing had run before: its text is executed anew in a namespace of its own. A
program that could reach further than its namespace (`reaches_further`) gets a process for each input.
"""

from __future__ import annotations

import builtins
import os
import random
import resource
import signal
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .literals import text_of

VALUE, RAISED, TIMEOUT, DIED, UNPARSABLE = "value", "raised", "timeout", "died", "unparsable"
"""What an input gives: a value, an exception, no end in time, the end of the interpreter; a program that does not parse."""
PASSED, FAILED, ERRED, LATE, LOST = "P", "F", "E", "T", "X"
"""What a test says: it holds, it does not, it raised, it took too long, the interpreter ended."""
KINDS = frozenset((VALUE, RAISED, TIMEOUT, DIED, UNPARSABLE))
OUTCOMES = frozenset((PASSED, FAILED, ERRED, LATE, LOST))
_PATIENT = 3
"""Inputs that may use the whole time limit; a program that ran out of it so often gets a part of it from then on."""
_HASTY = 0.12
"""That part. A program that has ended an input between it and the whole limit keeps the whole one."""
_SWALLOWED = 4
"""Time limits that a program may catch before its process ends."""


class Expired(BaseException):
    """A time limit; no program catches it by catching Exception."""


class Cells:
    """The inputs of one program.

    Args:
        program: Its text.
        inputs: Expressions, each evaluated in the program's namespace.
        tests: For each input its predicates: expressions over `_`, the value that the input gave.
        limit_s: CPU seconds for an input with one of its predicates.
        late: Inputs that took too long in earlier processes.
        module: The dotted name that the program runs under; empty is none.
        draw: The seed of random numbers.
    """

    def __init__(
        self,
        program: str,
        inputs: Sequence[str],
        tests: Sequence[Sequence[str]],
        limit_s: float,
        late: int = 0,
        module: str = "",
        draw: int = 0,
    ) -> None:
        self._draw = draw
        self._names = {"__name__": module or "program", "__builtins__": builtins}
        if module:
            self._names["__package__"] = module.rpartition(".")[0]
        self._inputs = inputs
        self.tests = tests
        self._limit_s = limit_s
        self._compile = compile
        self._codes: dict[str, Any] = {}
        self._caught = 0
        self._armed = False
        self._late = late
        self._loads = True
        self._slow = False
        try:
            self._program: Any = compile(program, "<program>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            self._program = None

    def run(self, numbers: Sequence[int], single: bool = False) -> Iterator[tuple[int, str, Any, str]]:
        """Yield, for inputs by their number: the number, what it gave, the value's or exception's text, its tests' outcomes.

        Args:
            numbers: Which inputs.
            single: Stop after the first, unless the program ends before any input, which is then true of all.
        """
        random.seed(self._draw)  # a fork draws a seed of its own, but every pair is to meet the same numbers
        self._owner = os.getpid()
        signal.signal(signal.SIGPROF, self._expire)
        for place, number in enumerate(numbers):
            if single and place and self._loads:
                return
            tests = self.tests[number]
            if self._loads:
                kind, text, value = self._observe(self._inputs[number])
                self._late += kind == TIMEOUT
            if kind != VALUE:
                yield number, kind, text, (LATE if kind == TIMEOUT else ERRED) * len(tests)
                continue
            spent = hasattr(value, "__next__")  # looking at an iterator uses it up
            outcomes = []
            for position, test in enumerate(tests):
                if spent and position:
                    value = self._observe(self._inputs[number], look=False)[2]
                outcomes.append(self._holds(test, value))
            yield number, kind, text, "".join(outcomes)

    def _observe(self, source: str, look: bool = True) -> tuple[str, Any, Any]:
        """Run the program and evaluate an input: what it gave, its text, the value itself."""
        if self._program is None:
            self._loads = False
            return UNPARSABLE, None, None
        self._loads = False
        box: list[Any] = []

        def call() -> None:
            self._space: dict[str, Any] = dict(self._names)
            exec(self._program, self._space)
            self._loads = True
            box.append(eval(self._code(source), self._space))
            if look and not hasattr(box[0], "__next__"):
                box.append(text_of(box[0]))

        ended = self._in_time(call)
        if ended is None:
            return VALUE, box[1] if len(box) > 1 else None, box[0]
        if ended is Expired:
            return TIMEOUT, None, None
        return RAISED, ended.__name__, None

    def _holds(self, test: str, value: Any) -> str:
        """Return the outcome of a predicate over a value."""
        found: list[bool] = []

        def look() -> None:
            self._space["_"] = value
            found.append(bool(eval(self._code(test), self._space)))

        ended = self._in_time(look)
        if ended is None:
            return PASSED if found[0] else FAILED
        return LATE if ended is Expired else ERRED

    def _code(self, source: str) -> Any:
        if source not in self._codes:
            self._codes[source] = self._compile(source, "<input>", "eval", dont_inherit=True)
        return self._codes[source]

    def _in_time(self, work: Callable[[], None]) -> type[BaseException] | None:
        """Do something within the time limit; return what it raised."""
        ended: type[BaseException] | None = None
        self._armed = True
        self._caught = 0
        hasty = self._late >= _PATIENT and not self._slow
        limit = self._limit_s * (_HASTY if hasty else 1)
        signal.setitimer(signal.ITIMER_PROF, limit, 0.02)
        try:
            try:
                work()
            finally:
                self._armed = False
        except BaseException as error:
            ended = type(error)
        left = signal.setitimer(signal.ITIMER_PROF, 0)[0]
        if not self._caught and not hasty and limit - left > limit * _HASTY:
            self._slow = True
        if os.getpid() != self._owner:
            os._exit(0)  # a process that the program has forked came back here
        return Expired if self._caught and ended is not None else ended

    def _expire(self, _number: int, _frame: types.FrameType | None) -> None:
        if not self._armed:
            return
        self._caught += 1
        if self._caught > _SWALLOWED:
            os._exit(LATE_EXIT)
        raise Expired


LATE_EXIT = 86
"""Exit code of a process whose program catches its time limit."""


def confine(memory: int) -> None:
    """Take from this process what a program does not need: the standard streams, memory, the making of files and processes."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most, most) if hard == resource.RLIM_INFINITY else (min(most, hard), hard))
