"""What the targets of one run share: the trees on disk, where code runs, the existing tests' results, the model."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bot import changes, environment
from bot.domain import Change, Progress, Request, Suite
from bot.measure import baseline, pytest_arguments
from bot.measure.baseline import Baseline
from bot.models import Model
from bot.models.client import load
from bot.repoconfig import RepoConfig
from bot.sandbox import Interpreter, Sandboxes
from bot.sandbox.choice import choose

BASELINE_S = 300.0
"""Seconds that the repository's own tests may take before a run does without them."""

Listener = Callable[[Progress], None]
Wrapper = Callable[[Model], Model]


@dataclass(frozen=True, slots=True)
class Site:
    """A checkout in which code can be run.

    Attributes:
        tree: A copy of head, with the suites proposed so far; sandboxes only read it.
        base_tree: A copy of the base commit; None where there is none.
    """

    tree: Path
    base_tree: Path | None
    interpreter: Interpreter
    sandboxes: Sandboxes

    def read(self, path: str) -> str:
        """Return the text of a file at head. Raises OSError, or UnicodeDecodeError if it is not UTF-8."""
        return (self.tree / path).read_text("utf-8")

    def add(self, suite: Suite | None) -> None:
        """Put a proposed suite in its place in the tree."""
        if suite is not None:
            file = self.tree / suite.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(suite.content.encode("utf-8"))


@dataclass(frozen=True, slots=True)
class Workshop:
    """A site with the existing tests measured and a model at hand."""

    site: Site
    request: Request
    config: RepoConfig
    baseline: Baseline
    model: Model
    tell: Listener


@contextmanager
def workshop(
    request: Request, config: RepoConfig, change: Change, tell: Listener, wrap: Wrapper = lambda model: model
) -> Iterator[Workshop]:
    """Prepare all that the targets of a change share; it is gone when the context ends.

    Args:
        wrap: Is given the model, and gives the one to be used in its place.

    Raises:
        InconclusiveError: The repository's code cannot be installed or run.
    """
    with site(request, config, change, tell) as place:
        with stage(tell, "baseline") as say, place.sandboxes.open(place.tree, place.interpreter) as box:
            own = pytest_arguments.read(config.tests.command, place.tree).selection
            existing = baseline.take(box, change.targets, selection=own, timeout_s=BASELINE_S)
            say(existing.problem or f"{len(existing.green)} tests pass, {len(existing.red)} fail")
        model = load(request.model, seed=request.seed, budget_usd=request.budget_usd)
        yield Workshop(place, request, config, existing, wrap(model), tell)


@contextmanager
def site(request: Request, config: RepoConfig, change: Change, tell: Listener) -> Iterator[Site]:
    """Write the trees to a temporary directory and find or install what the code needs."""
    sandboxes = choose(request.sandbox)
    with tempfile.TemporaryDirectory(prefix="testforge-") as directory:
        tree, base_tree = Path(directory, "head"), Path(directory, "base")
        tree.mkdir()
        changes.checkout(change, tree)
        if change.base is not None:
            base_tree.mkdir()
            changes.checkout_base(change, base_tree)
        with stage(tell, "environment") as say:
            roots = changes.import_roots(changes.working_files(tree))
            interpreter = environment.prepare(
                tree, change.root, config, roots=roots, note=say, sandboxes=sandboxes
            )
            options = pytest_arguments.read(config.tests.command, tree).options
            interpreter = replace(interpreter, pytest_options=options)
            say(f"Python {interpreter.version}")
        yield Site(tree, base_tree if change.base is not None else None, interpreter, sandboxes)


@contextmanager
def stage(tell: Listener, name: str, target: str = "") -> Iterator[Callable[[str], None]]:
    """Announce a stage, its remarks, and its end with the last of them."""
    last = ""

    def say(text: str) -> None:
        nonlocal last
        last = text
        tell(Progress(name, "note", target, text))

    tell(Progress(name, "started", target))
    try:
        yield say
    except BaseException as error:
        tell(
            Progress(
                name, "failed", target, "stopped" if isinstance(error, KeyboardInterrupt) else str(error)
            )
        )
        raise
    tell(Progress(name, "done", target, last))
