"""`testforge review`: tests for the change of a repository."""

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


def review(
    path: Annotated[Path, typer.Argument(help="The repository, or a directory in it.")] = Path(),
    *,
    base: Annotated[
        str, typer.Option(metavar="REF", help="Commit, branch or tag that the change starts from.")
    ],
    head: Annotated[
        str | None, typer.Option(metavar="REF", help="Where it ends; without it, the working tree as it is.")
    ] = None,
    only: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Only changed files at or below it; can be repeated."),
    ] = None,
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
    """Write tests for the changed Python files of a repository, and say what they prove."""
    with sentences():
        from bot.changes import find_root

        files = outputs(json_file, patch_file)
        root = find_root(path)
        limits = tuple(inside(root, limit, (Path(), path, root)) for limit in only or ())
        wish = taped(request(root, base, model, sandbox, max_iterations, budget, seed), trace, record, replay)
        wish = replace(wish, base=base, head=head, only=limits, jobs=jobs)
        run_and_deliver(wish, files, apply=apply, quiet=quiet)
