"""`testforge init`: a first configuration and a workflow for a repository, after a look at it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.deliver.terminal import console_on, sentences
from bot.errors import UsageError

_WORKFLOW = ".github/workflows/testforge.yml"
_USES = "testforge/testforge@"


def init(
    path: Annotated[Path, typer.Argument(help="The repository, or a directory in it.")] = Path(),
    *,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write .github/testforge.yml and a workflow for this repository, and say what to do next.

    Files that are there already stay as they are.
    """
    with sentences():
        from bot import changes, starter
        from bot.repoconfig import PATH, load

        root = changes.find_root(path)
        sources = changes.working_files(root)
        files = {PATH: starter.configuration(starter.look(root, sources)), _WORKFLOW: starter.workflow()}
        load(files[PATH])
        kept = [name for name in files if (root / name).exists() and not force]
        if len(kept) == len(files):
            raise UsageError(f"{' and '.join(kept)} are there already. --force writes over them.")
        console = console_on(stderr=False)
        for name, text in files.items():
            if name not in kept:
                _write(root / name, text)
            said = "kept {}, which is there already; --force writes over it" if name in kept else "wrote {}"
            console.print(said.format(name), soft_wrap=True)
        for line in _next_steps(root, is_foreign=_WORKFLOW in kept and not _reviews(root / _WORKFLOW)):
            console.print(line, soft_wrap=True)
        if not any(name.endswith(".py") for name in sources):
            console.print("There is no Python here yet, so there is nothing to test so far.", soft_wrap=True)


def _write(place: Path, text: str) -> None:
    """Write a file. Raises UsageError if it cannot be written."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{str(place)!r} cannot be written: {error.strerror}.") from None


def _next_steps(root: Path, *, is_foreign: bool) -> list[str]:
    """Return what to do next, a line each; `is_foreign`: a workflow of the name is there and is another one."""
    base = _mainline(root)
    here = f"`testforge review{f' --base {base}' if base else ''}`"
    if is_foreign:
        return [
            f"{_WORKFLOW} does not use testforge: rename it and run `testforge init` again, "
            "or add a job of examples/workflows/review.yml to it.",
            f"{here} reviews your change on this machine.",
        ]
    return [
        "Commit both and push them to GitHub: the next pull request is reviewed there.",
        f"{here} reviews your change on this machine.",
    ]


def _reviews(workflow: Path) -> bool:
    """Tell whether a workflow uses testforge."""
    return _USES in workflow.read_text("utf-8", errors="replace")


def _mainline(root: Path) -> str:
    """Return the branch that changes start from: the remote's default, or `main` or `master`; empty for neither."""
    from bot.changes.repository import Repository
    from bot.errors import RepositoryError

    git = Repository(root)
    for question in (
        ("symbolic-ref", "--short", "refs/remotes/origin/HEAD"),
        ("for-each-ref", "--count=1", "--format=%(refname:short)", "refs/heads/main", "refs/heads/master"),
        ("symbolic-ref", "--short", "HEAD"),
    ):
        try:
            found = git.run(*question).decode("utf-8", "replace").strip()
        except RepositoryError:  # there is no such ref
            continue
        if found:
            return found
    return ""
