"""A sandbox with a Python that has nothing but its standard library: where untrusted programs run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.repoconfig import RepoConfig
from bot.sandbox import Sandbox
from bot.sandbox.choice import choose


@contextmanager
def bare_sandbox(kind: str) -> Iterator[Sandbox]:
    """Open a sandbox over an empty tree; it is gone when the context ends.

    Args:
        kind: `auto`, `docker` or `process`.

    Raises:
        UsageError: There is no such sandbox here.
        InconclusiveError: No Python could be found or made for it.
    """
    from bot import environment

    sandboxes = choose(kind)
    with TemporaryDirectory(prefix="testforge-") as directory:
        tree = Path(directory)
        interpreter = environment.prepare(
            tree, tree, RepoConfig(), roots=(".",), note=lambda _text: None, sandboxes=sandboxes
        )
        with sandboxes.open(tree, interpreter) as box:
            yield box
