"""`testforge action`: the step of a GitHub workflow; `action.yml` calls it."""

from __future__ import annotations

import os

import typer

from bot.deliver.terminal import sentences


def action() -> None:
    """Do what a workflow's event asks for; everything it needs is in the environment that `action.yml` makes."""
    with sentences():
        from bot.action.run import act
        from bot.settings import load

        raise typer.Exit(act(os.environ, load()))
