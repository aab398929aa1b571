"""`testforge init`: a first configuration and a workflow for a repository, after a look at it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.deliver.terminal import console_on, sentences
from bot.errors import UsageError

_WORKFLOW = ".github/workflows/testforge.yml"


def init(
    path: Annotated[Path, typer.Argument(help="The repository, or a directory in it.")] = Path(),
    *,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write .github/testforge.yml and a workflow for this repository, and say what to do next."""
    with sentences():
        from bot import changes, starter
        from bot.repoconfig import PATH, load

        root = changes.find_root(path)
        files = {
            PATH: starter.configuration(starter.look(root, changes.working_files(root))),
            _WORKFLOW: starter.workflow(),
        }
        load(files[PATH])
        present = [name for name in files if (root / name).exists()]
        if present and not force:
            raise UsageError(f"{' and '.join(present)} is there already. --force writes over it.")
        for name, text in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        console = console_on(stderr=False)
        for name in files:
            console.print(f"wrote {name}")
        console.print(
            "Commit both. The next pull request is reviewed; `testforge review --base main` does it here."
        )
