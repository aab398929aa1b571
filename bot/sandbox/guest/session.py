"""One pytest session inside the sandbox, under the repository's own configuration.

What the repository configures is obeyed, but for what would disturb measuring (`options.HARMLESS`). Node ids are
those of pytest with its root directory made relative to the tree, so that they name files as git does.
"""

from __future__ import annotations

import os
import pathlib
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import pytest

from . import options

Hook = TypeVar("Hook", bound=Callable[..., Any])


def hook(**how: bool) -> Callable[[Hook], Hook]:
    """Return pytest's marker of hook implementations, with its type kept; `how` as for `pytest.hookimpl`."""
    return cast("Callable[[Hook], Hook]", pytest.hookimpl(**how))


@dataclass(frozen=True)
class SessionJob:
    """What to collect.

    Attributes:
        tree: The repository's copy, absolute; the session runs in it.
        scratch: A writable directory outside the tree for pytest's cache.
        selection: Files and exact node ids relative to the tree; empty is the repository's default collection.
        without: Exact node ids to leave out.
        ignore: Files not to collect at all.
        order_seed: Shuffle files, classes in a file and tests in a class; None keeps the repository's order.
        capture: pytest's capture method; `sys` where the process will be forked, "" is the repository's own.
    """

    tree: str
    scratch: str
    selection: Sequence[str] = ()
    without: Collection[str] = ()
    ignore: Collection[str] = ()
    order_seed: int | None = None
    capture: str = ""


@dataclass
class Collected:
    """The session once its tests are collected, as handed to a loop.

    Attributes:
        items: pytest's items in the order to run.
        by_id: The same by node id relative to the tree.
        errors: Messages of files that could not be collected, by path.
    """

    session: Any
    items: list[Any]
    by_id: dict[str, Any]
    errors: dict[str, str] = field(default_factory=dict)
    reports: list[Any] = field(default_factory=list)

    def run(self, item: Any, nextitem: Any = None) -> list[Any]:
        """Run one item as pytest would, plugins, warning filters and assertion rewriting included.

        Args:
            item: One of `items`.
            nextitem: What runs after it, which decides the fixtures that stay up; None takes all down.

        Returns:
            Its reports: setup, call, teardown.
        """
        del self.reports[:]
        item.ihook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        return list(self.reports)


Loop = Callable[[Collected], None]


class Takeover:
    """The plugin that makes a session measurable, keeps the chosen items and hands them to a loop.

    Args:
        job: What to collect.
        loop: Called in pytest's run loop in place of its own; None leaves it to pytest.
    """

    def __init__(self, job: SessionJob, loop: Loop | None = None) -> None:
        self.job = job
        self.loop = loop
        self.collected: Collected | None = None
        self.problem = ""
        self._root = self._tree = os.path.realpath(job.tree)
        self.errors: dict[str, str] = {}
        self._reports: list[Any] = []

    def tree_id(self, nodeid: str) -> str:
        """Return a pytest node id relative to the tree."""
        path, mark, rest = nodeid.partition("::")
        if self._root != self._tree:
            path = os.path.relpath(os.path.join(self._root, path), self._tree).replace(os.sep, "/")
        return path + mark + rest

    @hook(hookwrapper=True)
    def pytest_load_initial_conftests(self, early_config: Any, parser: Any) -> Iterator[None]:
        options.declare_missing(parser, early_config.known_args_namespace)
        options.make_harmless(early_config.known_args_namespace)
        yield

    @hook(hookwrapper=True)
    def pytest_cmdline_parse(self) -> Iterator[None]:
        outcome: Any = yield
        self._note_problem(outcome)

    @hook(hookwrapper=True)
    def pytest_cmdline_main(self, config: Any) -> Iterator[None]:
        options.make_harmless(config.option)
        # pytest 6.0 has no `rootpath` yet.
        self._root = os.path.realpath(str(getattr(config, "rootpath", None) or config.rootdir))
        outcome: Any = yield
        self._note_problem(outcome)

    @hook(hookwrapper=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> Iterator[None]:
        yield
        wanted = _Selection(self.job)
        named = [(self.tree_id(item.nodeid), item) for item in items]
        kept = [(name, item) for name, item in named if wanted.holds(name)]
        dropped = [item for name, item in named if not wanted.holds(name)]
        seed = self.job.order_seed
        if seed is not None:
            kept.sort(key=lambda pair: _shuffled(pair[0], seed))
        items[:] = [item for _, item in kept]
        if dropped:
            config.hook.pytest_deselected(items=dropped)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            path = self.tree_id(report.nodeid.partition("::")[0]) or "."
            self.errors.setdefault(path, str(report.longrepr))

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._reports.append(report)

    @hook(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> Iterator[None]:
        by_id = {self.tree_id(item.nodeid): item for item in session.items}
        self.collected = Collected(session, list(session.items), by_id, self.errors, self._reports)
        if self.loop is not None:
            # pytest's own loop still follows, with nothing to run.
            session.items = []
            self.loop(self.collected)
        yield

    def _note_problem(self, outcome: Any) -> None:
        error = outcome.excinfo[1] if outcome.excinfo is not None else None
        if error is not None and not isinstance(error, SystemExit):
            self.problem = _described(error)


class _Selection:
    """Which node ids a job asks for, exactly: `test_x` does not bring `test_x_ok` along."""

    def __init__(self, job: SessionJob) -> None:
        self._ids = {name for name in job.selection if "::" in name}
        self._files = tuple(name.rstrip("/") for name in job.selection if "::" not in name)
        self._without = frozenset(job.without)

    def holds(self, name: str) -> bool:
        if name in self._without:
            return False
        if not self._ids and not self._files:
            return True
        path = name.partition("::")[0]
        below = any(path == file or file == "." or path.startswith(file + "/") for file in self._files)
        return below or name in self._ids


def run(job: SessionJob, takeover: Takeover, plugins: Sequence[object] = ()) -> int:
    """Run pytest in this process.

    Args:
        job: What to collect.
        takeover: The plugin made for the job, with the loop that takes over once the items are collected, if any.
        plugins: Further plugins to register.

    Returns:
        pytest's exit code; `takeover` says what happened.
    """
    os.chdir(job.tree)
    return int(pytest.main(arguments(job), plugins=[takeover, *plugins]))


def arguments(job: SessionJob) -> list[str]:
    """Return pytest's arguments: the files of the selection (not the ids, which may hold anything) and options."""
    files = dict.fromkeys(name.partition("::")[0] for name in job.selection)
    chosen = [f"--capture={job.capture}"] if job.capture else []
    ignored = [f"--ignore={os.path.join(job.tree, path)}" for path in job.ignore]
    cache = ["-o", f"cache_dir={os.path.join(job.scratch, 'pytest-cache')}"]
    return [*chosen, *ignored, *cache, *(file for file in files if file not in job.ignore)]


def use_own_temporary_directory(config: Any, path: str) -> None:
    """Give a forked child its own base for `tmp_path`, so that children do not meet in one directory.

    Args:
        config: pytest's configuration in the child.
        path: An absolute path that does not exist yet, below a directory that does.
    """
    factory = getattr(config, "_tmp_path_factory", None)
    if factory is not None:
        factory._given_basetemp = pathlib.Path(path)
        factory._basetemp = None


def _shuffled(name: str, seed: int) -> tuple[float, ...]:
    """Return a sort key that keeps a file's tests together and a class's tests together."""
    path, _, rest = name.partition("::")
    outer = rest.partition("[")[0].rpartition("::")[0]
    parts = (path, f"{path}::{outer}", name)
    return tuple(random.Random(f"{seed} {part}").random() for part in parts)


def _described(error: BaseException) -> str:
    """Return why pytest could not start: a wrong option, a conftest.py that raises."""
    # pytest's error for a conftest.py holds the cause, in older versions as an exc_info.
    cause = getattr(error, "cause", None) or getattr(error, "excinfo", (None, None))[1]
    if cause is None:
        # Of a wrong option pytest's parser prints its whole usage, and the files it read the option from.
        text = str(error).rpartition("error: ")[2].partition("\n  inifile:")[0]
        return " ".join(text.split()) or type(error).__name__
    path = os.path.basename(str(getattr(error, "path", ""))) or "conftest.py"
    return f"{path}: {type(cause).__name__}: {cause}"
