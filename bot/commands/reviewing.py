"""Running a review and delivering it in every form that was asked for."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, NoReturn

import typer

from bot.deliver.terminal import console_on
from bot.errors import UsageError

if TYPE_CHECKING:
    from bot.deliver.outputs import Outputs
    from bot.domain import Request

_EXIT_CODES = {"failed": 1, "cancelled": 1, "inconclusive": 3}


def run_and_deliver(request: Request, outputs: Outputs, *, apply: bool, quiet: bool) -> NoReturn:
    """Review, deliver in every form that was asked for, and end with the status's exit code."""
    from bot import pipeline
    from bot.deliver import console, patch, record
    from bot.deliver.progress import listening

    if apply and not os.access(request.root, os.W_OK):  # better said now than after minutes of work
        raise UsageError(
            f"{str(request.root)!r} cannot be written, so --apply cannot work. Use --patch FILE."
        )
    with listening(console_on(stderr=True), quiet=quiet) as progress:
        report = pipeline.review(request, progress)
    applied: list[str] = []
    written: list[str] = []

    def write_patch() -> None:
        outputs.write_patch(patch.build(report, request.root))
        written.append(outputs.patch_path)

    # The one is delivered even where the other could not be written, and what was found is told in any case.
    with ExitStack() as deliveries:
        deliveries.callback(
            lambda: console_on(stderr=outputs.takes_stdout).print(
                console.render(report, applied=applied, patch="".join(written))
            )
        )
        if apply and report.status == "proposed":
            deliveries.callback(lambda: applied.extend(patch.apply(report, request.root)))
        deliveries.callback(write_patch)
        deliveries.callback(lambda: outputs.write_json(record.dump(record.as_json(report))))
    raise typer.Exit(_EXIT_CODES.get(report.status, 0))
