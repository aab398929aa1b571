"""What a repository's configuration adds to pytest's command line (`tests.command`), taken apart into options and tests."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from bot.errors import UsageError

_RUNNERS = (("pytest",), ("py.test",), ("python", "-m", "pytest"), ("python3", "-m", "pytest"))
_WITH_VALUE = frozenset(
    [
        "-c",
        "--config-file",
        "--rootdir",
        "--confcutdir",
        "--basetemp",
        "--ignore",
        "--ignore-glob",
        "--deselect",
        "-p",
        "-o",
        "-k",
        "-m",
        "-W",
        "-n",
    ]
)
"""Options whose value may look like a path of tests and is none."""


@dataclass(frozen=True, slots=True)
class PytestArguments:
    """Arguments for pytest.

    Attributes:
        options: What is added to every run.
        selection: Files, directories and node ids that make up the repository's own suite; empty is pytest's default.
    """

    options: tuple[str, ...] = ()
    selection: tuple[str, ...] = ()


def read(command: str | None, tree: Path) -> PytestArguments:
    """Return the arguments in a configured command; a leading `pytest` or `python -m pytest` may stand in it or not.

    Raises:
        UsageError: It is no shell text, or starts another program.
    """
    if command is None:
        return PytestArguments()
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(
            f"`tests.command` in .github/testforge.yml cannot be read as a command line: {error}."
        ) from None
    for runner in _RUNNERS:
        if tuple(words[: len(runner)]) == runner:
            words = words[len(runner) :]
            break
    options: list[str] = []
    selection: list[str] = []
    for position, word in enumerate(words):
        is_value = position > 0 and words[position - 1] in _WITH_VALUE
        if not word.startswith("-") and not is_value:
            if not (tree / word.partition("::")[0]).exists() and position == 0:
                raise UsageError(
                    f"`tests.command` in .github/testforge.yml starts with {word!r}, which is neither pytest nor a path "
                    "of the repository. Give the arguments that pytest gets, such as `-p no:randomly tests/unit`."
                )
            if (tree / word.partition("::")[0]).exists():
                selection.append(word.rstrip("/"))
                continue
        options.append(word)
    return PytestArguments(tuple(options), tuple(selection))
