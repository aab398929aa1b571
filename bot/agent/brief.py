"""What the model is told about its task: the target, where the suite goes, and what existing tests already do.

The blocks printed here are a format: models of every kind read them, and the built-in one parses them.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.agent.syntax import statements
from bot.domain import Target, ranges

EXAMPLE_LINES = 300
DIFF_LINES = 300


@dataclass(frozen=True, slots=True)
class Brief:
    """One target's task.

    Attributes:
        suite_path: Where the candidate suite is written, relative to the tree.
        python: The interpreter's version, such as `3.11`.
        examples: The nearest existing tests as (path, text), an example of the repository's style.
        covered_lines: Lines of the target that existing tests already cover.
    """

    target: Target
    suite_path: str
    python: str
    examples: tuple[tuple[str, str], ...] = ()
    covered_lines: frozenset[int] = frozenset()


def target_block(brief: Brief) -> str:
    """Return the description of the target with its whole source and the examples, without a final line end."""
    target = brief.target
    facts = [
        f"File under test: {_one_line(target.path)}",
        f"Import it as: {target.module}",
        f"Write the tests to: {_one_line(brief.suite_path)}",
        f"Python: {brief.python}",
        f"Changed lines: {'all' if target.whole_file else line_list(target.changed_lines)}",
        f"Functions that hold them: {_functions(target)}",
        f"Lines that existing tests already cover: {line_list(brief.covered_lines)}",
    ]
    blocks = ["\n".join(facts), fenced(target.source, target.path)]
    if brief.examples:
        shown = "\n".join(fenced(_excerpt(text), path) for path, text in brief.examples)
        blocks.append(f"Nearest existing tests, as an example of style:\n{shown}")
    change = _change(target)
    if change:
        blocks.append(f"What was changed in it:\n{fenced(change, language='diff')}")
    return f"{blocks[0]}\n\n" + "\n".join(blocks[1:])


def suite_block(path: str, content: str, result: str) -> str:
    """Return the suite as it stands and what running it showed, as the loop's first message goes on."""
    return f"The suite as it stands:\n{fenced(content, path)}\nIts result:\n{fenced(result, language='text')}"


def fenced(text: str, path: str | None = None, language: str = "python") -> str:
    """Return text between fences one backtick longer than any run of backticks inside, three at least."""
    body = text.replace("\r\n", "\n").replace("\r", "\n")
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    info = language if path is None else f"{language} path={json.dumps(path, ensure_ascii=False)}"
    end = "" if not body or body.endswith("\n") else "\n"
    return f"{fence}{info}\n{body}{end}{fence}"


def line_list(lines: Iterable[int], mark: frozenset[int] = frozenset()) -> str:
    """Return lines as `3-10, 12`, those in `mark` as ranges of their own with a star, or `none`."""
    every = set(lines)
    spans = [(first, last, "") for first, last in ranges(every - mark)]
    spans += [(first, last, "*") for first, last in ranges(every & mark)]
    texts = [
        (f"{first}" if first == last else f"{first}-{last}") + star for first, last, star in sorted(spans)
    ]
    return ", ".join(texts) or "none"


def _change(target: Target) -> str:
    """Return the change as a diff, its end left out where it is very long; empty where all of the file is new."""
    if target.whole_file or target.base_source is None:
        return ""
    before, after = target.base_source.splitlines(), target.source.splitlines()
    _, _, *lines = list(difflib.unified_diff(before, after, lineterm="")) or ["", ""]
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], f"... {len(lines) - DIFF_LINES} more lines"]
    return "\n".join(lines)


def _functions(target: Target) -> str:
    found = (f"{function.qualname} ({function.first}-{function.last})" for function in target.functions)
    return ", ".join(found) or "none"


def _one_line(path: str) -> str:
    return path.replace("\r", "\\r").replace("\n", "\\n")


def _excerpt(text: str) -> str:
    """Return an example's first statements, about EXAMPLE_LINES lines of them, so that what is shown still parses."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= EXAMPLE_LINES:
        return text
    kept = _whole_statements(text, EXAMPLE_LINES)
    return "".join([*lines[:kept], f"# ({len(lines) - kept} more lines)\n"])


def _whole_statements(text: str, limit: int) -> int:
    ends = [node.end_lineno or 0 for node in statements(text)]
    return max((end for end in ends if end <= limit), default=limit)
