"""`testforge doctor`: what is usable here, found out by trying, and how to fix what is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands.options import OFFLINE
from bot.deliver.terminal import sentences
from bot.errors import UsageError

if TYPE_CHECKING:
    from bot.sandbox.inspection import Check


def doctor(
    json_output: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check git, the sandboxes, the model's key, the GitHub App and the database: one line each, and one fix.

    Exit code 1 says that something which is needed does not work.
    """
    with sentences():
        from bot.sandbox.inspection import State

        found = []
        for check in _checks():
            found.append(check)
            if not json_output:
                typer.echo(_line(check))
        usable = all(check.state is not State.BROKEN for check in found)
        if json_output:
            typer.echo(_json(found, usable=usable))
        if not usable:
            raise typer.Exit(1)


def _checks() -> Iterator[Check]:
    from bot import settings
    from bot.commands import appchecks
    from bot.sandbox import inspection

    yield _git()
    try:
        operator = settings.load()
    except UsageError as error:  # nothing else can be looked at without them
        fix = "Correct it or unset it, then ask again; docs/configuration.md says what it can be."
        yield inspection.Check("settings", inspection.State.BROKEN, error.message.removesuffix("."), fix)
        return
    yield from inspection.checks()
    yield _model(operator.model or OFFLINE)
    yield from appchecks.checks(operator)


def _git() -> Check:
    import shutil
    import subprocess

    from bot.sandbox.inspection import Check, State

    if shutil.which("git") is None:
        return Check("git", State.BROKEN, "it is not on PATH", "Install git with your package manager.")
    done = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False)
    if done.returncode:
        return Check("git", State.BROKEN, done.stderr.strip(), "Install git anew with your package manager.")
    return Check("git", State.OK, done.stdout.strip().removeprefix("git version "))


def _model(model: str) -> Check:
    from bot.models.client import check
    from bot.models.keys import missing
    from bot.sandbox.inspection import Check, State

    absent = missing(model)
    if absent is None:
        return Check(
            "model",
            State.BROKEN,
            f"LiteLLM knows no provider of {model}",
            "Set TESTFORGE_MODEL, such as `openai/gpt-4o`.",
        )
    if absent:
        names = " or ".join(absent)
        return Check("model", State.BROKEN, f"{model} has no key", f"Set {names} in the environment.")
    if model == OFFLINE:
        return Check("model", State.OK, f"{model}, which needs no key")
    for problem in check(model):  # by one short call: the key may be wrong, and nobody may listen
        return Check("model", State.BROKEN, f"{model} does not answer", problem)
    return Check("model", State.OK, f"{model} answers")


def _line(check: Check) -> str:
    fix = f"\n{'':8}{check.fix}" if check.fix else ""
    return f"{check.state:8}{check.name}: {check.told}{fix}"


def _json(found: list[Check], *, usable: bool) -> str:
    import dataclasses
    import json

    return json.dumps(
        {"schema": 1, "usable": usable, "checks": [dataclasses.asdict(check) for check in found]}, indent=2
    )
