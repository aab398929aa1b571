"""Canaries: tests that are known to fail, under the names of tests that have passed.

Where one of them passes, something makes tests pass whatever they find: a hook of a conftest.py, a changed pytest.
They run when all others have, with the same hooks, but without fixtures, and nobody is shown what they do.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from . import phantom
from .session import hook

MOST = 8
"""So many of the tests that passed have a twin, drawn anew in each run."""


class Canaries:
    """The plugin that runs the twins.

    Args:
        passed: Returns pytest's items that have passed.
        over: Called when the loop has ended, however it did.
    """

    def __init__(self, passed: Callable[[], Sequence[Any]], over: Callable[[], None]) -> None:
        self._passed = passed
        self._over = over
        self._twins: list[Any] = []

    def is_twin(self, item: Any) -> bool:
        """Tell whether an item is one of them."""
        return any(item is twin for twin in self._twins)

    @hook(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> Iterator[None]:
        outcome: Any = yield
        if outcome.excinfo is None:
            self._run(session)
        self._over()

    def _run(self, session: Any) -> None:
        failed, shown = session.testsfailed, session.config.pluginmanager.unregister(name="terminalreporter")
        try:
            for item in self._chosen():
                twin = _twin(item)
                self._twins.append(twin)
                twin.ihook.pytest_runtest_protocol(item=twin, nextitem=None)
        except BaseException:
            # A hook that cannot cope with them: then nothing is known, which is no reason to doubt the others.
            del self._twins[:]
        finally:
            session.testsfailed = failed
            if shown is not None:
                session.config.pluginmanager.register(shown, "terminalreporter")

    def _chosen(self) -> Sequence[Any]:
        possible = [item for item in self._passed() if _has_twin(item)]
        return possible if len(possible) <= MOST else random.Random(os.urandom(8)).sample(possible, MOST)


def _has_twin(item: Any) -> bool:
    return isinstance(item, pytest.Function) and item.getparent(pytest.Module) is not None


def _twin(item: Any) -> Any:
    """Return an item that fails, of an item's name and in its place, but without fixtures."""
    needs = item._fixtureinfo
    none = type(needs)(argnames=(), initialnames=(), names_closure=[], name2fixturedefs={})
    module = item.getparent(pytest.Module)
    twin: Any = pytest.Function.from_parent(
        module,
        name=item.name,
        callobj=phantom.fails,
        fixtureinfo=none,
        originalname=getattr(item, "originalname", None) or item.name,
    )
    twin._nodeid = item.nodeid
    return twin
