"""What a process does before it is forked many times, so that its children need not do it each."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterable

_HARMLESS = frozenset(getattr(sys, "stdlib_module_names", ())) | {"_pytest"}


def warm(modules: Iterable[str]) -> None:
    """Import what tests will import, as far as it is the standard library's or pytest's, and fill slow caches.

    No test and nothing of the repository runs here.

    Args:
        modules: What tests have imported in another process.
    """
    for name in modules:
        if name.partition(".")[0] in _HARMLESS:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    _warm_freezegun()


def _warm_freezegun() -> None:
    """Let freezegun look through all modules, as it does for the first frozen test of a process."""
    freezegun = sys.modules.get("freezegun")
    if freezegun is None:
        return
    with contextlib.suppress(Exception):
        freezer = freezegun.freeze_time("2000-01-01")
        freezer.start()
        freezer.stop()
