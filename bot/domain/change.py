"""The request and the change: what a person asked for, and what of a repository it concerns."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Earlier:
    """A suite that was proposed for a target before, at another head of the same change.

    Attributes:
        target: The target's path.
        functions: `functions_hash` of the target it was written for.
        content: The file as it was proposed.
    """

    target: str
    functions: str
    content: str


@dataclass(frozen=True, slots=True)
class Approved:
    """Something that an author said a function should do.

    Attributes:
        path, function: The function at the top of a source file.
        call, predicate: `assert <predicate>` with the call in place of `_`.
        actor: Who said so, as a login with `@`.
        asked: The function's text as it was asked about.
        repair: Its text as it would do all that was approved; empty if nobody wrote it so.
    """

    path: str
    function: str
    call: str
    predicate: str
    actor: str = ""
    asked: str = ""
    repair: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for.

    Attributes:
        root: A directory inside the repository.
        base: The ref the change is measured from; None for `generate`, where the whole file counts as changed.
        head: The ref to review; None is the working tree, uncommitted changes included.
        whole_file: For `generate`: the one source file, relative to the repository's root.
        only: Limits the review to targets at or below these paths.
        budget_usd: Upper limit of what model calls may cost.
        dismissed: What tests do that nobody wants to see again, as `Judgement.behaviours` has it.
        earlier: Suites that were proposed before; they are verified again rather than written anew.
        approved: What an author said functions should do; as tests it joins what is proposed.
        trace: A file to which every model call adds a line.
        record: A directory in which the model's replies are kept to be replayed.
        replay: A directory from which they are taken instead of from a model.
        jobs: Files worked on at once; None leaves it to what the model bears.
        scope: Who shares environments that are made: a server names the repository, and for a fork its pull request.
    """

    root: Path
    base: str | None = None
    head: str | None = None
    whole_file: str | None = None
    only: tuple[str, ...] = ()
    model: str = "testforge/offline"
    sandbox: str = "auto"
    max_iterations: int = 25
    budget_usd: float | None = None
    seed: int = 0
    dismissed: frozenset[str] = frozenset()
    earlier: tuple[Earlier, ...] = ()
    approved: tuple[Approved, ...] = ()
    trace: Path | None = None
    record: Path | None = None
    replay: Path | None = None
    jobs: int | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method of a source file; `first` counts its decorators, `body` is the first statement's line."""

    qualname: str
    first: int
    body: int
    last: int


@dataclass(frozen=True, slots=True)
class Target:
    """One changed source file with its changed lines and the functions that hold them.

    Attributes:
        module: The dotted import path, as the repository's tests would import it.
        source: The file's text at head, decoded, line ends as in the file.
        base_source: Its text at base; None if it did not exist there.
        base_path: Where it lay at base (differs from `path` after a rename); None if it did not exist.
        functions: Functions and methods that hold a changed line, in file order.
        whole_file: Every line counts as changed.
    """

    path: str
    module: str
    source: str
    changed_lines: frozenset[int]
    functions: tuple[Function, ...] = ()
    base_source: str | None = None
    base_path: str | None = None
    whole_file: bool = False

    @property
    def near_lines(self) -> frozenset[int] | None:
        """The lines whose coverage a reviewer of the change cares about: the changed ones and their functions'.

        None where any line counts: of a whole file, and of a change outside of functions, which may show anywhere.
        """
        if self.whole_file or not self.functions:
            return None
        held = (range(each.first, each.last + 1) for each in self.functions)
        return self.changed_lines.union(*held)

    @property
    def functions_hash(self) -> str:
        """A hash of the changed functions' text, and of the changed lines outside of them."""
        lines = self.source.splitlines()
        parts = [
            "\n".join([function.qualname, *lines[function.first - 1 : function.last]])
            for function in self.functions
        ]
        held = {line for each in self.functions for line in range(each.first, each.last + 1)}
        parts += [lines[line - 1] for line in sorted(self.changed_lines - held) if line <= len(lines)]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A changed file with nothing to test, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """A diff, read: `base` and `head` are commit ids, `head` None is the working tree, `base` None is no commit."""

    root: Path
    base: str | None
    head: str | None
    targets: tuple[Target, ...] = ()
    skipped: tuple[Skipped, ...] = ()
