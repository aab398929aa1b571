"""The head of a pull request on disk: the right files, enough history, nothing that runs, no token left."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from bot.changes.repository import Repository
from bot.errors import GitHubError, RepositoryError
from bot.github import pulls
from bot.github.cloning import CloneLimits, clone
from bot.github.hub import Hub
from tests.github.server import GitHub

REPOSITORY = "octo/parcels"


def test_the_head_is_checked_out_with_the_base_beside_it(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    pull = pulls.read(hub, 1)
    into = tmp_path / "clone"
    clone(hub, pull, into)
    repository = Repository(into)
    assert repository.commit("HEAD") == pull.head
    assert repository.merge_base(pull.base, pull.head) == pull.base
    assert b"ValueError" in (into / "src/quotes.py").read_bytes()


def test_histories_are_fetched_as_deep_as_they_meet(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    grow(github, "feature", 60)
    pull = pulls.read(hub, 1)
    clone(hub, pull, tmp_path / "clone")
    repository = Repository(tmp_path / "clone")
    assert repository.merge_base(pull.base, pull.head) == pull.base


def grow(github: GitHub, branch: str, commits: int) -> None:
    """Put many commits on a branch."""
    store = github.world.repositories[REPOSITORY].store
    store.grow(
        branch, [{"n.txt": b"%d" % number} for number in range(commits)], "more", onto=store.tip(branch)
    )
    github.world.synchronize()


def test_only_as_much_history_as_needed_is_fetched(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    world = github.world
    grow(github, "main", 60)
    world.push(REPOSITORY, "late", {"n.txt": b"late"})
    pull = pulls.read(hub, world.open_pull(REPOSITORY, "late").number)
    clone(hub, pull, tmp_path / "clone")
    assert Repository(tmp_path / "clone").is_shallow


def test_a_fork_is_cloned_from_the_repository_itself(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    world = github.world
    world.fork(REPOSITORY, "carol")
    world.push("carol/parcels", "idea", {"idea.py": b"x = 1\n"}, author="carol")
    pull = pulls.read(
        hub, world.open_pull(REPOSITORY, "idea", head_repo="carol/parcels", author="carol").number
    )
    world.delete_fork("carol/parcels")
    clone(hub, pull, tmp_path / "clone")
    assert (tmp_path / "clone/idea.py").read_bytes() == b"x = 1\n"
    assert not any("carol" in entry.path for entry in github.log if entry.method == "GIT")


def test_the_token_is_neither_on_disk_nor_among_arguments(
    hub: Hub, github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    _spy(tmp_path / "bin", seen, monkeypatch)
    clone(hub, pulls.read(hub, 1), tmp_path / "clone")
    arguments = seen.read_text()
    assert "fetch" in arguments
    secrets = [*github.world.tokens, "extraHeader", "x-access-token", "Basic"]
    files = [path for path in (tmp_path / "clone").rglob("*") if path.is_file()]
    for secret in secrets:
        assert secret not in arguments
        assert all(secret.encode() not in path.read_bytes() for path in files)


def test_the_token_for_a_clone_may_only_read(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    clone(hub, pulls.read(hub, 1), tmp_path / "clone")
    assert {"contents": "read", "metadata": "read"} in [
        minted["permissions"] for minted in github.world.minted
    ]


def _spy(directory: Path, seen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a git before the real one that writes down what it is called with."""
    directory.mkdir()
    real = subprocess.run(
        ["sh", "-c", "command -v git"], capture_output=True, text=True, check=True
    ).stdout.strip()
    (directory / "git").write_text(f'#!/bin/sh\necho "$@" >> "{seen}"\nexec {real} "$@"\n')
    (directory / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")


def test_nothing_of_the_repository_or_the_machine_runs(
    hub: Hub, github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "hooks").mkdir(parents=True)
    owned = tmp_path / "owned"
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (home / "hooks" / name).write_text(f"#!/bin/sh\ntouch {owned}\n")
        (home / "hooks" / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        f'[core]\n hooksPath = {home}/hooks\n fsmonitor = touch {owned}\n[filter "evil"]\n smudge = touch {owned}; cat\n'
        f"[credential]\n helper = !touch {owned}\n[init]\n templateDir = {home}\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    files: dict[str, bytes | None] = {
        ".gitattributes": b"*.py filter=evil\n*.bin filter=lfs diff=lfs merge=lfs -text\n",
        ".gitmodules": b'[submodule "x"]\n path = x\n url = http://127.0.0.1:9/x.git\n',
        ".lfsconfig": b"[lfs]\n url = http://127.0.0.1:9/\n",
        "big.bin": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    }
    github.world.push(REPOSITORY, "feature", files)
    clone(hub, pulls.read(hub, 1), tmp_path / "clone")
    assert not owned.exists()
    assert (tmp_path / "clone/big.bin").read_bytes() == files["big.bin"]
    assert not list((tmp_path / "clone/.git").rglob("hooks/*"))
    config = (tmp_path / "clone/.git/config").read_text()
    assert "remote" not in config


def test_links_stay_links_and_modes_stay_plain(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    store = github.world.repositories[REPOSITORY].store
    blob = store.git("hash-object", "-w", "--stdin", stdin=b"/etc/passwd").decode().strip()
    tip = str(store.tip("feature"))
    extra = {"GIT_INDEX_FILE": str(tmp_path / "index")}
    store.git("read-tree", tip, extra=extra)
    store.git("update-index", "--add", "--cacheinfo", f"120000,{blob},link", extra=extra)
    tree = store.git("write-tree", extra=extra).decode().strip()
    identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    oid = store.git("commit-tree", tree, "-p", tip, stdin=b"link", extra=identity).decode().strip()
    store.git("update-ref", "refs/heads/feature", oid)
    github.world.synchronize()
    clone(hub, pulls.read(hub, 1), tmp_path / "clone")
    assert stat.S_ISLNK((tmp_path / "clone/link").lstat().st_mode)


def test_a_head_that_was_pushed_over_is_said_plainly(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    pull = pulls.read(hub, 1)
    gone = pulls.Pull.from_json({**pull.as_json(), "head": "1" * 40})
    with pytest.raises(RepositoryError, match="pushed over meanwhile"):
        clone(hub, gone, tmp_path / "clone")


def test_a_head_whose_branch_was_renamed_is_cloned_by_its_commit(
    hub: Hub, github: GitHub, tmp_path: Path
) -> None:
    pull = pulls.read(hub, 1)
    store = github.world.repositories[REPOSITORY].store
    store.git("update-ref", "refs/heads/renamed", pull.head)
    store.git("update-ref", "-d", f"refs/heads/{pull.head_ref}")
    clone(hub, pull, tmp_path / "clone")
    assert Repository(tmp_path / "clone").commit("HEAD") == pull.head


def test_a_repository_without_shared_history_is_said_plainly(
    hub: Hub, github: GitHub, tmp_path: Path
) -> None:
    store = github.world.repositories[REPOSITORY].store
    lonely = store.commit("lonely", {"a.py": b"a = 1\n"}, "alone", onto=None, author="alice", at=1)
    pull = pulls.read(hub, 1)
    with pytest.raises(RepositoryError, match="share no history"):
        clone(hub, pulls.Pull.from_json({**pull.as_json(), "head": lonely}), tmp_path / "clone")


def test_a_pack_that_is_too_large_is_refused(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    github.world.push(REPOSITORY, "feature", {"noise.bin": os.urandom(400_000)})
    with pytest.raises(RepositoryError, match="not cloned"):
        clone(hub, pulls.read(hub, 1), tmp_path / "clone", limits=CloneLimits(pack_bytes=200_000))


def test_a_small_pack_of_large_files_is_refused_before_it_is_unpacked(
    hub: Hub, github: GitHub, tmp_path: Path
) -> None:
    github.world.push(REPOSITORY, "feature", {"zeros.bin": bytes(3_000_000)})
    with pytest.raises(RepositoryError, match="more than this server checks out"):
        clone(hub, pulls.read(hub, 1), tmp_path / "clone", limits=CloneLimits(tree_bytes=1_000_000))
    assert not (tmp_path / "clone/zeros.bin").exists()


def test_a_token_that_was_revoked_meanwhile_is_renewed(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    pull = pulls.read(hub, 1)
    hub.token({"contents": "read"})
    github.world.revoke_tokens()
    clone(hub, pull, tmp_path / "clone")
    assert (tmp_path / "clone/src/quotes.py").exists()


def test_a_repository_that_may_not_be_read_is_said_plainly(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    pull = pulls.read(hub, 1)
    renamed = pulls.Pull.from_json({**pull.as_json(), "repository": "octo/other"})
    with pytest.raises(GitHubError, match="does not let the App read octo/other"):
        clone(hub, renamed, tmp_path / "clone")


def test_a_broken_connection_is_tried_again(hub: Hub, github: GitHub, tmp_path: Path) -> None:
    pull = pulls.read(hub, 1)
    github.faults.add("502", "POST", "git-upload-pack")
    clone(hub, pull, tmp_path / "clone")
    assert (tmp_path / "clone/src/quotes.py").exists()


def test_git_is_told_no_secret_of_the_operator(
    hub: Hub, github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    (tmp_path / "bin").mkdir()
    real = subprocess.run(
        ["sh", "-c", "command -v git"], capture_output=True, text=True, check=True
    ).stdout.strip()
    (tmp_path / "bin/git").write_text(
        f'#!/bin/sh\n[ -n "$GIT_CONFIG_COUNT" ] && env >> "{seen}"\nexec {real} "$@"\n'
    )
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2")
    monkeypatch.setenv("TESTFORGE_PRIVATE_KEY", "hunter2")
    monkeypatch.setenv("https_proxy", "")
    clone(hub, pulls.read(hub, 1), tmp_path / "clone")
    assert "GIT_CONFIG_COUNT" in seen.read_text()
    assert "hunter2" not in seen.read_text()
