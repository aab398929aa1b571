"""Choosing a kind of sandbox by the name a person gave."""

from __future__ import annotations

from bot.errors import UsageError
from bot.sandbox import Sandboxes


def choose(kind: str) -> Sandboxes:
    """Return what opens sandboxes of a kind: `auto` or `process`.

    Raises:
        UsageError: There is no such kind.
    """
    if kind in ("auto", "process"):
        from bot.sandbox.process import ProcessSandboxes

        return ProcessSandboxes()
    if kind == "docker":
        raise UsageError("The Docker sandbox is not built in yet; use `--sandbox process`.")
    raise UsageError(f"There is no sandbox {kind!r}; use `auto`, `process` or `docker`.")
