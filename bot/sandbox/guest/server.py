"""The process that has collected the suite: its children exchange the code of one function and run tests."""

from __future__ import annotations

import gc
import json
import os
from dataclasses import replace
from types import ModuleType
from typing import Any, Optional

from . import control
from .imports import ImportGraph, dependents
from .infection import Infection
from .loading import replace_source
from .plan import SWAP, Case
from .session import Collected
from .shop import Begin, Enter, Shop
from .swapping import Functions
from .trial import Trial, spare_explanations
from .warming import warm
from .workers import REFUSED, Workers

DEPENDENTS = "dependents"
"""The file with the places of the tests that can feel what the target does at import."""
_START_SECONDS = 20.0
_SPAWNING_FIXTURES = frozenset(["pytester", "testdir", "script_runner"])
_SPAWNING_MODULES = frozenset(["subprocess", "multiprocessing", "concurrent"])


def serve(shop: Shop, collected: Collected, graph: ImportGraph) -> None:
    """Judge the mutants of functions, and leave the others, with what was learnt, to the zygote."""
    graph.stop()
    places = {test: place for place, test in enumerate(shop.job["tests"])}
    known = {test: item for test, item in collected.by_id.items() if test in places}
    feeling = dependents(graph, shop.path, known)
    with open(shop.file(DEPENDENTS), "w", encoding="ascii") as file:
        json.dump(sorted(places[test] for test in feeling), file)
    cases = [case for case in shop.plan.cases if case.way == SWAP]
    if not cases:
        return
    if threads() > 1:
        shop.results.write(
            note="Threads are alive once the suite is collected, so each mutant is run in a process of its own."
        )
        _refuse(shop, cases)
        return
    _judge(shop, collected, known, cases, sorted(_spawners(known, places)))


def _judge(
    shop: Shop, collected: Collected, known: dict[str, Any], cases: list[Case], spawners: list[int]
) -> None:
    spare_explanations(list(known.values()))
    gc.collect()
    functions = Functions(shop.path)
    functions.prepare(shop.plan.module, [case.unit for case in cases])
    gc.freeze()

    source = shop.job["source"]

    def current() -> str:
        return str(source)

    def enter(case: Optional[Case]) -> Begin:
        if case is None:
            changes = [(function, "__code__", function.__code__.replace()) for function in functions]
        else:
            changes = functions.changes(shop.plan.module, case.unit, case.splice) if functions else []

        def begin(trial: Trial) -> None:
            nonlocal source
            source = shop.mutated(case)
            for function, name, value in changes:
                setattr(function, name, value)
            trial.run(collected)

        return begin

    replace_source(shop.path, current)

    tests = sorted({test for case in cases for test in case.tests}.union(spawners))
    infection = Infection(shop.plan.module, cases, functions, len(shop.job["mutants"]))

    observe = _observer(shop, collected, infection) if infection.is_worth_a_run else None
    baseline = control.take(shop, tests, enter, "swap", observe)
    # Code that dislikes forks shows here; whether something else is wrong with these tests, the zygote finds out.
    lost = frozenset(test for test in tests if test not in baseline.cpu)
    control.keep(baseline, shop, lost)
    _refuse(shop, [case for case in cases if not baseline.cpu or not lost.isdisjoint(case.tests)])
    cases = [case for case in cases if baseline.cpu and lost.isdisjoint(case.tests)]
    unmoved = infection.unmoved() if baseline.observed else frozenset()
    # What runs in the processes that tests start, nobody has watched.
    cases = [replace(case, tests=()) if case.number in unmoved else case for case in cases]
    shop.spawning = shop.spawning or bool(baseline.spawning)
    warm(baseline.imported)
    gc.freeze()
    Workers(shop, enter, baseline, _START_SECONDS).judge(cases)


def _observer(shop: Shop, collected: Collected, infection: Infection) -> Enter:
    """Return what makes a child run tests on functions that are watched."""

    def original() -> str:
        # Of a module made anew, no function is watched.
        infection.give_up()
        return str(shop.job["source"])

    def begin(trial: Trial) -> None:
        replace_source(shop.path, original)
        for function, name, value in infection.changes:
            setattr(function, name, value)
        trial.run(collected)

    return lambda _: begin


def _refuse(shop: Shop, cases: list[Case]) -> None:
    with open(shop.file(REFUSED), "a", encoding="ascii") as file:
        file.writelines(f"{case.number}\n" for case in cases)


def threads() -> int:
    """Return how many threads this process has, those that Python does not know included."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        import threading

        return threading.active_count()


def _spawners(items: dict[str, Any], places: dict[str, int]) -> set[int]:
    """Return the tests that may start other Pythons, whose lines no tracer has seen."""
    found = set()
    for test, item in items.items():
        used = [*vars(item.module).values()] if getattr(item, "module", None) is not None else []
        if _SPAWNING_FIXTURES.intersection(getattr(item, "fixturenames", ())) or any(map(_is_spawning, used)):
            found.add(places[test])
    return found


def _is_spawning(thing: object) -> bool:
    """Whether a module's global is `subprocess` or the like, or comes from there."""
    name = getattr(thing, "__name__" if isinstance(thing, ModuleType) else "__module__", None)
    return isinstance(name, str) and name.partition(".")[0] in _SPAWNING_MODULES
