"""The virtual environment that a repository already has: found, looked into, and only ever read."""

from __future__ import annotations

import ast
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from bot.changes.repository import GitFailedError, git
from bot.environment.declared import Declared, names
from bot.environment.python_choice import Wish
from bot.environment.steps import TOOLS, too_old
from bot.errors import RepositoryError
from bot.sandbox import Interpreter
from bot.sandbox.interpreters import needed_directories
from bot.sandbox.process import ProcessSandboxes

USUAL = (".venv", "venv", "env")
PROBE = Path(__file__).with_name("probe.py")
PROBE_S = 30.0


@dataclass(frozen=True, slots=True)
class Existing:
    """A usable virtual environment of the repository.

    Attributes:
        name: As the person knows it, such as `.venv`.
        version: Full version of its Python.
        installed: Versions of what is in it, by canonical name.
        roots: Directories of the repository that it has on its search path (editable installs), relative to it.
        mounts: Host directories that it needs.
    """

    name: str
    command: str
    version: str
    installed: Mapping[str, str]
    roots: tuple[str, ...]
    mounts: tuple[Path, ...]


def find(
    tree: Path, origin: Path, declared: Declared, pinned: str | None, note: Callable[[str], None]
) -> Existing | None:
    """Return the repository's own environment, if one is there that works and has what the code needs.

    Args:
        note: Told why one that is there is not used.
    """
    for directory in _candidates(origin):
        name = os.path.relpath(directory, origin)
        found, reason = _look(directory, name, tree, origin, declared, pinned)
        if found is not None:
            return found
        note(f"{name} is not used: {reason}.")
    return None


def _candidates(origin: Path) -> Iterator[Path]:
    repository = _top(origin)
    places = [start / usual for start in dict.fromkeys((origin, repository)) for usual in USUAL]
    active = os.environ.get("VIRTUAL_ENV")
    if active and Path(active).resolve().is_relative_to(repository.resolve()):
        places.insert(0, Path(active).resolve())
    for place in dict.fromkeys(places):
        if (place / "pyvenv.cfg").is_file():
            yield place


def _top(origin: Path) -> Path:
    """Return the repository's top directory, should `origin` lie below it."""
    return next((place for place in (origin, *origin.parents) if (place / ".git").exists()), origin)


def _look(
    directory: Path, name: str, tree: Path, origin: Path, declared: Declared, pinned: str | None
) -> tuple[Existing | None, str]:
    """Return the environment, or why it cannot be used."""
    if _is_committed(directory):
        return (
            None,
            "it is committed, and a commit must not decide which directories of this machine are shown",
        )
    command = directory / "bin" / "python"
    if not os.access(command, os.X_OK):
        return None, "its Python is not there any more"
    linked = _linked_directories(directory)
    outside = tuple(path for path in linked if not path.is_relative_to(_top(origin).resolve()))
    mounts = (*map(Path, needed_directories(str(command))), directory, *outside)
    facts = probe(str(command), mounts)
    if facts is None:
        return None, "its Python does not start"
    version = str(facts["version"])
    wanted = pinned or declared.requires_python
    if not Wish(f"=={pinned}.*" if pinned else declared.requires_python).accepts(version):
        asked = f"{wanted} is asked for" if wanted else "testforge needs 3.9 or newer"
        return None, f"it has Python {version}, and {asked}"
    installed: dict[str, str] = {canonicalize_name(each): text for each, text in facts["installed"].items()}
    missing = [each for each in names(tree, declared, facts["markers"]) if each not in installed]
    if missing:
        return None, f"it lacks {', '.join(missing[:5])}{' and more' if len(missing) > 5 else ''}"
    old = next(filter(None, (too_old(tool, installed.get(tool, "")) for tool in TOOLS)), "")
    if old:
        return None, old[:1].lower() + old[1:]
    roots = tuple(
        dict.fromkeys(
            path.relative_to(origin.resolve()).as_posix()
            for path in linked
            if path.is_relative_to(origin.resolve())
        )
    )
    return Existing(name, str(command), version, installed, roots, tuple(sorted(set(mounts)))), ""


def _is_committed(environment: Path) -> bool:
    """Whether git tracks something of an environment, or the link or submodule that it is.

    Then it is the work of whoever wrote the commit: its `.pth` files, its `pyvenv.cfg` and its links name directories
    that the sandbox would be given to read.
    """
    try:
        return any(
            git(place.parent, "--literal-pathspecs", "ls-files", "-z", "--cached", "--", place.name)
            for place in {environment, environment.resolve()}
        )
    except GitFailedError as error:
        return "not a git repository" not in error.said  # where it cannot be told, it may be
    except RepositoryError:  # there is no git, and nothing that it has written
        return False


def probe(command: str, mounts: tuple[Path, ...]) -> dict[str, Any] | None:
    """Return what an environment's Python says about itself, asked within a sandbox; None if it does not answer."""
    with (
        tempfile.TemporaryDirectory(prefix="testforge-") as empty,
        ProcessSandboxes().open(Path(empty), Interpreter(command, "", mounts=mounts)) as box,
    ):
        done = box.run([command, "-I", "-c", PROBE.read_text()], timeout_s=PROBE_S)
    try:
        facts = json.loads(done.stdout) if done.exit_code == 0 else None
    except ValueError:
        return None
    return facts if isinstance(facts, dict) else None


def _linked_directories(environment: Path) -> tuple[Path, ...]:
    """Return the directories outside an environment that its `.pth` files and editable finders put on the search path."""
    found: list[Path] = []
    for site in sorted(environment.glob("lib/python*/site-packages")):
        for file in sorted(site.glob("*.pth")):
            for line in file.read_text(errors="replace").splitlines():
                if line.strip() and not line.startswith(("import ", "import\t", "#")):
                    found.append((site / line.strip()).resolve())
        for finder in sorted(site.glob("__editable___*_finder.py")):
            found += [Path(path).resolve().parent for path in _mapping(finder).values()]
    return tuple(
        dict.fromkeys(
            path for path in found if path.is_dir() and not path.is_relative_to(environment.resolve())
        )
    )


def _mapping(finder: Path) -> dict[str, str]:
    """Return the table of packages and their places that an editable install by setuptools keeps."""
    try:
        module = ast.parse(finder.read_bytes())
        for node in module.body:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
            if any(isinstance(target, ast.Name) and target.id == "MAPPING" for target in targets):
                value = ast.literal_eval(node.value)  # type: ignore[attr-defined]
                return {str(name): str(path) for name, path in value.items()}
    except (OSError, SyntaxError, ValueError, AttributeError):
        pass
    return {}
