"""`testforge generate`: tests for a whole file, the setting of the TestForge paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.options import (
    Apply,
    Budget,
    Iterations,
    Jobs,
    Json,
    Model,
    Patch,
    Quiet,
    Record,
    Replay,
    Sandbox,
    Seed,
    Trace,
    outputs,
    request,
    taped,
)
from bot.commands.paths import inside
from bot.commands.reviewing import run_and_deliver
from bot.deliver.terminal import sentences


def generate(
    file: Annotated[Path, typer.Argument(help="A Python source file.")],
    model: Model = None,
    sandbox: Sandbox = None,
    max_iterations: Iterations = None,
    budget: Budget = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    json_file: Json = None,
    patch_file: Patch = None,
    apply: Apply = False,
    trace: Trace = None,
    record: Record = None,
    replay: Replay = None,
    quiet: Quiet = False,
) -> None:
    """Write tests for a whole file, as if every line of it had changed."""
    with sentences():
        from bot.changes import project_of

        files = outputs(json_file, patch_file)
        root = project_of(file)
        wish = taped(request(root, None, model, sandbox, max_iterations, budget, seed), trace, record, replay)
        whole_file = inside(root, file, (Path(),))
        run_and_deliver(replace(wish, whole_file=whole_file, jobs=jobs), files, apply=apply, quiet=quiet)
