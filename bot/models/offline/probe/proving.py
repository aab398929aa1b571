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
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from . import ambience, guard, watching
from .outcomes import InvalidCaseError
from .programs import Case, Step
from .running import Runner

_HASH_SEEDS = ("4242", "7", "31")
"""Under each of them the order of a set of two is another one by halves."""
_NUMBER = 11
_TIMEOUT_S = 60
_RESTARTS = 4


def prove(cases: Sequence[Case], job_path: str, job: dict[str, Any], runner: Runner) -> list[Case]:
    """Return the cases that gave the same again; checks that did not are taken off."""
    kept = list(cases)
    job = {**job, "views": runner.observer.views, "imported": runner.names.imported}
    for hash_seed in _HASH_SEEDS:
        again = _answers(kept, job_path, job, hash_seed)
        rows = [(case, again.get(index)) for index, case in enumerate(kept)]
        kept = [case for case, row in rows if row is not None and _agrees(case, row)]
    return kept


def _agrees(case: Case, row: list[Any]) -> bool:
    """Whether a case gave the same again; its checks that did not are taken off."""
    outcome = case.outcome
    then = list(outcome.then.key) if outcome.then is not None else None
    if row[0] != then:
        return False
    same = dict(row[1])
    before = len(outcome.checks)
    outcome.checks = [(e, t) for e, t in outcome.checks if same.get(e) == list(t.key)]
    return bool(outcome.checks) or not before or then is not None


def _answers(cases: Sequence[Case], job_path: str, job: dict[str, Any], hash_seed: str) -> dict[int, Any]:
    """Return what each case gave elsewhere, by index; after a case that ends the process, the others go on."""
    told = [
        {
            "given": [[s.text, s.target] for s in case.given],
            "when": case.when.text,
            "statement": case.when.statement,
            "looks": [expression for expression, _ in case.outcome.checks],
        }
        for case in cases
    ]
    path = job_path + ".proof"
    order = list(range(len(cases)))
    random.Random(11).shuffle(order)
    answers: dict[int, Any] = {}
    for _ in range(_RESTARTS):
        left = [index for index in order if index not in answers]
        if not left:
            break
        Path(path).write_text(json.dumps({**job, "cases": told, "order": left}), encoding="utf-8")
        before = len(answers)
        for index, row in _run(job_path, path, hash_seed):
            answers[index] = row
        fatal = left[len(answers) - before :]
        if fatal:
            answers[fatal[0]] = None
    return answers


def _run(job_path: str, path: str, hash_seed: str) -> list[Any]:
    command = [sys.executable, _start_file(job_path), path, "prove"]
    env = {
        **os.environ,
        "PYTHONHASHSEED": hash_seed,
        "HOME": "/home/somebody",
        "USER": "somebody",
        "COLUMNS": "33",
    }
    try:
        done = subprocess.run(command, env=env, capture_output=True, timeout=_TIMEOUT_S, check=False)
        printed = done.stdout
    except subprocess.TimeoutExpired as error:
        printed = error.stdout or b""
    lines = printed.decode("utf-8", "replace").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _start_file(job_path: str) -> str:
    return str(Path(job_path).with_name("explore.py"))


def answer(job: dict[str, Any], out: TextIO) -> None:
    """Run a job's cases on the plain module and print what each gave, one line each, in the order asked for."""
    _shift_dates()
    watch = guard.Guard()
    watch.install()
    around = ambience.Ambience(watch)
    around.number = _NUMBER
    around.install()
    module = importlib.import_module(job["module"])
    runner = Runner(module, ast.parse(job["source"]), module.__file__ or "", watching.Record(), watch, around)
    sys.stdout = sys.stderr = runner.sink
    runner.warned.install()
    runner.observer.views = job["views"]
    runner.names.imported = job["imported"]
    for index in job["order"]:
        told = job["cases"][index]
        given = tuple(Step(text, target="", statement=True) for text, _ in told["given"])
        for step, (_, target) in zip(given, told["given"]):  # noqa: B905 - Python 3.9 has no strict
            step.bind_as(target)
        row = None
        try:
            case = Case("", given, Step(told["when"], statement=told["statement"]))
            outcome = runner.run(case)
            if {*told["looks"]} - {expression for expression, _ in outcome.checks}:
                outcome.checks += runner.states(case)
            then = outcome.then.key if outcome.then is not None else None
            row = [then, [[expression, t.key] for expression, t in outcome.checks]]
        except InvalidCaseError:
            row = None
        out.write(json.dumps([index, row]) + "\n")
        out.flush()


def _shift_dates() -> None:
    """Set what `datetime` takes for the present to another day, before the module is imported."""
    delta = datetime.timedelta(seconds=ambience.SHIFT_SECONDS)
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
