"""Laying a test file out as the repository does: its formatter's and linter's settings, applied by testforge's own ruff."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace

from bot.select.style import Style

_TIMEOUT_S = 60.0
_UNSAFE_BUT_WANTED = ("ANN201", "ANN202", "ANN204")
"""Return annotations: ruff calls adding `-> None` unsafe; on a test it is what a repository with these rules asks for."""

_PLAIN = ("F401", "I")
"""What is fixed where the repository's own choice of rules is not understood."""


def tidy(source: str, style: Style, path: str) -> str:
    """Return a whole new file with the repository's fixes and layout applied; unchanged where that fails.

    Args:
        source: The file; every part of it is ours to change.
        style: The repository's settings.
        path: Where the file will lie, for rules that depend on it.
    """
    if style.lint:
        source = _check(source, style, path, style.lint)
        if any(rule == "ALL" or rule.startswith("ANN") for rule in style.lint):
            source = _check(source, style, path, _UNSAFE_BUT_WANTED, unsafe=True)
    return _format(source, style, path)


def tidy_addition(original: str, extended: str, style: Style, path: str) -> str:
    """Return an extended file laid out, as far as that leaves every line of the original as it was.

    A file that already was as the formatter and the import sorter want it stays so; one that was not is left alone.
    """
    result = extended
    if style.sorts_imports and _check(original, style, path, ("I",)) == original:
        result = _check(result, style, path, ("I",))
    if style.formatted and _format(original, style, path) == original:
        result = _format(result, style, path)
    return result


def _format(source: str, style: Style, path: str) -> str:
    options = [
        f"line-length = {style.line_length}",
        f'format.quote-style = "{style.quotes}"',
        *style.options,
    ]
    done = _ruff(["format"], source, options, path)
    return source if done is None else done


def _check(source: str, style: Style, path: str, rules: Sequence[str], *, unsafe: bool = False) -> str:
    options = [f"line-length = {style.line_length}", *style.options, *style.lint_options]
    arguments = ["check", "--fix-only", "--exit-zero", "--select", ",".join(rules)]
    arguments += ["--unsafe-fixes"] if unsafe else []
    done = _ruff(arguments, source, options, path)
    if done is None and rules != _PLAIN:  # a rule or setting of another version of ruff
        return _check(source, replace(style, lint_options=style.lint_options[:1]), path, _PLAIN)
    return source if done is None else done


def _ruff(arguments: Sequence[str], source: str, options: Sequence[str], path: str) -> str | None:
    """Run ruff on a text in an empty directory, with these options and no configuration file; None if it refuses."""
    from ruff.__main__ import find_ruff_bin  # type: ignore[import-untyped]

    command = [find_ruff_bin(), *arguments, "--isolated", "--no-cache", "--quiet"]
    for option in options:
        command += ["--config", option]
    command += ["--stdin-filename", path, "-"]
    with tempfile.TemporaryDirectory(prefix="testforge-") as directory:
        try:
            done = subprocess.run(
                command,
                input=source.encode(),
                capture_output=True,
                cwd=directory,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    return done.stdout.decode() if done.returncode == 0 and done.stdout else None
