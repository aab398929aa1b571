"""The commands by which the built-in model tries inputs in the sandbox, and the reading of what they print.

A command writes the probe (the package `probe`, standard library only) and its job into the sandbox's temporary
directory and runs it. What the probe found is printed as JSON lines, one scenario each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib import resources

from bot.models.offline.probe import legend
from bot.models.offline.scenario import Scenario

_PACKAGE = "bot.models.offline.probe"
_SECTION = re.compile(r"^--- (stdout|stderr)$", re.MULTILINE)
_START = """\
import sys

from testforge_probe.main import main

sys.exit(main(sys.argv[1:]))
"""


def first_command(
    source: str,
    module: str,
    path: str,
    *,
    python: str,
    seed: int,
    changed_lines: frozenset[int] | None,
    examples: Sequence[tuple[str, str]] = (),
    covered: Iterable[int] = (),
    survivors: Sequence[str] | None = None,
    suite: str = "",
) -> str:
    """Return the bash command that explores a module for the first time.

    Args:
        source: The file's text.
        module: Its dotted import path.
        path: Its path relative to the tree.
        python: The interpreter's version in the sandbox, such as `3.11`; the command runs `python`.
        seed: Of every random choice.
        changed_lines: Lines whose tests matter; None for all.
        examples: (path, text) of the repository's own tests, to take calls and arguments from.
        covered: Lines that existing tests reach already.
        survivors: The mutants that existing tests leave alive, as `surviving_mutants` prints them, if these are all.
        suite: The path that the tests are written to; what stands there is not read as the repository's.
    """
    del python  # the probe runs on every version from 3.9 on
    job = {
        "module": module,
        "path": path,
        "source": source,
        "seed": seed,
        "focus": sorted(changed_lines) if changed_lines is not None else None,
        "examples": [list(example) for example in examples],
        "covered": sorted(covered),
        "survivors": None if survivors is None else list(survivors),
        "suite": suite,
    }
    return _command(job, "explore")


def next_command(
    source: str,
    module: str,
    path: str,
    *,
    python: str,
    seed: int,
    changed_lines: frozenset[int] | None = None,
    missing_lines: Iterable[int] = (),
    missing_branches: Iterable[tuple[int, int]] = (),
    survivors: Sequence[str] = (),
    round: int = 1,  # noqa: A002 - the word of the conversation
    examples: Sequence[tuple[str, str]] = (),
    suite: str = "",
) -> str:
    """Return the bash command that searches on, aimed at what the tools reported.

    Args:
        missing_lines, missing_branches: As `coverage_report` prints them.
        survivors: Mutants as `surviving_mutants` prints them, one text each: a headline and `-` and `+` lines.
        round: Counts from 1; each round tries other inputs.
    """
    del python
    job = {
        "module": module,
        "path": path,
        "source": source,
        "seed": seed + 1000 * round,
        "focus": sorted(changed_lines) if changed_lines is not None else None,
        "examples": [list(example) for example in examples],
        "missing_lines": sorted(missing_lines),
        "missing_branches": sorted(list(branch) for branch in missing_branches),
        "survivors": list(survivors),
        "round": round,
        "suite": suite,
    }
    return _command(job, "explore")


def read(output: str) -> tuple[Scenario, ...]:
    """Return the scenarios in what `execute_bash` printed; a damaged row is left out."""
    found = []
    shown: list[str] = []
    for line in _stdout(output).splitlines():
        if not line.startswith("{"):
            continue
        try:
            row = json.loads(line)
            if "legend" in row:
                shown = [str(group) for group in row["legend"]]
                continue
            marks = legend.decoded(shown, row.get("shows", ""))
            row["lines"] = [int(mark) for mark in marks if mark.isdecimal()]
            row["kills"] = [mark for mark in marks if not mark.isdecimal()]
            found.append(Scenario.from_json(row))
        except (ValueError, LookupError, TypeError, AttributeError):
            continue
    return tuple(found)


def _stdout(output: str) -> str:
    """Return the stdout section of a tool's output, or all of it if it has no sections."""
    parts = _SECTION.split(output)
    if len(parts) == 1:
        return output
    sections = dict(zip(parts[1::2], parts[2::2], strict=False))
    return sections.get("stdout", "")


def _command(job: dict[str, object], name: str) -> str:
    """Return the command: one heredoc for each file, then the run."""
    lines = ['probe="${TMPDIR:-/tmp}/testforge-probe"', 'mkdir -p "$probe/testforge_probe"']
    for file, text in _files():
        lines += _heredoc(f'"$probe/testforge_probe/{file}"', text)
    lines += _heredoc(f'"$probe/{name}.py"', _START)
    lines += _heredoc(f'"$probe/{name}.json"', json.dumps(job, ensure_ascii=True) + "\n")
    lines.append(f'python "$probe/{name}.py" "$probe/{name}.json"')
    return "\n".join(lines) + "\n"


def _files() -> list[tuple[str, str]]:
    package = resources.files(_PACKAGE)
    found = [
        (entry.name, entry.read_text(encoding="utf-8"))
        for entry in package.iterdir()
        if entry.name.endswith(".py")
    ]
    return sorted(found)


def _heredoc(path: str, text: str) -> list[str]:
    mark = "END_OF_FILE"
    while mark in text:
        mark += "_"
    body = text if text.endswith("\n") else text + "\n"
    return [f"cat > {path} <<'{mark}'", body[:-1], mark]
