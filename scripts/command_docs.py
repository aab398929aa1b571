"""Writes docs/commands.md from what `testforge --help` and each command's `--help` print.

python scripts/command_docs.py            writes it
python scripts/command_docs.py --check    fails if it is not what would be written
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from bot.cli import app

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
HEAD = """\
# Commands

<!-- Written by scripts/command_docs.py; change the help in bot/commands/. -->

Exit codes: 0 it ran (also when there was nothing to test), 2 wrong usage or configuration, 3 inconclusive (the code
could not be installed or its tests not be run), 1 it failed or was stopped.

`testforge --install-completion` makes bash, zsh or fish complete commands and options; open a new shell afterwards.
"""
_WIDTH = 100


def main() -> int:
    """Write the page, or check it."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), "utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text("utf-8") == page():
        return 0
    sys.stderr.write("docs/commands.md is not what scripts/command_docs.py writes. Run it.\n")
    return 1


def page() -> str:
    """Return docs/commands.md."""
    return HEAD + "".join(_sections())


def _sections() -> Iterator[str]:
    yield f"\n## testforge\n\n```text\n{_help()}\n```\n"
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        yield f"\n## testforge {name}\n\n```text\n{_help(name)}\n```\n"


def _help(*command: str) -> str:
    """Return what a command prints for `--help`, at a fixed width."""
    done = CliRunner().invoke(
        app,
        [*command, "--help"],
        prog_name="testforge",
        terminal_width=_WIDTH,
        max_content_width=_WIDTH,
        env={"COLUMNS": str(_WIDTH), "NO_COLOR": "1"},
    )
    if done.exit_code:
        raise SystemExit(done.output)
    return done.output.strip()


if __name__ == "__main__":
    sys.exit(main())
