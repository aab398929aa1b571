"""The bare repositories behind the tests' GitHub, through git itself."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_IDENTITY = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "LC_ALL": "C",
}


class GitError(Exception):
    """Git refused."""


@dataclass(frozen=True)
class GitStore:
    """One bare repository."""

    directory: Path

    @classmethod
    def make(cls, directory: Path) -> GitStore:
        """Make an empty one."""
        store = cls(directory)
        directory.mkdir(parents=True)
        store.git("init", "--bare", "--quiet", "--template=", "--initial-branch=main")
        with (directory / "config").open("a") as config:
            # As GitHub: any commit can be fetched by its id.
            config.write("[uploadpack]\n\tallowAnySHA1InWant = true\n[http]\n\treceivepack = true\n")
        return store

    def git(self, *arguments: str, stdin: bytes = b"", extra: dict[str, str] | None = None) -> bytes:
        """Run git in it."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.directory,
            input=stdin,
            capture_output=True,
            env={**os.environ, **_IDENTITY, **(extra or {})},
            check=False,
        )
        if done.returncode:
            raise GitError(done.stderr.decode("utf-8", "replace").strip())
        return done.stdout

    def tip(self, branch: str) -> str | None:
        """Return the commit that a branch is at."""
        loose = self.directory / "refs/heads" / branch  # where git writes a branch that has moved
        if loose.is_file():
            return loose.read_text("utf-8").strip()
        try:
            return self.git("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}").decode().strip()
        except GitError:
            return None

    def has(self, oid: str) -> bool:
        """Whether it holds a commit."""
        try:
            return self.git("cat-file", "-t", oid).strip() == b"commit"
        except GitError:
            return False

    @cache  # noqa: B019 - a commit stays what it is, and so do the few stores of a test
    def contains(self, ancestor: str, oid: str) -> bool:
        """Whether one commit is an ancestor of another, or the same."""
        try:
            self.git("merge-base", "--is-ancestor", ancestor, oid)
        except GitError:
            return False
        return True

    @cache  # noqa: B019
    def merge_base(self, one: str, other: str) -> str:
        """Return where two histories part."""
        return self.git("merge-base", one, other).decode().strip()

    @cache  # noqa: B019
    def changed(self, base: str, head: str) -> int:
        """Return how many files differ between where two histories part and the second one's end."""
        names = self.git("diff", "--name-only", self.merge_base(base, head), head)
        return len(names.splitlines())

    @cache  # noqa: B019
    def file(self, oid: str, path: str) -> bytes | None:
        """Return a file of a commit."""
        try:
            return self.git("cat-file", "blob", f"{oid}:{path}")
        except GitError:
            return None

    def message(self, oid: str) -> str:
        """Return a commit's message."""
        return self.git("log", "-1", "--format=%B", oid).decode().strip()

    def parents(self, oid: str) -> list[str]:
        """Return a commit's parents."""
        return self.git("log", "-1", "--format=%P", oid).decode().split()

    def commit(
        self,
        branch: str,
        files: dict[str, bytes | None],
        message: str,
        *,
        onto: str | None,
        author: str,
        at: int,
    ) -> str:
        """Commit files (None: deleted) to a branch and return the commit's id; the branch moves only if it still is at `onto`."""
        return self.grow(branch, [files], message, onto=onto, author=author, at=at)

    def grow(
        self,
        branch: str,
        changes: list[dict[str, bytes | None]],
        message: str,
        *,
        onto: str | None,
        author: str = "alice",
        at: int = 1_800_000_000,
    ) -> str:
        """Make a commit of each change, one on the other, and return the last one's id."""
        stream = b""
        for number, files in enumerate(changes):
            text = message.encode()
            stream += (
                f"commit refs/heads/{branch}\n"
                f"author {author} <{author}@users.noreply.example> {at} +0000\n"
                f"committer GitHub <noreply@example> {at} +0000\n"
                f"data {len(text)}\n"
            ).encode() + text
            if number == 0 and onto:
                stream += f"\nfrom {onto}".encode()
            stream += b"\n"
            for path, content in files.items():
                if content is None:
                    stream += f"D {path}\n".encode()
                else:
                    stream += f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"
        self.git("fast-import", "--quiet", stdin=stream)
        return str(self.tip(branch))

    @cache  # noqa: B019
    def hunks(self, base: str, head: str) -> dict[str, list[tuple[range, range]]]:
        """Return the hunks of a pull request's diff by path: lines of base, and lines of head."""
        diff = self.git("diff", "-M", self.merge_base(base, head), head).decode("utf-8", "surrogateescape")
        found: dict[str, list[tuple[range, range]]] = {}
        path, old_left, new_left = "", 0, 0
        for line in diff.split("\n"):
            if old_left > 0 or new_left > 0:
                old_left -= line[:1] in (" ", "-")
                new_left -= line[:1] in (" ", "+")
                continue
            if line.startswith(("--- a/", "+++ b/")):
                path = line[6:]
            match = _HUNK.match(line)
            if match:
                old_left = int(match[2] or 1)
                new_left = int(match[4] or 1)
                old, new = int(match[1]), int(match[3])
                found.setdefault(path.rstrip("\t"), []).append(
                    (range(old, old + old_left), range(new, new + new_left))
                )
        return found
