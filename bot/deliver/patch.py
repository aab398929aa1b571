"""The proposed test files as a patch that `git apply` takes, and their writing into the working tree."""

from __future__ import annotations

import io
import os
import tempfile
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.changes.exclusion import holds_tests, is_test
from bot.changes.repository import Repository, git
from bot.domain import RunReport, Suite
from bot.errors import TestforgeError, UsageError

_PLAIN = (
    "-c",
    "core.autocrlf=false",
    "-c",
    "core.safecrlf=false",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.excludesFile=/dev/null",
    "-c",
    "core.quotepath=on",
)


def build(report: RunReport, root: Path) -> str:
    """Return a patch in git's format from the reviewed files to the proposed ones; empty if nothing is proposed.

    It starts from the commit that was reviewed, or from the working tree if that was.

    Raises:
        UsageError: A suite would lie outside of the repository, or is no test file.
    """
    both = contents(report, root)
    if not both:
        return ""
    before = {path: old for path, (old, _) in both.items() if old is not None}
    after = {path: new for path, (_, new) in both.items()}
    executable = {path for path in before if os.access(root / path, os.X_OK)}
    with tempfile.TemporaryDirectory(prefix="testforge-patch-") as name:
        return _difference(Path(name), before, after, executable)


def contents(report: RunReport, root: Path) -> Mapping[str, tuple[bytes | None, bytes]]:
    """Return the proposed files by path, sorted: each as it was reviewed (None if it is new), and as it is proposed.

    Raises:
        UsageError: A suite would lie outside of the repository, or is no test file.
    """
    found = {}
    for path, suite in _suites(report).items():
        old = _reviewed(report, root, path)
        found[path] = (old, _encoded(suite.content, old))
    return found


def apply(report: RunReport, root: Path) -> tuple[str, ...]:
    """Write the proposed test files into the working tree; either all of them or none.

    Returns:
        The paths written, relative to `root`.

    Raises:
        UsageError: A file would lie outside of the repository (also through a link), is no test file, is in the way of a
            new one, or differs from the commit that was reviewed.
        TestforgeError: The file system refuses.
    """
    staged: list[_Staged] = []
    try:
        for suite in _suites(report).values():
            staged.append(_stage(report, root, suite))
        for file in staged:
            file.temporary.replace(file.final)
    except OSError as error:
        raise TestforgeError(
            f"The tests could not be written to {str(root)!r}: {error.strerror or error}."
        ) from None
    finally:
        for file in staged:
            file.temporary.unlink(missing_ok=True)
    return tuple(_suites(report))


def _suites(report: RunReport) -> Mapping[str, Suite]:
    """Return the proposed suites by path, sorted. Raises UsageError if one must not be written."""
    found: dict[str, Suite] = {}
    for target in report.targets:
        if target.suite is not None and target.kept:
            found[target.suite.path] = (
                target.suite
            )  # of two for one file the later one was built on the earlier
    under_test = {target.target.path for target in report.targets}
    for path, suite in found.items():
        parts = path.split("/")
        if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or "\0" in path:
            raise UsageError(f"{path!r} is no path inside the repository, so it is not written.")
        # A repository may name its tests in a way of its own (`python_files`), but tests they are.
        if path in under_test or not (is_test(path) or holds_tests(suite.content)):
            raise UsageError(f"{path!r} is no test file, and testforge writes nothing else.")
    return dict(sorted(found.items()))


def _reviewed(report: RunReport, root: Path, path: str) -> bytes | None:
    """Return a file as it was reviewed; None if it did not exist."""
    if report.head is not None:
        return Repository(root).file_at(report.head, path)
    file = _inside(root, path)
    return file.read_bytes() if file.is_file() else None


def _inside(root: Path, path: str) -> Path:
    """Return the absolute path of a file. Raises UsageError if it, or a directory above it, is a link."""
    file = root
    for part in path.split("/"):
        file = file / part
        if file.is_symlink():
            raise UsageError(
                f"{path!r} leads through a symbolic link, so it is not written. Replace the link, or take --patch."
            )
    return file


def _encoded(content: str, old: bytes | None) -> bytes:
    """Return a test file's bytes in the encoding that it declares, with a byte order mark if it had one."""
    declared, _ = tokenize.detect_encoding(io.BytesIO(content.encode("utf-8", "replace")).readline)
    mark = b"\xef\xbb\xbf" if old is not None and old.startswith(b"\xef\xbb\xbf") else b""
    try:
        return mark + content.removeprefix("\ufeff").encode(declared.removesuffix("-sig"))
    except UnicodeEncodeError:
        raise UsageError(
            f"A proposed test holds characters that its file's encoding, {declared}, lacks."
        ) from None


# ---------------------------------------------------------------- as a patch


def _difference(
    scratch: Path, before: Mapping[str, bytes], after: Mapping[str, bytes], executable: set[str]
) -> str:
    """Let git compare two sets of files in a repository made for it."""
    git(scratch, "init", "--quiet", "--template=", ".", options=_PLAIN)
    old = _tree(scratch, before, executable)
    new = _tree(scratch, after, executable)
    patch = git(
        scratch,
        *("diff-tree", "-p", "--no-renames", "--full-index", "--text", "--no-ext-diff", "--no-textconv"),
        *("--no-color", "--src-prefix=a/", "--dst-prefix=b/", old, new),
        options=_PLAIN,
    )
    return patch.decode("utf-8", "surrogateescape")


def _tree(scratch: Path, files: Mapping[str, bytes], executable: set[str]) -> str:
    """Write files as a git tree and return its id."""
    git(scratch, "read-tree", "--empty", options=_PLAIN)
    listing = b""
    for path, content in files.items():
        blob = git(scratch, "hash-object", "-w", "--stdin", options=_PLAIN, stdin=content).strip()
        mode = b"100755" if path in executable else b"100644"
        listing += mode + b" " + blob + b"\t" + os.fsencode(path) + b"\0"
    git(scratch, "update-index", "-z", "--index-info", options=_PLAIN, stdin=listing)
    return git(scratch, "write-tree", options=_PLAIN).decode().strip()


# ---------------------------------------------------------------- into the working tree


@dataclass(frozen=True, slots=True)
class _Staged:
    """A file written beside its final place."""

    temporary: Path
    final: Path


def _stage(report: RunReport, root: Path, suite: Suite) -> _Staged:
    """Write a suite beside its final place, once that is known to be free or unchanged."""
    final = _inside(root, suite.path)
    present = final.read_bytes() if final.is_file() else None
    if present is None and final.exists():
        raise UsageError(f"{suite.path!r} is not a file, so the tests cannot be written there.")
    if suite.is_new and present is not None:
        raise UsageError(f"{suite.path!r} exists by now, so it is not overwritten. Take --patch instead.")
    if report.head is not None and present != _reviewed(report, root, suite.path):
        raise UsageError(
            f"{suite.path!r} differs in the working tree from the commit that was reviewed. "
            "Check that commit out first, or take --patch instead."
        )
    final.parent.mkdir(parents=True, exist_ok=True)
    mode = final.stat().st_mode & 0o777 if present is not None else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=".testforge-", dir=final.parent)
    with os.fdopen(handle, "wb") as stream:
        stream.write(_encoded(suite.content, present))
    Path(name).chmod(mode)
    return _Staged(Path(name), final)


def _umask() -> int:
    """Return the permissions that this process takes from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
