"""The options that several commands share, and what they are without being given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from bot.deliver.outputs import Outputs
    from bot.domain import Request
    from bot.settings import Settings

OFFLINE = "testforge/offline"

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
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Files worked on at once.  [default: 4; 1 with the built-in model]"
    ),
]
Trace = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Add a line of JSON to it for every call of the model."),
]
Record = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Keep the model's replies there, to be replayed; a trace goes there too."
    ),
]
Replay = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Take the model's replies from there instead of calling a model."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def request(
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
    operator = settings()
    return Request(
        root=root,
        model=model or operator.model or config.model or OFFLINE,
        sandbox=sandbox or operator.sandbox,
        max_iterations=config.max_iterations if max_iterations is None else max_iterations,
        budget_usd=config.budget_usd if budget is None else budget,
        seed=seed,
    )


def taped(wish: Request, trace: Path | None, record: Path | None, replay: Path | None) -> Request:
    """Return a request of which the model's calls are traced, recorded or replayed.

    Raises:
        UsageError: It is to be recorded and replayed at once.
    """
    from bot.errors import UsageError

    if record is not None and replay is not None:
        raise UsageError(
            "A replay calls no model, so there is nothing to record: leave out --record or --replay."
        )
    return replace(wish, trace=trace, record=record, replay=replay)


def settings() -> Settings:
    """Return the operator's settings."""
    from bot.settings import load

    return load()


def outputs(json_file: str | None, patch_file: str | None) -> Outputs:
    """Return the files to write, known to be writable: better now than after minutes of work."""
    from bot.deliver.outputs import Outputs

    files = Outputs(json_file, patch_file)
    files.check()
    return files
