"""The terminal: consoles that print text as it is, and a sentence for whatever ends a command early."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from bot.errors import TestforgeError

if TYPE_CHECKING:
    from rich.console import Console


def console_on(*, stderr: bool) -> Console:
    """Return a console that prints text as it is, without looking for markup in it."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


@contextmanager
def sentences() -> Iterator[None]:
    """Turn whatever ends a command into a sentence on stderr and an exit code."""
    try:
        yield
    except typer.Exit:
        raise
    except TestforgeError as error:
        _tell(error.message, error.detail)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        _tell("Stopped before anything was found.")
        raise typer.Exit(1) from None
    except BrokenPipeError:  # whoever read the report has closed it, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except Exception as error:
        if os.environ.get("TESTFORGE_DEBUG", "") not in ("", "0"):
            raise
        _tell(
            "Something went wrong inside testforge; this is its fault, not yours. Please run the command again with "
            "TESTFORGE_DEBUG=1 and open an issue with what it prints.",
            f"{type(error).__name__}: {error}",
        )
        raise typer.Exit(1) from None


def _tell(message: str, detail: str = "") -> None:
    """Print a sentence on stderr, and below it, dimmed, what may help whoever looks into it."""
    from rich.text import Text

    from bot.deliver.wording import clean

    console = console_on(stderr=True)
    console.print(Text(f"testforge: {clean(message)}"), soft_wrap=True)
    for line in detail.splitlines():
        console.print(Text(f"    {clean(line)}", style="dim"), soft_wrap=True)
