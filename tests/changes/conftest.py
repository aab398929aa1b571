"""A real git repository to change and to read."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot import changes
from bot.domain import Change, Request, Target
from bot.repoconfig import load


class Repo:
    """A repository at `root`, with git as a user would call it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def git(self, *arguments: str) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
        command = ["git", *who, "-c", "commit.gpgsign=false", *arguments]
        env = {**kept, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(
            command, cwd=self.root, check=True, capture_output=True, text=True, env=env
        ).stdout

    def init(self) -> Repo:
        self.git("init", "-q", "-b", "main")
        return self

    def write(self, files: Mapping[str, str | bytes]) -> Repo:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return self

    def commit(self, files: Mapping[str, str | bytes] | None = None) -> str:
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD").strip()

    def read(
        self, base: str = "HEAD", head: str | None = None, *, config: str = "", only: tuple[str, ...] = ()
    ) -> Change:
        return changes.read(Request(self.root, base=base, head=head, only=only), load(config))

    def target(self, base: str = "HEAD", head: str | None = None) -> Target:
        (target,) = self.read(base, head).targets
        return target

    def reasons(self, base: str = "HEAD", *, config: str = "", only: tuple[str, ...] = ()) -> dict[str, str]:
        return {skipped.path: skipped.reason for skipped in self.read(base, config=config, only=only).skipped}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository on branch main, without a commit."""
    return Repo(tmp_path / "repo").init()


@pytest.fixture
def bare_directory(tmp_path: Path) -> Repo:
    """A directory that is no repository."""
    return Repo(tmp_path / "plain")
