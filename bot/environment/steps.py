"""The steps of an installation that are the same in a virtual environment and in an image."""

from __future__ import annotations

from collections.abc import Sequence

from bot.environment.declared import Declared
from bot.environment.installer import Failure, Installer

TOOLS = ("coverage", "pytest")


def install_code(installer: Installer, wanted: Declared, notes: list[str]) -> None:
    """Install the project with its dependencies; where it cannot be built, its dependencies alone."""
    files = [word for name in wanted.requirements for word in ("-r", name)]
    if wanted.is_project:
        failure = installer.install([".", *files])
        if failure is None:
            return
        if failure.offline:
            raise failure.error()
        notes.append(
            f"The project itself could not be built, so only its dependencies are installed: {failure.reason}"
        )
    if wanted.dependencies:
        files += ["-r", _listed(installer, "dependencies.txt", wanted.dependencies)]
    failure = installer.install(files) if files else None
    if failure is not None:
        raise failure.error()


def install_for_tests(
    installer: Installer, wanted: Declared, extras: Sequence[str], notes: list[str]
) -> None:
    """Install what tests need: all at once, or, where that fails, whatever of it can be had."""
    sources: list[list[str]] = [["--group", name] for name in wanted.groups]
    sources += [["-r", name] for name in wanted.test_requirements]
    if extras:
        sources.append(["-r", _listed(installer, "extras.txt", extras)])
    if wanted.test_lines:
        sources.append(["-r", _listed(installer, "development.txt", wanted.test_lines)])
    if not sources or installer.install([word for source in sources for word in source]) is None:
        return
    for source in sources:
        failure = installer.install(source)
        if failure is not None and failure.offline:
            raise failure.error()
        if failure is not None:
            notes.append(
                f"Something for the tests is not installed: `{failure.command}` failed: {failure.reason}"
            )


def install_tools(installer: Installer, present: frozenset[str]) -> None:
    """Install pytest and coverage where the repository itself does not."""
    missing = [tool for tool in TOOLS if tool not in present]
    failure: Failure | None = installer.install(missing) if missing else None
    if failure is not None:
        raise failure.error()


def _listed(installer: Installer, name: str, lines: Sequence[str]) -> str:
    """Write requirements to a file for uv; returns its path."""
    path = f"{installer.box.scratch}/{name}"
    installer.box.write(path, "\n".join(lines).encode())
    return path
