"""A git repository, asked through the `git` command: refs, trees and blobs, never anything that is written.

Git reads configuration of the repository and of its user, and some of it names programs to run. Everything here
is called so that none of them does: no hooks, no external diff, no textconv, no filters, no file-system monitor, and
no transport, by which git would fetch the missing objects of a partial clone.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType

from bot.errors import RepositoryError, UsageError

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git knows this object in every SHA-1 repository: a tree without files."""

LINK, SUBMODULE = "120000", "160000"
"""Modes that git gives to symbolic links and to submodules."""

_MISSING = "{} is missing from this repository. Run `git fsck`, or clone it again, without `--filter` if this is a partial clone."

_NOT_FETCHED = re.compile(
    r"^(fatal|error): (could not fetch \w+ from promisor remote|transport '.*' not allowed)$", re.M
)
"""What git says when it would have to fetch an object and may not."""

_OLDEST_GIT = (2, 31)

_SAFE = (
    "--no-optional-locks",
    "-c",
    "core.quotepath=off",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a commit's tree: git's mode, the object's id, and the path."""

    mode: str
    object_id: str
    path: str


def git(
    directory: Path,
    *arguments: str,
    options: Sequence[str] = (),
    settings: Mapping[str, str] = MappingProxyType({}),
    stdin: bytes = b"",
    success: Sequence[int] = (0,),
) -> bytes:
    """Run git in a directory and return what it printed.

    Args:
        options: Options of git itself, before the subcommand.
        settings: Configuration for this one call, by key.
        success: Exit codes that are no failure.

    Raises:
        GitFailedError: It ended with another exit code.
        RepositoryError: There is no git.
    """
    command = ["git", "-C", str(directory), *_SAFE, *options, *arguments]
    try:
        _refuse_old_git()
        done = subprocess.run(
            command, input=stdin, capture_output=True, env=_environment(settings), check=False
        )
    except FileNotFoundError:
        raise RepositoryError("There is no git on this machine. Install git, then run this again.") from None
    if done.returncode not in success:
        raise GitFailedError(arguments, done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


@cache
def _refuse_old_git() -> None:
    """Refuse a git that does not know settings in variables, by which filters are taken out of its way.

    Raises:
        RepositoryError: It is older than that.
    """
    said = subprocess.run(["git", "--version"], capture_output=True, check=False).stdout.decode(
        "utf-8", "replace"
    )
    found = re.search(r"(\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) < _OLDEST_GIT:
        raise RepositoryError(
            f"This machine has git {found[0]}, and 2.31 or newer is needed. Install a newer git."
        )


class GitFailedError(RepositoryError):
    """Git refused; `said` is its own explanation."""

    def __init__(self, arguments: Sequence[str], said: str) -> None:
        super().__init__(f"`git {' '.join(arguments[:2])}` failed in this repository.", said)
        self.said = said


def find_root(path: Path) -> Path:
    """Return the top level of the git working tree that holds `path`.

    Raises:
        UsageError: There is nothing at `path`.
        RepositoryError: It is in no working tree.
    """
    start = path if path.is_dir() else path.parent
    if not path.exists():
        raise UsageError(f"There is no file or directory {str(path)!r}.")
    try:
        answer = git(start, "rev-parse", "--is-bare-repository", "--is-inside-work-tree").split()
    except GitFailedError as error:
        raise _no_repository(path, error.said) from None
    if answer[0] == b"true":
        raise RepositoryError(
            f"{str(path)!r} is a bare repository, without files to test. Clone it and review the clone."
        )
    if answer[1] != b"true":
        raise RepositoryError(f"{str(path)!r} is inside git's own directory. Name the working tree above it.")
    top = Path(os.fsdecode(git(start, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    lies_here = (top / ".git").exists() and start.resolve().is_relative_to(top.resolve())
    if not lies_here or _directory_of(top) != _directory_of(start):
        raise RepositoryError(
            f"The repository at {str(path)!r} says that its working tree is {str(top)!r}, where it does not lie. "
            "Remove `core.worktree` from its configuration, or clone it again."
        )
    return top


def _directory_of(working_tree: Path) -> bytes | None:
    """Return git's own directory for a working tree; None if it has none."""
    try:
        return git(working_tree, "rev-parse", "--absolute-git-dir")
    except GitFailedError:
        return None


def head_of(root: Path) -> str | None:
    """Return the id of the commit that a directory's working tree is based on; None without git or without a commit."""
    try:
        return git(root, "rev-parse", "--verify", "--quiet", "HEAD").decode().strip() or None
    except (GitFailedError, RepositoryError):
        return None


def project_of(file: Path) -> Path:
    """Return the directory that a source file belongs to: its git working tree, or, without git, its project's.

    Without git that is the nearest directory above with a pyproject.toml, setup.py or setup.cfg, otherwise the one
    that the file's package lies in.

    Raises:
        UsageError: There is no such file.
    """
    if not file.is_file():
        raise UsageError(f"There is no file {str(file)!r}.")
    start = file.resolve().parent
    try:
        return find_root(start)
    except RepositoryError:
        pass
    for directory in (start, *start.parents):
        if any((directory / name).is_file() for name in ("pyproject.toml", "setup.py", "setup.cfg")):
            return directory
    return next(
        directory for directory in (start, *start.parents) if not (directory / "__init__.py").exists()
    )


def _no_repository(path: Path, said: str) -> RepositoryError:
    """Return the sentence for a directory in which git does not work at all."""
    if "dubious ownership" in said:
        return RepositoryError(
            f"Git does not trust {str(path)!r}, because another user owns it. "
            "If you do, run `git config --global --add safe.directory` with that directory.",
            said,
        )
    if "not a git repository" in said:
        return RepositoryError(
            f"{str(path)!r} is not in a git repository. Run `git init` and commit once, or name a directory that is."
        )
    return RepositoryError(f"Git cannot read the repository at {str(path)!r}.", said)


@dataclass(frozen=True)
class Repository:
    """The working tree at `root` and the history behind it, read only."""

    root: Path

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git at the root with the filters of the configuration switched off; return what it printed."""
        try:
            return git(self.root, *arguments, settings=self._without_filters, stdin=stdin)
        except GitFailedError as error:
            if _NOT_FETCHED.search(error.said):
                raise RepositoryError(_MISSING.format("An object"), error.said) from None
            raise

    @cached_property
    def _without_filters(self) -> Mapping[str, str]:
        """Settings that undo each configured clean, smudge and process filter: they are programs."""
        try:
            keys = git(self.root, "config", "-z", "--name-only", "--get-regexp", r"^filter\.").split(b"\0")
        except GitFailedError:  # exit code 1: none is configured
            return {}
        names = sorted({os.fsdecode(key).split(".", 1)[1].rpartition(".")[0] for key in keys if key})
        undone = {"clean": "", "smudge": "", "process": "", "required": "false"}
        return {f"filter.{name}.{key}": value for name in names for key, value in undone.items()}

    def commit(self, ref: str) -> str:
        """Return the id of the commit that a ref names.

        Raises:
            RepositoryError: It names none.
        """
        if not ref or ref.startswith("-") or "\0" in ref:
            raise RepositoryError(f"{ref!r} cannot be the name of a commit, a branch or a tag.")
        # A clone of one branch, as a runner makes it, has the others only as the remote's.
        for name in (ref, f"refs/remotes/origin/{ref}"):
            try:
                found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
            except GitFailedError:
                continue
            return found.decode().strip()
        raise self._unknown(ref)

    def _unknown(self, ref: str) -> RepositoryError:
        """Return the sentence for a ref that cannot be found, with what most likely helps."""
        try:
            self.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        except GitFailedError:
            return RepositoryError(
                f"There is no commit {ref!r}: this repository has no commits yet. Commit once, then review."
            )
        if self.is_shallow:
            return RepositoryError(
                f"There is no commit {ref!r} in this shallow clone. Run `git fetch --unshallow`, "
                f"or `git fetch origin {ref}`, then review again."
            )
        if re.fullmatch(r".*(\^|~\d*)", ref):
            return RepositoryError(
                f"There is no commit {ref!r}: the history does not go back that far. "
                f"To review everything from the beginning, name the empty tree: `--base {EMPTY_TREE}`."
            )
        return RepositoryError(
            f"There is no commit, branch or tag {ref!r} in this repository. "
            f"See `git branch --all`, or run `git fetch` first."
        )

    @property
    def is_shallow(self) -> bool:
        """Whether the clone's history is cut off."""
        return self.run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def merge_base(self, base: str, head: str) -> str:
        """Return the commit at which the histories of two commits part.

        Raises:
            RepositoryError: They share none, or a shallow clone lacks it.
        """
        try:
            return self.run("merge-base", base, head).decode().strip()
        except GitFailedError:
            pass
        if self.is_shallow:
            raise RepositoryError(
                "This shallow clone does not hold the commit at which base and head part. "
                "Run `git fetch --unshallow`, then review again."
            )
        raise RepositoryError(
            "Base and head share no history, so there is no change between them to review. Name another base."
        )

    def entries(self, commit: str) -> tuple[Entry, ...]:
        """Return every file, link and submodule of a commit's tree."""
        listing = self.run("ls-tree", "-r", "-z", "--full-tree", commit)
        found = []
        for record in filter(None, listing.split(b"\0")):
            about, _, path = record.partition(b"\t")
            mode, _, object_id = about.decode().split(" ")
            found.append(Entry(mode, object_id, os.fsdecode(path)))
        return tuple(found)

    def blobs(self, object_ids: Iterable[str]) -> Iterator[bytes]:
        """Yield the content of blobs in the order asked, exactly as committed (no line ends or filters applied)."""
        wanted = list(object_ids)
        if not wanted:
            return
        with tempfile.TemporaryFile() as asked:  # a pipe would block both sides once it is full
            asked.write("".join(f"{object_id}\n" for object_id in wanted).encode())
            asked.seek(0)
            command = ["git", "-C", str(self.root), *_SAFE, "cat-file", "--batch"]
            with subprocess.Popen(
                command, stdin=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
            ) as process:
                assert process.stdout is not None
                for object_id in wanted:
                    header = process.stdout.readline().split()
                    if len(header) != 3:
                        raise RepositoryError(_MISSING.format(f"The object {object_id[:12]}"))
                    content = process.stdout.read(int(header[2]))
                    process.stdout.read(1)
                    yield content

    def file_at(self, commit: str, path: str) -> bytes | None:
        """Return a regular file's content at a commit; None if there is none."""
        listing = self.run("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", path)
        about, _, name = listing.rstrip(b"\0").partition(b"\t")
        if os.fsdecode(name) != path:
            return None
        mode, kind, object_id = about.decode().split(" ")
        if kind != "blob" or mode == LINK:
            return None
        return next(self.blobs([object_id]))


def _environment(settings: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, str]:
    """Return the caller's environment without what could point git elsewhere (a hook sets GIT_DIR and more).

    Args:
        settings: Configuration, passed as variables: in `-c KEY=VALUE` a key with an equals sign would be another one.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    told = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "LANGUAGE": ""}
    return {**kept, **told, **quiet, "GIT_ALLOW_PROTOCOL": "none"}
