"""`testforge distil`: training data for a test generator, made of repositories."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands.options import OFFLINE, Model, Quiet, Sandbox, Seed, settings
from bot.deliver.terminal import console_on, sentences
from bot.errors import UsageError

if TYPE_CHECKING:
    from bot.domain import Target
    from bot.programs.functions import Subject
    from bot.repoconfig import RepoConfig
    from bot.scaling.distil import Example

_LONGEST = 120
"""Lines of a function; a longer one is no example of a small task."""


def distil(
    repositories: Annotated[list[Path], typer.Argument(help="Repositories, or directories in them.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="JSON lines to write: one example each.")],
    refused: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON lines with the functions left out, and why.")
    ] = None,
    model: Model = None,
    sandbox: Sandbox = None,
    samples: Annotated[int, typer.Option(min=1, max=50, metavar="N", help="Times a model is asked.")] = 4,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Functions of each repository.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Most that model calls may cost for each repository."),
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make training data for a test generator: functions with tests that hold on them and reject wrong versions of them."""
    with sentences():
        if not out.parent.is_dir():
            raise UsageError(
                f"There is no directory {str(out.parent)!r} to write {out.name!r} to. Make it first."
            )
        name = model or settings().model or OFFLINE
        kind = sandbox or settings().sandbox
        examples: list[dict[str, object]] = []
        left_out: list[dict[str, object]] = []
        for path in repositories:
            for row in _rows(path, name, kind, samples, limit, budget, seed, quiet):
                (left_out if "reason" in row else examples).append(row)
        _write(out, examples)
        if refused is not None:
            _write(refused, left_out)
        reasons: dict[str, int] = {}
        for row in left_out:
            reason = str(row["reason"]).partition(":")[0].partition(",")[0]
            reasons[reason] = reasons.get(reason, 0) + 1
        console = console_on(stderr=False)
        console.print(f"{len(examples)} examples written to {out}; {len(left_out)} functions left out")
        for reason, count in sorted(reasons.items(), key=lambda one: (-one[1], one[0])):
            console.print(f"  {count:4} {reason}")


def _rows(
    path: Path,
    model: str,
    sandbox: str,
    samples: int,
    limit: int | None,
    budget: float | None,
    seed: int,
    quiet: bool,
) -> Iterator[dict[str, object]]:
    """Yield an example, or a refusal with its reason, for each function of a repository."""
    from bot import changes, repoconfig
    from bot.deliver.progress import listening
    from bot.domain import Request
    from bot.models.client import load
    from bot.programs.functions import find
    from bot.scaling.distil import Example
    from bot.scaling.distil import distil as distilled
    from bot.scaling.licence import licence_of
    from bot.workshop import site, stage

    if not path.is_dir():
        raise UsageError(f"There is no directory {str(path)!r}.")
    commit = changes.head_of(path)
    root = changes.find_root(path) if commit else path.resolve()
    config = repoconfig.load(changes.configuration(root, None))
    targets = list(_targets(root, config))
    if not targets:
        raise UsageError(f"There is no Python source file below {str(root)!r} that could be used.")
    origin = {"repository": root.resolve().name, "commit": commit, "licence": licence_of(root)}
    writer = None if model == OFFLINE else load(model, seed=seed, budget_usd=budget)
    wish = Request(root, whole_file=targets[0].path, sandbox=sandbox, seed=seed)
    done = 0
    with (
        listening(console_on(stderr=True), quiet=quiet) as tell,
        site(wish, config, changes.read(wish, config), tell) as place,
    ):
        for target in targets:
            with stage(tell, "distil", target.path) as say:
                for function in _functions(target):
                    if limit is not None and done >= limit:
                        return
                    subject = find(target.source, function)
                    about = {**origin, "path": target.path, "function": function}
                    if reason := _unfit(function, subject):
                        yield {**about, "reason": reason}
                        continue
                    done += 1
                    with place.sandboxes.open(place.tree, place.interpreter) as box:
                        found = distilled(box, subject, target.module, writer, samples=samples, seed=seed)
                    if not isinstance(found, Example):
                        yield {**about, "reason": found.reason}
                        continue
                    say(f"{function}: {found.caught} of {found.wrong} wrong versions rejected")
                    yield _row(found, subject, {**about, "model": model})


def _unfit(function: str, subject: Subject) -> str:
    """Return why a function makes no example; empty if it may make one."""
    from bot.programs.functions import unsuitable

    if function.startswith("_"):
        return "is private"
    if reason := unsuitable(subject):
        return reason
    return f"has more than {_LONGEST} lines" if subject.last - subject.first >= _LONGEST else ""


def _row(found: Example, subject: Subject, about: dict[str, object]) -> dict[str, object]:
    """Return an example as a line of the file."""
    return {
        "instruction": found.prompt,
        "input": subject.text,
        "output": found.tests,
        "provenance": {**about, "module": found.module},
        "evidence": {key: getattr(found, key) for key in ("assertions", "repaired", "caught", "wrong")},
        "cost_usd": found.usage.cost_usd,
    }


def _targets(root: Path, config: RepoConfig) -> Iterator[Target]:
    """Yield the source files of a repository that are neither tests nor generated."""
    from bot import changes
    from bot.errors import TestforgeError

    for path in sorted(changes.working_files(root)):
        if not path.endswith(".py") or changes.reason_by_path(path):
            continue
        try:
            target = changes.whole_file(root, path, config)
        except TestforgeError:  # no Python that can be read
            continue
        if not changes.reason_by_content(path, target.source):
            yield target


def _functions(target: Target) -> list[str]:
    """Return the functions at the top of a module, by their last definition."""
    return list(dict.fromkeys(one.qualname for one in target.functions if "." not in one.qualname))


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    except OSError as error:
        sys.stderr.write(f"testforge: {path} could not be written: {error.strerror}.\n")
        raise typer.Exit(1) from None
