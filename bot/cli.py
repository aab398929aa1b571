"""The commands `testforge review`, `generate` and `score`: options, errors as sentences, exit codes.

Exit 0: ran, also when there was nothing to test. 1: failed or stopped. 2: wrong usage or configuration. 3: inconclusive.
Whatever is heavy is imported where a command needs it, so that `testforge --help` answers at once.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from bot.deliver.terminal import console_on, sentences
from bot.errors import UsageError

if TYPE_CHECKING:
    from bot.deliver.outputs import Outputs
    from bot.domain import Request
    from bot.settings import Settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Write tests for a change: they pass, they prove something, and they read as a colleague's.",
)

_OFFLINE = "testforge/offline"
_ONE_WISH_S = 2.0
"""Seconds; a second signal that fast is an impatient hand, or a wrapper that passes on what the terminal sent already."""
_EXIT_CODES = {"failed": 1, "cancelled": 1, "inconclusive": 3}

Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="LiteLLM's name of the model; without one, the built-in testforge/offline."
    ),
]
Sandbox = Annotated[
    Literal["auto", "docker", "process"] | None,
    typer.Option(help="Where the repository's code runs.  [default: auto]"),
]
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON; - is stdout.")
]
Patch = Annotated[
    str | None,
    typer.Option("--patch", metavar="FILE", help="Write the tests as a patch for `git apply`; - is stdout."),
]
Apply = Annotated[bool, typer.Option("--apply", help="Write the tests into the working tree.")]
Iterations = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Turns of the agent for each file.  [default: 25]")
]
Budget = Annotated[
    float | None, typer.Option("--budget", min=0, metavar="USD", help="Most that model calls may cost.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="The same seed gives the same tests.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


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


@app.command(short_help="Write tests for the change of a repository.")
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
    json_file: Json = None,
    patch_file: Patch = None,
    apply: Apply = False,
    quiet: Quiet = False,
) -> None:
    """Write tests for the changed Python files of a repository, and say what they prove."""
    with sentences():
        from bot.changes import find_root

        outputs = _outputs(json_file, patch_file)
        root = find_root(path)
        limits = tuple(_inside(root, limit, (Path(), path, root)) for limit in only or ())
        request = _request(root, base, model, sandbox, max_iterations, budget, seed)
        _run(replace(request, base=base, head=head, only=limits), outputs, apply=apply, quiet=quiet)


@app.command(short_help="Write tests for a whole file.")
def generate(
    file: Annotated[Path, typer.Argument(help="A Python source file.")],
    model: Model = None,
    sandbox: Sandbox = None,
    max_iterations: Iterations = None,
    budget: Budget = None,
    seed: Seed = 0,
    json_file: Json = None,
    patch_file: Patch = None,
    apply: Apply = False,
    quiet: Quiet = False,
) -> None:
    """Write tests for a whole file, as if every line of it had changed."""
    with sentences():
        from bot.changes import project_of

        outputs = _outputs(json_file, patch_file)
        root = project_of(file)
        request = _request(root, None, model, sandbox, max_iterations, budget, seed)
        whole_file = _inside(root, file, (Path(),))
        _run(replace(request, whole_file=whole_file), outputs, apply=apply, quiet=quiet)


@app.command(short_help="Measure a test file against a source file.")
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

        outputs = _outputs(json_file, None)
        root = project_of(source)
        if not test_file.is_file():
            raise UsageError(f"There is no file {str(test_file)!r}.")
        paths = (_inside(root, source, (Path(),)), _inside_or_absolute(root, test_file))
        kind = sandbox or _settings().sandbox
        with listening(console_on(stderr=True), quiet=quiet) as progress:
            found = pipeline.score(
                root, *paths, sandbox=kind, seed=seed, max_mutants=max_mutants, progress=progress
            )
        between = None if found.mutation is None else interval(found.mutation)
        outputs.write_json(record.dump(scorecard.as_json(found, *paths, between)))
        console_on(stderr=outputs.takes_stdout).print(scorecard.render(found, *paths, between))


# ---------------------------------------------------------------- what the commands share


def _run(request: Request, outputs: Outputs, *, apply: bool, quiet: bool) -> NoReturn:
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
    applied: Sequence[str] = ()
    try:
        outputs.write_json(record.dump(record.as_json(report)))
        outputs.write_patch(patch.build(report, request.root))
        if apply and report.status == "proposed":
            applied = patch.apply(report, request.root)
    finally:  # what was found is told even where it could not be written
        console_on(stderr=outputs.takes_stdout).print(
            console.render(report, applied=applied, patch=outputs.patch_path)
        )
    raise typer.Exit(_EXIT_CODES.get(report.status, 0))


def _request(
    root: Path,
    base: str | None,
    model: str | None,
    sandbox: str | None,
    max_iterations: int | None,
    budget: float | None,
    seed: int,
) -> Request:
    """Return a request in which what was not given on the command line comes from the environment, then the configuration."""
    from bot.changes import configuration
    from bot.domain import Request
    from bot.repoconfig import load

    config = load(configuration(root, base))
    settings = _settings()
    return Request(
        root=root,
        model=model or settings.model or config.model or _OFFLINE,
        sandbox=sandbox or settings.sandbox,
        max_iterations=config.max_iterations if max_iterations is None else max_iterations,
        budget_usd=config.budget_usd if budget is None else budget,
        seed=seed,
    )


def _settings() -> Settings:
    """Return the operator's settings."""
    from bot import settings

    return settings.load()


def _outputs(json_file: str | None, patch_file: str | None) -> Outputs:
    """Return the files to write, known to be writable: better now than after minutes of work."""
    from bot.deliver.outputs import Outputs

    outputs = Outputs(json_file, patch_file)
    outputs.check()
    return outputs


def _inside(root: Path, path: Path, starts: Sequence[Path]) -> str:
    """Return a path relative to the root, taken from the first directory of `starts` in which it exists.

    Raises:
        UsageError: It exists nowhere, or outside of the root.
    """
    top = root.resolve()
    found = [start / path for start in starts if (start / path).exists()]
    if not found:
        raise UsageError(f"There is no file or directory {str(path)!r}.")
    for candidate in found:
        place = candidate.parent.resolve() / candidate.name if candidate.name else candidate.resolve()
        if place == top or top in place.parents:
            return place.relative_to(top).as_posix()
    raise UsageError(
        f"{str(path)!r} lies outside of {str(root)!r}, which is what testforge would copy and run."
    )


def _inside_or_absolute(root: Path, path: Path) -> str:
    """Return an existing file's path relative to the root, or absolute if it lies outside."""
    place = path.parent.resolve() / path.name
    return place.relative_to(root.resolve()).as_posix() if root.resolve() in place.parents else str(place)
