"""What the targets of one run share: the trees on disk, where code runs, the existing tests' results, the model."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot import changes, environment
from bot.agent.estimates import estimate
from bot.domain import Change, Progress, Request, Suite, Usage
from bot.measure import baseline, pytest_arguments
from bot.measure.baseline import Baseline
from bot.models import Model
from bot.models.builtin import NAME
from bot.models.client import Tapes, greet, load, price_of
from bot.repoconfig import RepoConfig
from bot.sandbox import Interpreter, Sandboxes, leftovers
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

    def apart(self, name: str) -> Site:
        """Return this site with a copy of the tree of its own, to which suites can be added unseen by others."""
        own = self.tree.with_name(f"{self.tree.name}-{name}")
        shutil.copytree(self.tree, own, symlinks=True)
        return replace(self, tree=own)

    def add(self, suite: Suite | None) -> None:
        """Put a proposed suite in its place in the tree."""
        if suite is not None:
            file = self.tree / suite.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(suite.content.encode("utf-8"))


@dataclass(frozen=True, slots=True)
class Workshop:
    """A site with the existing tests measured and a model at hand.

    Attributes:
        opening: What it took to see that the model answers.
    """

    site: Site
    request: Request
    config: RepoConfig
    baseline: Baseline
    model: Model
    tell: Listener
    opening: Usage = field(default_factory=Usage)


@contextmanager
def workshop(
    request: Request, config: RepoConfig, change: Change, tell: Listener, wrap: Wrapper = lambda model: model
) -> Iterator[Workshop]:
    """Prepare all that the targets of a change share; it is gone when the context ends.

    Args:
        wrap: Is given the model, and gives the one to be used in its place.

    Raises:
        UsageError: The model cannot answer until something is set up.
        InconclusiveError: The repository's code cannot be installed or run.
    """
    model, opening = _answering_model(request, change, tell, wrap)
    with site(request, config, change, tell) as place:
        with stage(tell, "baseline") as say, place.sandboxes.open(place.tree, place.interpreter) as box:
            own = pytest_arguments.read(config.tests.command, place.tree).selection
            existing = baseline.take(box, change.targets, selection=own, timeout_s=BASELINE_S)
            say(existing.problem or f"{len(existing.green)} tests pass, {len(existing.red)} fail")
        yield Workshop(place, request, config, existing, model, tell, opening)


def _answering_model(request: Request, change: Change, tell: Listener, wrap: Wrapper) -> tuple[Model, Usage]:
    """Return the model, known to answer before anything is installed or run, and what it took to find out."""
    tapes = Tapes(request.trace, request.record, request.replay)
    model = wrap(load(request.model, seed=request.seed, budget_usd=request.budget_usd, tapes=tapes))
    if request.model == NAME:
        return model, Usage()
    with stage(tell, "model") as say:
        opening = greet(model)
        say(_expected_cost(request, change))
    return model, opening


def _expected_cost(request: Request, change: Change) -> str:
    """Return what the run is likely to cost, in a sentence."""
    if request.replay is not None:
        return f"replayed from {request.replay}"
    found = estimate(change.targets, request.max_iterations, price_of(request.model))
    files = "1 file" if len(change.targets) == 1 else f"{len(change.targets)} files"
    if found.low_usd is None or found.high_usd is None:
        return (
            f"about {found.low_tokens:,} to {found.high_tokens:,} tokens for {files}; the price of {request.model} is "
            f"not known, TESTFORGE_MODEL_PRICE can say it{_unkept(request)}"
        )
    limit = "" if request.budget_usd is None else f", never more than ${request.budget_usd:.2f}"
    return f"about ${found.low_usd:.2f} to ${found.high_usd:.2f} for {files}{limit}"


def _unkept(request: Request) -> str:
    """Return what an unknown price means for the request's budget."""
    if request.budget_usd is None:
        return ""
    return f"; until then the budget of ${request.budget_usd:.2f} limits nothing"


@contextmanager
def site(request: Request, config: RepoConfig, change: Change, tell: Listener) -> Iterator[Site]:
    """Write the trees to a temporary directory and find or install what the code needs."""
    sandboxes = choose(request.sandbox)
    with leftovers.temporary("testforge-run-") as directory:
        tree, base_tree = Path(directory, "head"), Path(directory, "base")
        tree.mkdir()
        changes.checkout(change, tree)
        if change.base is not None:
            base_tree.mkdir()
            changes.checkout_base(change, base_tree)
        with stage(tell, "environment") as say:
            roots = changes.import_roots(changes.working_files(tree))
            interpreter = environment.prepare(
                tree, change.root, config, roots=roots, note=say, sandboxes=sandboxes, scope=request.scope
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
