"""The command line `testforge`: its commands put together, signals, and exit codes.

Exit 0: ran, also when there was nothing to test. 1: failed or stopped. 2: wrong usage or configuration. 3: inconclusive.
Whatever is heavy is imported where a command needs it, so that `testforge --help` answers at once.
"""

from __future__ import annotations

import io
import signal
import sys
import time
import warnings
from typing import Annotated

import typer

from bot.commands.action import action
from bot.commands.distil import distil
from bot.commands.doctor import doctor
from bot.commands.generate import generate
from bot.commands.init import init
from bot.commands.intent import intent
from bot.commands.rank import rank
from bot.commands.review import review
from bot.commands.score import score
from bot.commands.serve import serve
from bot.commands.worker import worker

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Write tests for a change: they pass, they prove something, and they read as a colleague's.",
)

_ONE_WISH_S = 2.0
"""Seconds; a second signal that fast is an impatient hand, or a wrapper that passes on what the terminal sent already."""


def main() -> None:
    """Run the command line; the process ends here with its exit code."""
    # A terminated run cleans up as an interrupted one does: its children are gone and the tree is as before.
    interruption = _Interruption()
    signal.signal(signal.SIGTERM, interruption)
    # A shell's background job is not to hear of Ctrl-C.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interruption)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # What is parsed here is a repository's or a model's, and its odd escapes are no concern of who runs this.
    warnings.filterwarnings("ignore", category=SyntaxWarning)
    app()


class _Interruption:
    """Turns signals into what Ctrl-C raises; one that soon follows another is the same wish, not to disturb the clean-up."""

    def __init__(self) -> None:
        self._last = float("-inf")

    def __call__(self, _number: int, _frame: object) -> None:
        before, self._last = self._last, time.monotonic()
        if self._last - before >= _ONE_WISH_S:
            raise KeyboardInterrupt


def _show_version(wanted: bool) -> None:
    """Print the version and end, if that is what was asked for."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"testforge {version('testforge-bot')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Write tests for a change: they pass, they prove something, and they read as a colleague's."""


app.command(short_help="Write tests for the change of a repository.")(review)
app.command(short_help="Write tests for a whole file.")(generate)
app.command(short_help="Measure a test file against a source file.")(score)
app.command(short_help="Say what is usable here, and how to fix what is not.")(doctor)
app.command(short_help="Be the GitHub App: take webhooks and review pull requests.")(serve)
app.command(short_help="Review pull requests that a server has taken.")(worker)
app.command(short_help="Rank candidates for a function by tests that may be wrong.")(rank)
app.command(short_help="Ask what a function should do where that is not certain.")(intent)
app.command(short_help="Make training data for a test generator from repositories.")(distil)
app.command(short_help="Be a step of a GitHub workflow.")(action)
app.command(short_help="Write a first configuration and a workflow for a repository.")(init)
