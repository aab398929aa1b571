"""Preparing the environment of a repository: its own if it has one, otherwise one made for it and kept."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bot import settings
from bot.environment import (
    cache,
    decision,
    declared,
    digest,
    existing,
    harvest,
    image,
    installed,
    python_choice,
    pythons,
    room,
    steps,
    system_packages,
)
from bot.environment.decision import Decision
from bot.environment.declared import Declared
from bot.environment.existing import Existing
from bot.environment.installer import Installer, installing
from bot.environment.pythons import Python
from bot.environment.steps import TOOLS
from bot.errors import InstallationError
from bot.repoconfig import RepoConfig
from bot.sandbox import Interpreter, Sandboxes
from bot.sandbox.copying import delete_tree
from bot.sandbox.docker import DockerSandboxes
from bot.sandbox.interpreters import needed_directories
from bot.sandbox.process import ProcessSandbox

FORMAT = "3"
"""Part of every key: changed whenever environments are made differently."""

BESIDE_TOOLS = (
    "exceptiongroup",
    "iniconfig",
    "packaging",
    "pluggy",
    "pygments",
    "tomli",
    "typing-extensions",
)
"""What the tools need themselves: an overlay must do with the versions that an environment has of these."""

Note = Callable[[str], None]


def prepare(
    tree: Path,
    origin: Path,
    config: RepoConfig,
    *,
    roots: Sequence[str],
    note: Note,
    sandboxes: Sandboxes | None = None,
    scope: str = "",
) -> Interpreter:
    """Return a Python that has what a repository's code and tests need, pytest and coverage among it.

    Args:
        tree: A copy of the code; only read.
        origin: The person's repository, where a virtual environment may lie; only read.
        roots: Import roots of the tree.
        note: Told what a person should know: what is used, what could not be installed.
        sandboxes: What will run the code; for Docker's the environment is made in an image.
        scope: Who may use what is made: environments of another scope are neither used nor seen. An installation runs
            code of the tree, and what it leaves must not reach those who trust it less.

    Raises:
        InstallationError: The dependencies cannot be installed, or no Python on this machine will do.
    """
    wanted = declared.read(tree)
    setup = system_packages.split(config.environment.setup)
    if isinstance(sandboxes, DockerSandboxes):
        return image.prepare(sandboxes, tree, wanted, config, setup, roots=roots, note=note, scope=scope)
    own = existing.find(tree, origin, wanted, config.environment.python, note)
    if own is not None:
        note(f"Using the repository's own environment {own.name} (Python {own.version}).")
        if config.environment.setup:
            note(f"`environment.setup` is not run, since {own.name} is only read.")
        return _with_overlay(own, roots, note)
    if setup.packages:
        note(
            f"The process sandbox does not install system packages: {', '.join(setup.packages)} must be on this machine already."
        )
    return _made(tree, wanted, config, setup.commands, roots, note, scope)


def _with_overlay(own: Existing, roots: Sequence[str], note: Note) -> Interpreter:
    """Return an existing environment; what it lacks of the tools is laid beside it."""
    missing = [tool for tool in TOOLS if tool not in own.installed]
    overlay: tuple[str, ...] = ()
    facts = [f"{name}=={own.installed[name]}" for name in sorted(own.installed)]
    if missing:
        pins = [f"{name}=={own.installed[name]}" for name in BESIDE_TOOLS if name in own.installed]
        place = cache.obtain(
            settings.cache_directory() / "overlays",
            _key(own.version, *missing, *pins),
            lambda directory: _lay_beside(directory, own, missing, pins, note),
            valid=lambda directory: (directory / "overlay").is_dir(),
            note=note,
        ).path
        overlay = (str(place / "overlay"),)
    return Interpreter(
        command=own.command,
        version=_minor(own.version),
        import_roots=tuple(dict.fromkeys((*roots, *own.roots))),
        extra_path=overlay,
        mounts=(*own.mounts, *map(Path, overlay)),
        key=_key(own.version, own.command, *facts),
    )


def _lay_beside(
    directory: Path, own: Existing, missing: Sequence[str], pins: Sequence[str], note: Note
) -> dict[str, Any]:
    note(f"Installing {' and '.join(missing)} beside {own.name}.")
    with (
        tempfile.TemporaryDirectory(prefix="testforge-") as empty,
        installing(Path(empty), directory, Python(own.command, own.version), own.mounts) as installer,
    ):
        constraints = f"{installer.box.scratch}/constraints.txt"
        installer.box.write(constraints, "\n".join(pins).encode())
        installer.install_beside(own.command, [*missing, "--constraints", constraints])
    return {}


def _made(
    tree: Path,
    wanted: Declared,
    config: RepoConfig,
    setup: Sequence[str],
    roots: Sequence[str],
    note: Note,
    scope: str,
) -> Interpreter:
    """Return an environment made for these dependency files, now or by an earlier run."""
    decided = decision.decide(tree, wanted)
    python, choice = pythons.find(python_choice.read(tree, wanted, config.environment.python))
    note(choice.because)
    note(decided.because)
    key = digest.key(
        tree, decided.files, FORMAT, scope, python.version, *roots, *setup, native=wanted.is_project
    )
    kept = cache.obtain(
        settings.cache_directory() / "environments",
        key,
        lambda place: _make(place, tree, wanted, decided, python, setup, roots, note),
        valid=lambda place: (place / "venv" / "bin" / "python").exists(),
        note=note,
    )
    for text in kept.facts.get("notes", ()):
        note(text)
    command = str(kept.path / "venv" / "bin" / "python")
    additions = kept.path / "additions"
    return Interpreter(
        command=command,
        version=_minor(python.version),
        import_roots=tuple(roots),
        mounts=tuple(dict.fromkeys((kept.path / "venv", *map(Path, needed_directories(command))))),
        key=key,
        additions=str(additions) if additions.is_dir() else "",
    )


def _make(
    place: Path,
    tree: Path,
    wanted: Declared,
    decided: Decision,
    python: Python,
    setup: Sequence[str],
    roots: Sequence[str],
    note: Note,
) -> dict[str, Any]:
    """Fill a directory with an environment; what went less than well is kept as `notes` for later runs too."""
    note(f"Installing dependencies for Python {python.version}.")
    notes: list[str] = []
    additions = place / "additions"
    markers = pythons.markers(python.version)
    with installing(tree, place, python) as installer:
        installer.create(python, with_pip=any("pip" in command for command in setup))
        locked = False
        try:
            locked = steps.install_code(installer, tree, wanted, decided, markers, notes)
        except InstallationError as problem:
            if not setup:  # whose commands may be there for what cannot be installed as declared
                raise
            notes.append(problem.message)
        own = installed.project(place / "venv", installer.box.tree)
        if own is not None:
            if additions.is_symlink():  # so far only the installation itself can have made it
                additions.unlink()
            delete_tree(additions)
            notes += steps.copies(harvest.settle(own, tree, additions, list(roots), installer.box.tree))
        if locked:
            steps.install_test_files(installer, decided, notes)
        else:
            extras = wanted.extra_lines if own is None else installed.test_extras(own, markers)
            steps.install_for_tests(installer, wanted, decided, extras, notes)
        _run_setup(installer, setup, additions)
        steps.install_tools(installer, frozenset(installed.packages(place / "venv")))
        steps.check_tools(installed.packages(place / "venv"))
        installer.compile()
        steps.check_interpreter(installer, python)
    room.check_directory(place, room.most_bytes())
    return {"notes": notes}


def _run_setup(installer: Installer, setup: Sequence[str], additions: Path) -> None:
    """Run the configuration's own commands; the files that they make in the tree are kept."""
    assert isinstance(installer.box, ProcessSandbox)
    before = installer.box.files()
    for command in setup:
        failure = installer.shell(command)
        if failure is not None:
            raise InstallationError(
                f"A command of `environment.setup` in .github/testforge.yml failed: `{command}`: {failure.reason}",
                failure.detail,
            )
    if setup:
        installed.keep_new_files(before, installer.box.files(), installer.box.host_tree, additions)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join((FORMAT, *parts)).encode()).hexdigest()[:32]
