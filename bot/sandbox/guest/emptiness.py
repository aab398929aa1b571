"""Which tests still pass when the functions they execute are emptied; such a test is hollow.

The suite is collected once. For each test a fork empties the functions it executes and runs it alone.

The job, a JSON object:
    tree, scratch     absolute paths: the repository's copy, a writable directory
    results           the file to write: one JSON object a line, `{"id": ..., "passes": bool}`, or `{"problem": ...}`
    path, module      the source file, relative to the tree, and its import path
    source            its text
    tests             `{"id": ..., "lines": executed lines of the file, "seconds": how long it took}` each
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any

from . import results, session
from .children import adopt_orphans, become_a_trial, watch
from .emptying import Emptying
from .journal import Journal
from .loading import real_path, replace_source
from .swapping import Functions
from .trial import Trial, silence


def main(job: dict[str, Any]) -> int:
    """Run a job; see the module for what it holds and what it writes."""
    journal = Journal(job["results"])
    asked = session.SessionJob(
        job["tree"], job["scratch"], selection=[test["id"] for test in job["tests"]], capture="sys"
    )
    checks = _Checks(job, journal)
    takeover = session.Takeover(asked, checks.loop)
    code = session.run(asked, takeover)
    if takeover.collected is None:
        reason = takeover.problem or f"pytest ended with exit code {code}"
        journal.write("problem", message=f"The suite could not be collected: {reason}.")
    return 0


class _Checks:
    """Runs each test of a job in a fork of the collected suite."""

    def __init__(self, job: Mapping[str, Any], journal: Journal) -> None:
        self._job = job
        self._journal = journal
        self._path = real_path(os.path.join(job["tree"], job["path"]))

        self._functions: Functions | None = None

    def loop(self, collected: session.Collected) -> None:
        gc.collect()
        # Before the freeze, which hides objects from the search.
        self._functions = Functions(self._path)
        gc.freeze()
        adopt_orphans()
        for place, test in enumerate(self._job["tests"]):
            item = collected.by_id.get(test["id"])
            if item is not None:
                passes = self._passes(collected, item, test, place)
                self._journal.write("checked", id=test["id"], passes=passes)

    def _passes(self, collected: session.Collected, item: Any, test: Mapping[str, Any], place: int) -> bool:
        limit = 1.0 + 10.0 * test["seconds"]
        reading, writing = os.pipe()
        child = os.fork()
        if child:
            os.close(writing)
            return watch(child, reading, [limit]).word == "passed"
        trial = Trial(writing, [test["id"]], [limit], os.path.join(self._job["scratch"], f"hollow-{place}"))
        passed = False
        try:
            become_a_trial()
            silence()
            trial.settle_in(collected.session.config)
            self._empty(test["lines"])
            trial.say("0")
            signal.setitimer(signal.ITIMER_PROF, limit)
            passed = results.passed(collected.run(item))
        finally:
            trial.end("passed" if passed else "failed")
        return passed

    def _empty(self, lines: Sequence[int]) -> None:
        emptying = Emptying(self._job["source"], self._path, lines)
        functions = self._functions
        if not functions:
            # Only the tests themselves import it; done here, what it runs at import is not emptied.
            importlib.import_module(self._job["module"])
            functions = Functions(self._path)
        emptying.put_in_place(functions)
        # A test may import the file once more: by another name, or with `importlib.reload`.
        replace_source(self._path, emptying.source())
