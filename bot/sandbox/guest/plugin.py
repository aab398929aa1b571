"""The pytest plugin that writes the journal: results as they come, and coverage by test and by shared fixture."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from typing import Any

from . import results
from .canary import Canaries
from .journal import Journal
from .session import Takeover, hook
from .tracing import Tracer

BETWEEN = "between"
"""Context of what is executed between tests: it belongs to none."""


class Recorder:
    """Writes what happens to the journal.

    Args:
        journal: Where to write.
        takeover: The session's plugin, which knows ids relative to the tree.
        tree: Absolute real path of the repository's copy.
        tracer: Traces coverage; None if it was not asked for.

    Attributes:
        canaries: The plugin that runs twins of tests that passed, whose results are written here, too.
    """

    def __init__(self, journal: Journal, takeover: Takeover, tree: str, tracer: Tracer | None) -> None:
        self._journal = journal
        self._takeover = takeover
        self._tree = tree
        self._tracer = tracer
        self.canaries = Canaries(lambda: self._passed, lambda: journal.write("over"))
        self._passed: list[Any] = []
        self._raised = ""
        self._reports: list[Any] = []
        self._shared: list[str] = []
        self._cases: dict[int, tuple[Any, dict[str, int]]] = {}
        self._live: dict[str, dict[int, tuple[Any, str]]] = {}

    # ---------------------------------------------------------------- collection

    def pytest_collectstart(self, collector: Any) -> None:
        self._journal.write("collecting", path=self._takeover.tree_id(collector.nodeid.partition("::")[0]))

    @hook(hookwrapper=True)
    def pytest_generate_tests(self, metafunc: Any) -> Iterator[None]:
        yield
        # Later on pytest 8 numbers the cases of a function through, over all its parametrize marks.
        for callspec in metafunc._calls:
            self._cases[id(callspec)] = (
                callspec,
                {str(name): int(i) for name, i in callspec.indices.items()},
            )

    @hook(hookwrapper=True)
    def pytest_collection(self, session: Any) -> Iterator[None]:
        outcome: Any = yield
        if outcome.excinfo is not None:
            # A test file that exits while it is imported ends the session; the file stays the one that was collected.
            error = outcome.excinfo[1]
            self._journal.write("problem", message=_named(error))
            return
        ids = [self._takeover.tree_id(item.nodeid) for item in session.items]
        self._journal.write("collected", ids=ids, errors=self._takeover.errors)
        if self._tracer is not None:
            self._tracer.find_caches()
            self._cover(self._tracer.imports())
            self._tracer.enter(BETWEEN)

    def pytest_internalerror(self, excinfo: Any) -> None:
        lines = str(excinfo.value).strip().splitlines()
        cause = f"{excinfo.typename}: {lines[0]}" if lines else excinfo.typename
        self._journal.write("problem", message=f"pytest failed: {cause}")

    # ---------------------------------------------------------------- tests

    @hook(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        name = self._takeover.tree_id(item.nodeid)
        del self._reports[:], self._shared[:]
        twin = self.canaries.is_twin(item)
        if twin:
            self._journal.write("twin", id=name)
        else:
            _, case = self._cases.get(id(getattr(item, "callspec", None)), (None, {}))
            self._journal.write("begin", id=name, function=results.function_name(item), case=case)
        if self._tracer is not None:
            self._tracer.ensure()
            self._tracer.clear_caches()
            self._tracer.enter(f"test {name}")
        outcome: Any = yield
        if not self._journal.is_owner:
            # A test has forked, and the child has run on to here: it must not run the other tests too.
            os._exit(1)
        if self._tracer is not None:
            self._cover(self._tracer.leave())
            if self._shared:
                self._journal.write("uses", id=name, contexts=sorted(set(self._shared)))
        if twin and outcome.excinfo is not None:
            return
        if outcome.excinfo is not None:
            # pytest.exit or Ctrl-C: the session ends here, and the test stays the one that was running.
            error = outcome.excinfo[1]
            self._journal.write("problem", message=_named(error))
            return
        result = results.fold(self._reports, self._raised)
        if twin:
            self._journal.write("canary", id=name, outcome=result["outcome"])
            return
        self._journal.write("test", id=name, **result)
        if result["outcome"] == "passed":
            self._passed.append(item)
        if _is_closed(sys.stdout) or _is_closed(sys.stderr):
            # pytest cannot capture any more, and every further test would fail: the rest runs in a new process.
            self._journal.write("over")
            os._exit(1)

    @hook(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> Iterator[None]:
        # Before others have a hand in it; those of unittest have their exceptions only afterwards.
        raised = call.excinfo
        outcome: Any = yield
        raised = raised or call.excinfo
        if call.when == "setup":
            self._raised = ""
        if raised is not None:
            outcome.get_result().account = results.describe_failure(raised, self._tree)
            if results.is_failure(raised):
                self._raised = raised.typename

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._reports.append(report)

    # ---------------------------------------------------------------- fixtures that several tests share

    @hook(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        if self._tracer is None or fixturedef.scope == "function":
            yield
            return
        context = (
            f"fixture {fixturedef.scope} {fixturedef.baseid}::{fixturedef.argname}[{request.param_index}]"
        )
        self._live.setdefault(fixturedef.argname, {})[id(fixturedef)] = (fixturedef, context)
        # Finalizers run last in, first out: what the fixture does after its `yield` lies between these two.
        fixturedef.addfinalizer(self._leave)
        self._tracer.enter(context)
        yield
        self._leave()
        fixturedef.addfinalizer(lambda: self._enter(context))

    @hook(tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> None:
        if self._tracer is None:
            return
        used = getattr(getattr(item, "_request", None), "_fixture_defs", None) or {}
        for name in used:
            # A fixture may use the one it overrides, of the same name, which pytest does not list.
            for fixturedef, context in self._live.get(name, {}).values():
                if fixturedef.cached_result is not None and item.nodeid.startswith(fixturedef.baseid):
                    self._shared.append(context)

    def _enter(self, context: str) -> None:
        if self._tracer is not None:
            self._tracer.enter(context)

    def _leave(self) -> None:
        if self._tracer is not None:
            self._cover(self._tracer.leave())

    def _cover(self, executed: list[dict[str, Any]]) -> None:
        for fields in executed:
            self._journal.write("cover", **fields)


def _named(error: BaseException) -> str:
    """Return an exception's type and, if it has any, its text."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _is_closed(stream: Any) -> bool:
    """Whether a test has closed a stream, or the file below it."""
    try:
        return bool(stream.closed) or not os.fstat(stream.fileno())
    except ValueError:
        # A stream in memory has no file.
        return False
    except OSError as error:
        return error.errno == errno.EBADF
    except AttributeError:
        return True
