"""Where the command `testforge` starts: from its first moment on, what stops it from outside ends with a sentence."""

from __future__ import annotations

import sys

_STOPPED = "testforge: Stopped before anything was found."
_INTERRUPTED = 130
"""How typer ends a process that is interrupted before a command of ours has begun."""


def main() -> None:
    """Run the command line; the process ends here with its exit code."""
    try:
        from bot.cli import main as run

        run()
    except KeyboardInterrupt:
        stopped = True
    except SystemExit as end:
        if end.code != _INTERRUPTED:
            raise
        stopped = True
    if stopped:
        sys.stderr.write(f"{_STOPPED}\n")
        sys.exit(1)
