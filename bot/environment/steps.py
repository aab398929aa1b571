"""The steps of an installation that are the same in a virtual environment and in an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.environment import locks
from bot.environment.decision import Decision
from bot.environment.declared import Declared
from bot.environment.installer import Failure, Installer
from bot.environment.locks import Locked
from bot.environment.pythons import Python
from bot.errors import InstallationError

TOOLS = ("coverage", "pytest")
LOOK_S = 60.0
_LOOK = """
import os, sys
here, real = os.path.dirname(sys.executable), os.path.realpath(sys.executable)
homes = [line.partition("=")[2].strip() for line in open(sys.argv[1] + "/pyvenv.cfg") if line.partition("=")[0].strip().lower() == "home"]
right = [os.path.realpath(here), os.path.dirname(real)]
if os.path.realpath(sys.argv[1] + "/bin/python") == real and homes and all(os.path.realpath(home) in right for home in homes):
    print("the same")
"""
OLDEST_TOOLS = {"coverage": 6, "pytest": 6}


def install_code(
    installer: Installer,
    tree: Path,
    wanted: Declared,
    decided: Decision,
    markers: Mapping[str, str],
    notes: list[str],
) -> bool:
    """Install the project with its dependencies; where it cannot be built, its dependencies alone.

    Args:
        markers: Their values for the environment's Python.
        notes: Gets sentences on what went less than well.

    Returns:
        Whether a lock file decided, so that what tests need is installed too.

    Raises:
        InstallationError: The dependencies cannot be installed.
    """
    notes += decided.notes
    if decided.lock and _install_locked(installer, tree, wanted, decided, markers, notes):
        return True
    files = [word for name in decided.requirements for word in ("-r", name)]
    if wanted.is_project:
        failure = installer.install([".", *files])
        if failure is None:
            return False
        if failure.offline:
            raise failure.error()
        if files and installer.install(["."]) is None:
            for name in decided.requirements:
                _install_if_possible(installer, ["-r", name], notes)
            return False
        notes.append(_not_built(failure))
    if decided.dependencies:
        files += ["-r", _listed(installer, "dependencies.txt", decided.dependencies)]
    failure = installer.install(files) if files else None
    if failure is not None:
        raise failure.error()
    return False


def install_for_tests(
    installer: Installer, wanted: Declared, decided: Decision, extras: Sequence[str], notes: list[str]
) -> None:
    """Install what tests need: all at once, or, where that fails, whatever of it can be had.

    Args:
        extras: The requirements of the extras for tests.
    """
    sources: list[list[str]] = [["--group", name] for name in wanted.groups]
    if extras:
        sources.append(["-r", _listed(installer, "extras.txt", extras)])
    if decided.test_lines:
        sources.append(["-r", _listed(installer, "development.txt", decided.test_lines)])
    _install_all_or_some(installer, [*sources, *_files(decided.test_requirements)], notes)


def install_test_files(installer: Installer, decided: Decision, notes: list[str]) -> None:
    """Install the requirements files for tests that stand beside a lock file; what it locked stays where that will do."""
    _install_all_or_some(installer, _files(decided.test_requirements), notes)


def install_tools(installer: Installer, present: frozenset[str]) -> None:
    """Install pytest and coverage where the repository itself does not."""
    missing = [tool for tool in TOOLS if tool not in present]
    failure: Failure | None = installer.install(missing) if missing else None
    if failure is not None:
        raise failure.error()


def copies(names: Sequence[str]) -> list[str]:
    """Return the sentence on modules of the project that are installed as copies (`harvest.settle`), if there are any."""
    if not names:
        return []
    shown = f"{', '.join(names[:5])}{' and more' if len(names) > 5 else ''}"
    return [
        f"{shown} of the project lies elsewhere in the repository than its name says, or was made by the build, so that "
        "the tests see the copy that was installed."
    ]


def check_tools(versions: Mapping[str, str]) -> None:
    """See that testforge's own part can work with the pytest and the coverage that are installed.

    Args:
        versions: Of what is installed, by canonical name.

    Raises:
        InstallationError: It cannot.
    """
    for tool in TOOLS:
        told = too_old(tool, versions.get(tool, ""))
        if told:
            raise InstallationError(
                f"{told}. Allow a newer one in the file that pins it, or install one with `environment.setup` in "
                ".github/testforge.yml."
            )


def check_interpreter(installer: Installer, python: Python) -> None:
    """See that the environment's Python is still the one that it was made from: the installation could replace it.

    What keeps the results of tests (`bot/sandbox/guest/clerk.py`) runs under it, without what is installed. To be called
    when nothing of the repository runs any more.

    Args:
        python: What the environment was made from, which the installation cannot write to.

    Raises:
        InstallationError: It is another one.
    """
    words = [python.command, "-I", "-S", "-c", _LOOK, f"{installer.place}/venv"]
    if installer.box.run(words, timeout_s=LOOK_S).stdout != "the same\n":
        raise InstallationError(
            "The installation replaced the Python of the environment that it was to fill, so nothing that runs there could "
            "be believed. See what the build of the project, its dependencies and `environment.setup` write to."
        )


def too_old(tool: str, version: str) -> str:
    """Return why testforge cannot work with a version of pytest or coverage; empty if it can."""
    oldest = OLDEST_TOOLS[tool]
    number = version.partition(".")[0]
    if number.isdigit() and int(number) < oldest:
        return f"The repository has {tool} {version}, and testforge works with {oldest} or newer"
    return ""


def _install_locked(
    installer: Installer,
    tree: Path,
    wanted: Declared,
    decided: Decision,
    markers: Mapping[str, str],
    notes: list[str],
) -> bool:
    """Install what a lock file pins, and the project; returns False if the lock is of no use here."""
    found = _locked(installer, tree, wanted, decided, markers)
    failure = found if isinstance(found, Failure) else _install_pins(installer, found, decided.lock, notes)
    if failure is not None:
        if failure.offline:
            raise failure.error()
        notes.append(
            f"The versions in {decided.lock} cannot be installed with Python {markers['python_version']}, so those that the "
            f"project allows are taken: {failure.reason}"
        )
        return False
    assert isinstance(found, Locked)
    notes += found.left_out
    if found.unlocked:
        notes.append(
            f"{decided.lock} lacks {', '.join(found.unlocked)}, so the newest that will do is installed."
        )
        _install_if_possible(installer, ["-r", _listed(installer, "unlocked.txt", found.unlocked)], notes)
    failure = installer.install(["--no-deps", "."]) if wanted.is_project else None
    if failure is not None:
        notes.append(_not_built(failure))
    return True


def _locked(
    installer: Installer, tree: Path, wanted: Declared, decided: Decision, markers: Mapping[str, str]
) -> Locked | Failure:
    """Return what a lock says for the code and its tests, or why it cannot be read."""
    if decided.lock == "uv.lock":
        extras = [word for name in wanted.test_extras for word in ("--extra", name)]
        groups = [word for name in wanted.groups for word in ("--group", name)]
        text = installer.export([*extras, *groups])
        return text if isinstance(text, Failure) else locks.from_export(text)
    lines = (*wanted.dependencies, *wanted.extra_lines, *wanted.group_lines, *wanted.test_lines)
    return locks.read(tree, decided.lock, lines, markers)


def _install_pins(installer: Installer, found: Locked, lock: str, notes: list[str]) -> Failure | None:
    """Install pins; where not all of them, those from an index. A lock is complete: nothing else is looked for."""
    name = f"{lock}.txt"
    if not (found.lines or found.elsewhere):
        return None
    failure = installer.install(
        ["--no-deps", "-r", _listed(installer, name, (*found.lines, *found.elsewhere))]
    )
    if failure is None or not found.elsewhere or failure.offline:
        return failure
    alone = (
        installer.install(["--no-deps", "-r", _listed(installer, name, found.lines)]) if found.lines else None
    )
    if alone is None:
        for line in found.elsewhere:
            _install_if_possible(
                installer, ["--no-deps", "-r", _listed(installer, "elsewhere.txt", [line])], notes, line
            )
    return alone


def _install_all_or_some(installer: Installer, sources: Sequence[list[str]], notes: list[str]) -> None:
    if not sources or installer.install([word for source in sources for word in source]) is None:
        return
    for source in sources:
        _install_if_possible(installer, source, notes)


def _install_if_possible(
    installer: Installer, words: Sequence[str], notes: list[str], shown: str = ""
) -> None:
    """Install something; where that cannot be, say so, unless there is no network for anything."""
    failure = installer.install(words)
    if failure is not None and failure.offline:
        raise failure.error()
    if failure is not None:
        notes.append(f"Not everything is installed: `{shown or failure.command}` failed: {failure.reason}")


def _not_built(failure: Failure) -> str:
    return (
        f"The project itself could not be built, so only its dependencies are installed: {failure.explained}"
    )


def _files(names: Sequence[str]) -> list[list[str]]:
    return [["-r", name] for name in names]


def _listed(installer: Installer, name: str, lines: Sequence[str]) -> str:
    """Write requirements to a file for uv; returns its path."""
    path = f"{installer.box.scratch}/{name}"
    installer.box.write(path, "\n".join(lines).encode())
    return path
