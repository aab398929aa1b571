"""The chosen cases once more, elsewhere: the module as it is, in a new process, with another hash seed, clock and
random state, in another order and without clean-up in between. What then differs cannot be a test."""

from __future__ import annotations

import ast
import datetime
import importlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import guard, watching
from .programs import Case, Step
from .running import InvalidCaseError, Runner

_SHIFT_SECONDS = 37 * 86_400 + 12_345
_TIMEOUT_S = 20


def prove(
    cases: Sequence[Case], job_path: str, job: dict[str, Any], views: dict[str, list[str]]
) -> list[Case]:
    """Return the cases that gave the same again; checks that did not are taken off."""
    told = [
        {
            "given": [[s.text, s.target] for s in case.given],
            "when": case.when.text,
            "statement": case.when.statement,
        }
        for case in cases
    ]
    path = job_path + ".proof"
    Path(path).write_text(json.dumps({**job, "cases": told, "views": views}), encoding="utf-8")
    try:
        done = subprocess.run(
            [sys.executable, _start_file(job_path), path, "prove"],
            env={**os.environ, "PYTHONHASHSEED": "4242"},
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        again = json.loads(done.stdout or b"[]")
    except (ValueError, subprocess.TimeoutExpired):
        return []
    kept = []
    for case, row in zip(cases, again):  # noqa: B905 - Python 3.9 has no strict
        if row is None:
            continue
        outcome = case.outcome
        then = list(outcome.then.key) if outcome.then is not None else None
        if row[0] != then:
            continue
        same = dict(row[1])
        before = len(outcome.checks)
        outcome.checks = [(e, t) for e, t in outcome.checks if same.get(e) == list(t.key)]
        if before and not outcome.checks and then is None:
            continue
        kept.append(case)
    return kept


def _start_file(job_path: str) -> str:
    return str(Path(job_path).with_name("explore.py"))


def answer(job: dict[str, Any]) -> list[Any]:
    """Run a job's cases on the plain module and return what each gave, in the cases' order."""
    _shift_clock()
    watch = guard.Guard()
    watch.install()
    module = importlib.import_module(job["module"])
    runner = Runner(module, ast.parse(job["source"]), module.__file__ or "", watching.Record(), watch)
    runner.views = job["views"]
    runner.reseeds = False
    order = list(range(len(job["cases"])))
    random.Random(11).shuffle(order)
    rows: list[Any] = [None] * len(order)
    for index in order:
        told = job["cases"][index]
        given = tuple(Step(text, target="", statement=True) for text, _ in told["given"])
        for step, (_, target) in zip(given, told["given"]):  # noqa: B905 - Python 3.9 has no strict
            step.bind_as(target)
        case = Case("", given, Step(told["when"], statement=told["statement"]))
        try:
            outcome = runner.run(case)
        except InvalidCaseError:
            continue
        then = outcome.then.key if outcome.then is not None else None
        rows[index] = [then, [[expression, t.key] for expression, t in outcome.checks]]
    return rows


def _shift_clock() -> None:
    """Set the clocks that Python code reads to another day, before the module is imported."""
    random.seed(987)
    real = {
        name: getattr(time, name)
        for name in ("time", "monotonic", "perf_counter", "time_ns", "localtime", "gmtime")
    }
    time.time = lambda: real["time"]() + _SHIFT_SECONDS
    time.monotonic = lambda: real["monotonic"]() + _SHIFT_SECONDS
    time.perf_counter = lambda: real["perf_counter"]() + _SHIFT_SECONDS
    time.time_ns = lambda: real["time_ns"]() + _SHIFT_SECONDS * 10**9
    time.localtime = lambda secs=None: real["localtime"](time.time() if secs is None else secs)
    time.gmtime = lambda secs=None: real["gmtime"](time.time() if secs is None else secs)
    _shift_dates()


def _shift_dates() -> None:
    delta = datetime.timedelta(seconds=_SHIFT_SECONDS)
    real_date, real_datetime = datetime.date, datetime.datetime

    class Like(type):
        """Instances of the real classes count as instances of the shifted ones."""

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, cls.__mro__[1])

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, cls.__mro__[1])

    class date(real_date, metaclass=Like):  # type: ignore[misc,valid-type] # noqa: N801
        @classmethod
        def today(cls) -> Any:
            return real_date.today() + delta

    class shifted(real_datetime, metaclass=Like):  # type: ignore[misc,valid-type] # noqa: N801
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return real_datetime.now(tz) + delta

        @classmethod
        def utcnow(cls) -> Any:
            return real_datetime.now(datetime.timezone.utc).replace(tzinfo=None) + delta  # noqa: UP017

        @classmethod
        def today(cls) -> Any:
            return real_datetime.now() + delta

    shifted.__name__ = "datetime"
    datetime.date = date  # type: ignore[misc]
    datetime.datetime = shifted  # type: ignore[misc]
