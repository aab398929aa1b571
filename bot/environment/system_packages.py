"""System packages: the commands of `environment.setup` that install Debian packages, told apart from the others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.errors import InstallationError

_APT = re.compile(r"^\s*(?:sudo\s+)?apt(?:-get)?\s")
_NAME = re.compile(r"^[a-z0-9][a-z0-9.+-]*(:[a-z0-9]+)?(=[\w.+:~-]+)?$")
_WITH_VALUE = frozenset({"-o", "--option", "-t", "--target-release", "-c", "--config-file"})


@dataclass(frozen=True, slots=True)
class Setup:
    """What `environment.setup` asks for.

    Attributes:
        packages: Debian packages, to be installed by root before all else.
        commands: The other commands, to be run by the user afterwards.
    """

    packages: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def split(setup: Iterable[str]) -> Setup:
    """Return the packages that `apt-get install` and `apt install` name, and the rest of the commands.

    A command that goes on after them (`apt-get update && apt-get install -y make && make`) is taken apart.

    Raises:
        InstallationError: Such a command holds more than names of packages: it would run as root.
    """
    packages: list[str] = []
    commands: list[str] = []
    for command in setup:
        parts = command.split("&&") if _APT.match(command) else [command]
        while parts and _APT.match(f"{parts[0]} "):
            packages += _packages(parts.pop(0).strip())
        if parts:
            commands.append("&&".join(parts).strip())
    return Setup(tuple(sorted(set(packages))), tuple(commands))


def _packages(command: str) -> Sequence[str]:
    """Return the packages that one command names."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    words = words[1:] if words[:1] == ["sudo"] else words
    plain: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            plain.append(word)
    if plain == ["update"]:
        return ()
    if plain[:1] == ["install"] and all(_NAME.match(word) for word in plain[1:]):
        return plain[1:]
    raise InstallationError(
        f"`{command}` of `environment.setup` in .github/testforge.yml would run as root, so it may be nothing but "
        "`apt-get update` or `apt-get install` with names of packages. Put other commands on a line of their own."
    )
