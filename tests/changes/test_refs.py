"""Refs, and what is said when git cannot answer."""

from __future__ import annotations

import pytest

from bot import changes
from bot.changes import repository
from bot.changes.repository import EMPTY_TREE, GitFailedError, Repository, find_root
from bot.domain import Request
from bot.errors import RepositoryError, UsageError
from bot.repoconfig import load

ADD = "def add(a, b):\n    return a + b\n"


def test_a_directory_that_is_no_repository_is_told(bare_directory):
    with pytest.raises(RepositoryError, match=r"is not in a git repository\. Run `git init`"):
        changes.find_root(bare_directory.root)


def test_a_path_that_does_not_exist_is_told(tmp_path):
    with pytest.raises(UsageError, match="There is no file or directory"):
        changes.find_root(tmp_path / "nothing" / "here")


def test_a_bare_repository_is_told(repo, tmp_path):
    repo.commit({"add.py": ADD})
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    with pytest.raises(RepositoryError, match="is a bare repository"):
        changes.find_root(tmp_path / "bare.git")


def test_gits_own_directory_is_told(repo):
    with pytest.raises(RepositoryError, match="inside git's own directory"):
        changes.find_root(repo.root / ".git")


def test_the_root_of_a_file_is_its_repository(repo):
    repo.commit({"pkg/add.py": ADD})
    assert changes.find_root(repo.root / "pkg" / "add.py") == repo.root


def test_a_repository_that_names_a_directory_above_it_as_its_tree_is_told(repo):
    repo.commit({"add.py": ADD})
    repo.git("config", "core.worktree", str(repo.root.parent))
    with pytest.raises(RepositoryError, match=r"Remove `core\.worktree`"):
        find_root(repo.root)


def test_a_directory_in_the_tree_that_is_laid_out_as_a_repository_is_none(repo):
    repo.git("init", "-q", "--bare", "inner")
    repo.git("-C", "inner", "config", "core.bare", "false")
    repo.git("-C", "inner", "config", "core.worktree", str(repo.root / "inner"))
    with pytest.raises(RepositoryError, match="where it does not lie"):
        find_root(repo.root / "inner")


def test_a_directory_named_like_gits_own_that_is_no_repository_is_passed_over(repo):
    repo.commit({"pkg/add.py": ADD})
    (repo.root / "pkg" / ".git").mkdir()
    assert find_root(repo.root / "pkg") == repo.root


def test_a_repository_that_names_another_as_its_tree_is_told(repo, tmp_path):
    repo.git("init", "-q", str(tmp_path))
    repo.git("config", "core.worktree", str(tmp_path))
    with pytest.raises(RepositoryError, match=r"Remove `core\.worktree`"):
        find_root(repo.root)


def test_a_missing_file_whose_name_speaks_of_promisors_is_not_taken_for_a_partial_clone(repo):
    repo.commit({"add.py": ADD})
    with pytest.raises(GitFailedError):
        Repository(repo.root).run("show", "HEAD:promisor not allowed")


def test_a_linked_worktree_is_a_root_of_its_own(repo, tmp_path):
    repo.commit({"add.py": ADD})
    repo.git("worktree", "add", "-q", str(tmp_path / "second"), "-b", "second")
    second = type(repo)(tmp_path / "second")
    second.write({"add.py": ADD.replace("a + b", "b + a")})
    assert changes.find_root(second.root) == second.root
    assert second.target().changed_lines == {2}


@pytest.mark.parametrize("ref", ["nope", "origin/main", "deadbeef"])
def test_an_unknown_ref_is_told(repo, ref):
    repo.commit({"add.py": ADD})
    with pytest.raises(RepositoryError, match=f"There is no commit, branch or tag '{ref}'"):
        repo.read(ref)
    with pytest.raises(RepositoryError, match=f"'{ref}'"):
        repo.read("HEAD", ref)


@pytest.mark.parametrize("ref", ["", "--output=/etc/passwd", "a\0b"])
def test_what_cannot_be_a_ref_never_reaches_git(repo, ref):
    repo.commit({"add.py": ADD})
    with pytest.raises(RepositoryError, match="cannot be the name"):
        repo.read(ref)


def test_a_ref_before_the_first_commit_names_the_empty_tree_as_a_way_out(repo):
    repo.commit({"add.py": ADD})
    with pytest.raises(RepositoryError, match=f"does not go back that far.*--base {EMPTY_TREE}"):
        repo.read("HEAD~1")


def test_the_empty_tree_as_base_reviews_a_first_commit(repo):
    head = repo.commit({"add.py": ADD})
    change = repo.read(EMPTY_TREE, "HEAD")
    assert (change.base, change.head) == (None, head)
    assert change.targets[0].changed_lines == {1, 2}


def test_a_repository_without_commits_is_told(repo):
    repo.write({"add.py": ADD})
    with pytest.raises(RepositoryError, match="no commits yet"):
        repo.read("HEAD")


def test_untracked_files_after_a_first_commit_are_targets(repo):
    repo.commit({"keep.txt": ""})
    repo.write({"add.py": ADD})
    assert repo.target("HEAD").path == "add.py"


def test_a_branch_that_only_the_remote_has_is_found(repo, tmp_path):
    first = repo.commit({"add.py": ADD})
    repo.git("switch", "-q", "-c", "feature")
    repo.commit({"add.py": ADD + "\n\ndef sub(a, b):\n    return a - b\n"})
    repo.git("clone", "-q", "-b", "feature", ".", str(tmp_path / "clone"))
    assert Repository(tmp_path / "clone").commit("main") == first


def test_a_shallow_clone_without_the_merge_base_says_unshallow(repo, tmp_path):
    repo.commit({"add.py": ADD})
    repo.git("switch", "-qc", "feature")
    repo.commit({"feature.py": ADD})
    repo.git("switch", "-q", "main")
    repo.commit({"main.py": ADD})
    repo.git(
        "clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo.root}", str(tmp_path / "shallow")
    )
    shallow = type(repo)(tmp_path / "shallow")
    with pytest.raises(RepositoryError, match="git fetch --unshallow"):
        shallow.read("origin/feature", "origin/main")
    with pytest.raises(RepositoryError, match="git fetch --unshallow"):
        shallow.read("HEAD~1")


def test_histories_without_a_common_commit_are_told(repo):
    repo.commit({"add.py": ADD})
    repo.git("switch", "-q", "--orphan", "island")
    repo.commit({"island.py": ADD})
    with pytest.raises(RepositoryError, match="share no history"):
        repo.read("main", "island")


def test_a_tag_names_its_commit(repo):
    first = repo.commit({"add.py": ADD})
    repo.git("tag", "-a", "v1", "-m", "one")
    repo.write({"add.py": ADD.replace("a + b", "b + a")})
    assert repo.read("v1").base == first


def test_a_review_without_a_base_is_told(repo):
    repo.commit({"add.py": ADD})
    with pytest.raises(UsageError, match="--base"):
        changes.read(Request(repo.root), load(None))


@pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", "missing.py", "."])
def test_a_whole_file_outside_or_missing_is_told(bare_directory, path):
    bare_directory.write({"../outside.py": ADD})
    with pytest.raises(UsageError, match=r"lies outside of|There is no file"):
        changes.whole_file(bare_directory.root, path, load(None))


def test_a_whole_file_that_does_not_parse_is_told(bare_directory):
    bare_directory.write({"bad.py": "x = (\n"})
    with pytest.raises(UsageError, match=r"bad\.py does not parse: line 1"):
        changes.whole_file(bare_directory.root, "bad.py", load(None))


def test_no_git_on_the_machine_is_told(repo, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RepositoryError, match="Install git"):
        changes.find_root(repo.root)


def test_a_project_without_git_is_where_its_pyproject_lies(bare_directory):
    bare_directory.write({"pyproject.toml": "", "src/pkg/add.py": ADD})
    assert changes.project_of(bare_directory.root / "src/pkg/add.py") == bare_directory.root


def test_a_package_without_a_project_belongs_to_the_directory_above_it(bare_directory):
    bare_directory.write({"pkg/__init__.py": "", "pkg/sub/__init__.py": "", "pkg/sub/add.py": ADD})
    assert changes.project_of(bare_directory.root / "pkg/sub/add.py") == bare_directory.root


def test_a_git_that_would_run_filters_is_refused(repo, tmp_path, monkeypatch):
    old = tmp_path / "git"
    old.write_text("#!/bin/sh\necho git version 2.30.2\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    repository._refuse_old_git.cache_clear()
    try:
        with pytest.raises(RepositoryError, match=r"has git 2\.30, and 2\.31 or newer is needed"):
            changes.find_root(repo.root)
    finally:
        repository._refuse_old_git.cache_clear()
