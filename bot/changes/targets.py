"""From a diff to targets: the changed source files that are worth tests, and the reasons why the others are not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bot.changes import diff, source
from bot.changes.copies import working_files
from bot.changes.diff import FileChange, Hunk
from bot.changes.exclusion import reason_by_content, reason_by_path
from bot.changes.globs import matches
from bot.changes.layout import import_roots, module_name
from bot.changes.repository import EMPTY_TREE, Repository, find_root
from bot.changes.source import UnreadableError
from bot.domain import Change, Function, Request, Skipped, Target
from bot.errors import UsageError
from bot.repoconfig import PATH as CONFIGURATION
from bot.repoconfig import RepoConfig

_WITHOUT_BEHAVIOUR = {"imports": "imports", "metadata": "its version, names or other metadata"}
_LARGEST = 2 * 1024**2  # bytes; a larger source is data that happens to be Python


def configuration(root: Path, base: str | None) -> str | None:
    """Return the text of the repository's configuration: as committed at `base`, or in the working tree if that is None.

    Raises:
        RepositoryError: There is no such commit.
        UsageError: The file is not text in UTF-8.
    """
    content: bytes | None
    if base is None:
        file = root / CONFIGURATION
        content = file.read_bytes() if file.is_file() else None
    elif base == EMPTY_TREE:
        content = None
    else:
        repository = Repository(root)
        content = repository.file_at(repository.commit(base), CONFIGURATION)
    if content is None:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{CONFIGURATION} is not text in UTF-8. Save it as that.") from None


def read(request: Request, config: RepoConfig) -> Change:
    """Return what a request is about: targets, and the changed Python files that are none, with the reason.

    Raises:
        RepositoryError: Git cannot tell: no repository, an unknown ref, no common history.
        UsageError: The file of `generate` cannot be read as Python.
    """
    if request.whole_file is not None:
        target = whole_file(request.root, request.whole_file, config)
        if not source.code_lines(target.source, source.parse(target.source)):
            return Change(request.root, None, None, (), (Skipped(target.path, "holds no code"),))
        return Change(request.root, None, None, (target,))
    root = find_root(request.root)
    repository = Repository(root)
    base, head = _ends(repository, request)
    reader = _Reader(repository, head, config, request.only)
    targets: list[Target] = []
    skipped: list[Skipped] = []
    for change in diff.changed_files(repository, base, head):
        if not change.path.endswith(".py"):
            continue
        found = reader.read(change)
        if isinstance(found, Target):
            targets.append(found)
        else:
            skipped.append(found)
    return Change(root, None if base == EMPTY_TREE else base, head, tuple(targets), tuple(skipped))


def _ends(repository: Repository, request: Request) -> tuple[str, str | None]:
    """Return the commit that the change starts from, and the commit it ends with (None: the working tree)."""
    head = repository.commit(request.head) if request.head is not None else None
    if request.base is None:
        raise UsageError("Name the commit that the change starts from, such as `--base main`.")
    if request.base == EMPTY_TREE:
        return EMPTY_TREE, head
    base = repository.commit(request.base)
    return repository.merge_base(base, head or repository.commit("HEAD")), head


def whole_file(root: Path, path: str, config: RepoConfig) -> Target:
    """Return a file as a target of which every line counts as changed; works without git.

    Raises:
        UsageError: It is not there, lies outside of `root`, or is no Python that can be read.
    """
    del config  # what it excludes is excluded from reviews; who names a file means it
    file = root / path
    inside = os.path.normpath(path)
    if inside.startswith("..") or Path(inside).is_absolute():
        raise UsageError(f"{path!r} lies outside of {str(root)!r}.")
    if not file.is_file():
        raise UsageError(f"There is no file {path!r} below {str(root)!r}.")
    if file.suffix != ".py":
        raise UsageError(f"{path!r} is no Python module: without the ending .py no test can import it.")
    try:
        text = source.decode(file.read_bytes())
        functions = source.functions_of(text)
    except UnreadableError as error:
        raise UsageError(f"{path} {error}. Only Python that parses can be tested.") from None
    posix = PurePosixPath(inside).as_posix()
    lines = frozenset(range(1, len(diff.lines_of(text)) + 1))
    module = module_name(posix, import_roots(working_files(root)))
    return Target(posix, module, text, lines, functions, whole_file=True)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns changed files into targets. `head` None is the working tree."""

    repository: Repository
    head: str | None
    config: RepoConfig
    only: Sequence[str]

    def read(self, change: FileChange) -> Target | Skipped:
        """Return a changed Python file as a target, or the reason why it is none."""
        path = change.path
        reason = self._reason_without_reading(change)
        if reason:
            return Skipped(path, reason)
        try:
            content = self._head_content(change)
            if len(content) > _LARGEST:
                return Skipped(path, "is larger than 2 MB")
            text = source.decode(content)
            source.parse(text)
        except UnreadableError as error:
            return Skipped(path, str(error))
        reason = reason_by_content(path, text)
        if reason:
            return Skipped(path, reason)
        before = self._base_text(change)
        lines, reason = changed_lines(before, text)
        if reason:
            return Skipped(path, reason)
        return Target(
            path=path,
            module=module_name(path, self._roots()),
            source=text,
            changed_lines=lines,
            functions=_holding(source.functions_of(text), lines),
            base_source=before,
            base_path=change.base_path if before is not None else None,
        )

    def _reason_without_reading(self, change: FileChange) -> str:
        """Return why a file is no target, as far as its path and its kind tell; empty if they do not."""
        if change.deleted:
            return "was deleted"
        if change.is_link:
            return "is a symbolic link"
        if self.only and not any(_is_at_or_below(change.path, path) for path in self.only):
            return "is not among the paths asked for"
        paths = self.config.paths
        if paths.include and not matches(change.path, paths.include):
            return "is not in the configuration's `paths.include`"
        if matches(change.path, paths.exclude):
            return "is in the configuration's `paths.exclude`"
        return reason_by_path(change.path)

    def _head_content(self, change: FileChange) -> bytes:
        """Return the file's content at head."""
        if self.head is not None:
            return next(self.repository.blobs([change.head_blob]))
        try:
            return (self.repository.root / change.path).read_bytes()
        except OSError as error:
            raise UnreadableError(f"cannot be read: {error.strerror}") from None

    def _base_text(self, change: FileChange) -> str | None:
        """Return the file's text at base; None if it did not exist there, or was no text."""
        if not change.base_blob:
            return None
        try:
            return source.decode(next(self.repository.blobs([change.base_blob])))
        except UnreadableError:
            return None

    def _roots(self) -> tuple[str, ...]:
        """Return the import roots of the tree at head."""
        if self.head is None:
            return import_roots(working_files(self.repository.root))
        return import_roots(entry.path for entry in self.repository.entries(self.head))


def changed_lines(before: str | None, after: str) -> tuple[frozenset[int], str]:
    """Return the lines of a source that its change concerns, and, if there are none, why.

    These are the added and modified lines; where lines inside a function were only removed, those around the gap.
    Lines of functions and statements that mean the same as before do not count, nor blank lines and comments by themselves.

    Args:
        before: The text at base; None if the file is new.
        after: The text at head, which parses.
    """
    tree = source.parse(after)
    code = source.code_lines(after, tree)
    if not code:
        return frozenset(), "holds no code"
    if before is None:
        return frozenset(range(1, len(diff.lines_of(after)) + 1)), ""
    found = diff.hunks(before, after)
    if not found:
        return frozenset(), "changes no line"
    try:
        old = source.parse(before)
    except UnreadableError:
        lines = frozenset(line for hunk in found for line in hunk.lines)
        return lines, "" if lines & code else "changes no code"
    if source.meaning(old) == source.meaning(tree):
        return frozenset(), "changes only comments, docstrings or white space"
    meaningful = _Meaningful(source.Units(tree), source.Units(old), code)
    lines = frozenset(line for hunk in found for line in meaningful.lines(hunk))
    if not lines:
        return lines, "only removes or moves code"
    kind = source.without_behaviour(tree, lines & code)
    return lines, f"changes only {_WITHOUT_BEHAVIOUR[kind]}" if kind else ""


@dataclass(frozen=True, slots=True)
class _Meaningful:
    """Tells which lines of a hunk mean something new. `code` are the lines at head that hold code."""

    new: source.Units
    old: source.Units
    code: frozenset[int]

    def lines(self, hunk: Hunk) -> frozenset[int]:
        """Return the lines at head that a hunk concerns; none if it changes no meaning."""
        if not hunk.lines:
            return frozenset(line for step in (-1, 1) for line in self._beside(hunk, step))
        lines = frozenset(line for line in hunk.lines if self._differs(line))
        return lines if lines & self.code else frozenset()

    def _differs(self, line: int) -> bool:
        """Return whether the unit that holds a line is new or means something else than before."""
        unit = self.new.at(line)
        return unit is None or not self.old.has(unit)

    def _beside(self, hunk: Hunk, step: int) -> tuple[int, ...]:
        """Return the nearest line of code above (-1) or below (+1) a gap, inside a function that changed."""
        line = hunk.first - 1 if step < 0 else hunk.first
        unit = self.new.at(line)
        while unit is not None and unit.is_function and not self.old.has(unit):
            if line in self.code:
                return (line,)
            line += step
            unit = self.new.at(line)
        return ()


def _holding(functions: Iterable[Function], lines: frozenset[int]) -> tuple[Function, ...]:
    """Return the functions that hold one of the lines."""
    return tuple(
        function for function in functions if not lines.isdisjoint(range(function.first, function.last + 1))
    )


def _is_at_or_below(path: str, limit: str) -> bool:
    """Return whether a path is `limit` or lies below it."""
    normal = PurePosixPath(os.path.normpath(limit))
    return str(normal) == "." or normal == PurePosixPath(path) or normal in PurePosixPath(path).parents
