"""The texts that models are given, one file each."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template


def prompt(name: str, **values: str) -> str:
    """Return a prompt with its `$names` filled in; a name left over is a KeyError."""
    return Template(_text(name)).substitute(values)


@cache
def _text(name: str) -> str:
    return resources.files(__name__).joinpath(f"{name}.md").read_text("utf-8").strip()
