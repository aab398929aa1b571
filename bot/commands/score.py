"""`testforge score`: what any test file reaches of a source file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.commands.options import Json, Quiet, Sandbox, Seed, outputs, settings
from bot.commands.paths import inside, inside_or_absolute
from bot.deliver.terminal import console_on, sentences
from bot.errors import UsageError


def score(
    source: Annotated[Path, typer.Argument(help="A Python source file.")],
    test_file: Annotated[Path, typer.Argument(metavar="TESTFILE", help="A pytest file that tests it.")],
    sandbox: Sandbox = None,
    max_mutants: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Sample so many mutants; without it, all are run.")
    ] = None,
    seed: Seed = 0,
    json_file: Json = None,
    quiet: Quiet = False,
) -> None:
    """Measure a test file against a source file: outcomes, coverage, mutation score, hollow tests."""
    with sentences():
        from bot import pipeline
        from bot.changes import project_of
        from bot.deliver import record, scorecard
        from bot.deliver.progress import listening
        from bot.measure.mutation import interval

        files = outputs(json_file, None)
        root = project_of(source)
        if not test_file.is_file():
            raise UsageError(f"There is no file {str(test_file)!r}.")
        paths = (inside(root, source, (Path(),)), inside_or_absolute(root, test_file))
        kind = sandbox or settings().sandbox
        with listening(console_on(stderr=True), quiet=quiet) as progress:
            found = pipeline.score(
                root, *paths, sandbox=kind, seed=seed, max_mutants=max_mutants, progress=progress
            )
        between = None if found.mutation is None else interval(found.mutation)
        try:
            files.write_json(record.dump(scorecard.as_json(found, *paths, between)))
        finally:  # what was found is told even where it could not be written
            console_on(stderr=files.takes_stdout).print(scorecard.render(found, *paths, between))
