"""Which tests still pass when the functions they execute are emptied; such a test is hollow.

The suite is collected once. For each test a fork empties the functions it executes and runs it alone.

The job, a JSON object:
    tree, scratch     absolute paths: the repository's copy, a writable directory
    results           the journal to write: `checked` events (id, passes), or a `problem` (message)
    path, module      the source file, relative to the tree, and its import path
    source            its text
    tests             `{"id": ..., "lines": executed lines of the file, "seconds": how long it took}` each
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from . import results, session
from .children import adopt_orphans, become_a_trial, watch
from .emptying import Emptying
from .journal import Journal
from .loading import real_path, replace_source
from .swapping import Functions
from .trial import silence


def main(job: dict[str, Any]) -> int:
    """Run a job; see the module for what it holds and what it writes."""
    journal = Journal(job["results"], waits=True)
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
        self._emptying: Emptying | None = None

    def loop(self, collected: session.Collected) -> None:
        gc.collect()
        # Before the freeze, which hides objects from the search.
        self._functions = Functions(self._path)
        with contextlib.suppress(SyntaxError, ValueError):  # each check then says that it is broken
            self._emptying = Emptying(self._job["source"], self._path)
        gc.freeze()
        adopt_orphans()
        for place, test in enumerate(self._job["tests"]):
            item = collected.by_id.get(test["id"])
            if item is not None:
                passes = self._passes(collected, item, test, place)
                self._journal.write("checked", id=test["id"], passes=passes, whole=not test["lines"])

    def _passes(self, collected: session.Collected, item: Any, test: Mapping[str, Any], place: int) -> bool:
        limit = 1.0 + 10.0 * test["seconds"]
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            self._be_the_child(collected, item, test["lines"], limit, writing, f"hollow-{place}")
        os.close(writing)
        word = watch(child, reading, [limit]).word
        if word == "broken":
            self._journal.write("problem", message="The functions of the file could not be emptied.")
        return word == "passed"

    def _be_the_child(
        self,
        collected: session.Collected,
        item: Any,
        lines: Sequence[int],
        limit: float,
        pipe: int,
        name: str,
    ) -> None:
        """Empty the functions, run the test and end this process with a word on how that went."""
        word = b"broken\n"
        try:
            become_a_trial()
            silence()
            self._settle_in(collected.session.config, name)
            self._empty(lines)
            word = b"failed\n"
            os.write(pipe, b"0\n")
            signal.setitimer(signal.ITIMER_PROF, limit)
            if results.passed(collected.run(item)):
                word = b"passed\n"
        finally:
            os.write(pipe, word)
            os._exit(0)

    def _settle_in(self, config: Any, name: str) -> None:
        """Give this process temporary directories of its own."""
        place = os.path.join(self._job["scratch"], name)
        os.mkdir(place)
        tempfile.tempdir = os.environ["TMPDIR"] = place
        session.use_own_temporary_directory(config, os.path.join(place, "pytest"))

    def _empty(self, lines: Sequence[int]) -> None:
        emptying = self._emptying
        if emptying is None:
            raise ValueError("the file does not compile")
        chosen = emptying.executed(lines)
        functions = self._functions
        if not functions:
            # Only the tests themselves import it; done here, what it runs at import is not emptied.
            with contextlib.suppress(Exception):
                importlib.import_module(self._job["module"])
            functions = Functions(self._path)
        emptying.put_in_place(functions, chosen)
        # A test may import the file once more: by another name, or with `importlib.reload`.
        replace_source(self._path, lambda: emptying.source(chosen))
