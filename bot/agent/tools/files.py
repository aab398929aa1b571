"""Tools that look at the repository's files and change those of its tests."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Literal

from bot.agent import observations
from bot.agent.tools.schema import ToolError
from bot.errors import SandboxError

if TYPE_CHECKING:
    from bot.agent.workbench import Workbench

SEARCHED_BYTES = 1024 * 1024
CONTEXT_LINES = 2
ECHOED_LINES = 12
PLACES = 10


def search_files(
    bench: Workbench, query: str, directory: str = ".", mode: Literal["name", "text"] = "name"
) -> str:
    """Find files by the beginning or end of their name or path, or find lines that hold a text. Prints at most 200 rows.

    Args:
        query: The beginning or end of a name (`conftest`, `_test.py`), or the text to look for, exactly as it stands.
        directory: Where to look, relative to the repository's root.
        mode: `name` looks at names, `text` at contents.
    """
    if not query:
        raise ToolError("`query` is empty; give a part of a name or a text")
    below = posixpath.normpath(directory)
    paths = [path for path in bench.box.files() if below == "." or path.startswith(f"{below}/")]
    if not paths:
        raise ToolError(f"there are no files in the directory {directory}")
    if mode == "name":
        return observations.found([path for path in paths if _is_named(path, query)])
    return observations.found([row for path in paths for row in _lines_with(bench, path, query)])


def view_file(bench: Workbench, path: str, first: int = 1, last: int | None = None) -> str:
    """Show a file's lines with their numbers, at most 400 of them.

    Args:
        path: The file, relative to the repository's root.
        first: The first line to show; lines count from 1.
        last: The last line to show; null for the end of the file.
    """
    text = _text(bench, path)
    count = len(text.removesuffix("\n").split("\n")) if text else 0
    if count == 0:
        return f"{path} is empty"
    if not 1 <= first <= count:
        raise ToolError(f"`first` is {first}, but {path} has lines 1 to {count}")
    if last is not None and last < first:
        raise ToolError(f"`last` is {last}, which comes before `first`, {first}")
    return observations.numbered(text, first, last)


def write_file(bench: Workbench, path: str, content: str) -> str:
    """Create a test file or replace all of it. Only test files can be written.

    Args:
        path: The file, relative to the repository's root.
        content: The whole text of the file.
    """
    _store(bench, path, content)
    return f"wrote {path} ({_count(content)} lines)"


def edit_file(bench: Workbench, path: str, old: str, new: str) -> str:
    """Replace a text that occurs exactly once in a test file, and show the changed lines.

    Args:
        path: The file, relative to the repository's root.
        old: The text to replace, exactly as it stands, with enough lines around it to be the only one.
        new: The text to put in its place.
    """
    if not old:
        raise ToolError("`old` is empty; use insert_lines to add lines")
    text = _text(bench, path)
    places = _places(text, old)
    if not places:
        raise ToolError(f"the text does not occur in {path}{_nearest(text, old)}")
    if len(places) > 1:
        lines = ", ".join(str(line) for line in places[:PLACES])
        raise ToolError(
            f"the text occurs {len(places)} times in {path}, at lines {lines}; give more of the lines around it"
        )
    changed = text.replace(old, new, 1)
    _change(bench, path, changed)
    return _around(changed, places[0], places[0] + new.count("\n"))


def insert_lines(bench: Workbench, path: str, after: int, text: str) -> str:
    """Insert lines after a line of a test file or at its end, and show the changed lines, the middle of long texts left out.

    Args:
        path: The file, relative to the repository's root.
        after: The number of the line after which to insert; 0 for the beginning of the file, -1 for its end.
        text: The lines to insert.
    """
    before = _text(bench, path)
    lines = before.removesuffix("\n").split("\n") if before else []
    if not -1 <= after <= len(lines):
        raise ToolError(f"`after` is {after}, but {path} has {len(lines)} lines; -1 is its end")
    place = len(lines) if after == -1 else after
    inserted = text.removesuffix("\n").split("\n")
    changed = "\n".join([*lines[:place], *inserted, *lines[place:]]) + "\n"
    _change(bench, path, changed)
    return _around(changed, place + 1, place + len(inserted))


def _is_named(path: str, query: str) -> bool:
    name = posixpath.basename(path)
    return name.startswith(query) or name.endswith(query) or path.startswith(query) or path.endswith(query)


def _lines_with(bench: Workbench, path: str, query: str) -> list[str]:
    try:
        content = bench.box.read(path, limit=SEARCHED_BYTES)
    except (FileNotFoundError, SandboxError):
        return []
    if b"\0" in content:
        return []
    lines = content.decode("utf-8", "replace").split("\n")
    return [f"{path}:{number}: {line.strip()}" for number, line in enumerate(lines, 1) if query in line]


def _text(bench: Workbench, path: str) -> str:
    """Return a file's text with plain line ends. Raises ToolError."""
    try:
        content = bench.box.read(path)
    except (FileNotFoundError, NotADirectoryError):
        raise ToolError(f"there is no file {path}{_namesakes(bench, path)}") from None
    except (SandboxError, OSError, ValueError) as problem:
        if _is_directory(bench, path):
            raise ToolError(f"{path or '.'} is a directory; search_files lists its files") from None
        raise ToolError(f"{path} cannot be read: {problem}") from None
    if b"\0" in content:
        raise ToolError(f"{path} is not a text file")
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def _store(bench: Workbench, path: str, text: str) -> None:
    """Write a test file. Raises ToolError for any other path."""
    refusal = bench.refusal(path)
    if refusal:
        raise ToolError(refusal)
    try:
        bench.write(path, text)
    except UnicodeEncodeError:
        raise ToolError("the text holds half of a surrogate pair and cannot be written as UTF-8") from None
    except (SandboxError, OSError, ValueError) as problem:
        raise ToolError(f"{path} cannot be written: {problem}") from None


def _change(bench: Workbench, path: str, text: str) -> None:
    """Write a changed test file with the line ends it had. Raises ToolError."""
    windows = b"\r\n" in bench.box.read(path)
    _store(bench, path, text.replace("\n", "\r\n") if windows else text)


def _places(text: str, part: str) -> list[int]:
    """Return the lines at which a text occurs, overlapping occurrences included."""
    places = []
    start = text.find(part)
    while start >= 0:
        places.append(text.count("\n", 0, start) + 1)
        start = text.find(part, start + 1)
    return places


def _nearest(text: str, old: str) -> str:
    """Say where a text stands that differs from `old` only in white space, or where its first line stands."""
    marks = [
        (mark, number) for number, line in enumerate(text.split("\n"), 1) for mark in "".join(line.split())
    ]
    wanted = "".join(old.split())
    start = "".join(mark for mark, _ in marks).find(wanted)
    if wanted and start >= 0:
        first, last = marks[start][1], marks[start + len(wanted) - 1][1]
        which = f"line {first} differs" if first == last else f"lines {first}-{last} differ"
        return f"; {which} from it only in white space"
    lines = [line.strip() for line in text.split("\n")]
    head = old.strip().split("\n")[0].strip()
    if head and head in lines:
        return f"; its first line stands at line {lines.index(head) + 1}, but what follows differs"
    return ""


def _around(text: str, first: int, last: int) -> str:
    """Show changed lines with a few around them; of many only both ends, for the model has just written them."""
    start, stop = max(1, first - CONTEXT_LINES), last + CONTEXT_LINES
    if last - first < ECHOED_LINES:
        return observations.numbered(text, start, stop)
    shown = ECHOED_LINES // 4
    head = observations.numbered(text, start, first + shown - 1)
    tail = observations.numbered(text, last - shown + 1, stop)
    return f"{head}\n... {last - first + 1 - 2 * shown} more lines as they were given\n{tail}"


def _is_directory(bench: Workbench, path: str) -> bool:
    below = posixpath.normpath(path)
    return below == "." or any(other.startswith(f"{below}/") for other in bench.box.files())


def _namesakes(bench: Workbench, path: str) -> str:
    name = posixpath.basename(path)
    same = [other for other in bench.box.files() if posixpath.basename(other) == name]
    return f"; files of that name: {', '.join(same[:PLACES])}" if same else ""


def _count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")
