"""Which files changed, between which commits, and what of them becomes a target."""

from __future__ import annotations

import pytest

from bot import changes
from bot.domain import Request, ranges
from bot.errors import RepositoryError
from bot.repoconfig import load

ADD = "def add(a, b):\n    return a + b\n"
LONG = "".join(f"def f{n}(a):\n    return a + {n}\n\n\n" for n in range(12))


def test_an_added_file_is_a_target_with_every_line(repo):
    repo.commit({"a.txt": ""})
    repo.commit({"pkg/__init__.py": "", "pkg/add.py": ADD})
    target = repo.target("HEAD~1", "HEAD")
    assert (target.path, target.module, target.changed_lines) == ("pkg/add.py", "pkg.add", {1, 2})
    assert target.base_source is None
    assert target.base_path is None


def test_a_modified_line_is_a_changed_line(repo):
    repo.commit({"add.py": ADD})
    repo.write({"add.py": ADD.replace("a + b", "b + a")})
    target = repo.target()
    assert target.changed_lines == {2}
    assert [function.qualname for function in target.functions] == ["add"]
    assert (target.base_source, target.base_path) == (ADD, "add.py")


def test_staged_unstaged_and_untracked_changes_count_together(repo):
    repo.commit({"add.py": ADD})
    repo.write({"add.py": ADD + "\nSTAGED = 1\n"}).git("add", "add.py")
    repo.write({"add.py": ADD + "\nSTAGED = 1\nUNSTAGED = 2\n", "new.py": ADD})
    found = {target.path: ranges(target.changed_lines) for target in repo.read().targets}
    assert found == {"add.py": [(3, 5)], "new.py": [(1, 2)]}


def test_ignored_files_are_no_change(repo):
    repo.commit({".gitignore": "made.py\n"})
    repo.write({"made.py": ADD})
    assert repo.read().targets == ()


def test_only_the_commits_between_merge_base_and_head_count(repo):
    repo.commit({"add.py": ADD})
    repo.git("switch", "-qc", "feature")
    repo.commit({"feature.py": ADD})
    repo.git("switch", "-q", "main")
    repo.commit({"main_only.py": ADD})
    change = repo.read("main", "feature")
    assert [target.path for target in change.targets] == ["feature.py"]
    assert change.base == repo.git("merge-base", "main", "feature").strip()


def test_the_working_tree_is_compared_with_the_merge_base_too(repo):
    repo.commit({"add.py": ADD})
    repo.git("switch", "-qc", "feature")
    repo.commit({"feature.py": ADD})
    repo.git("switch", "-q", "main")
    repo.commit({"main_only.py": ADD})
    repo.git("switch", "-q", "feature")
    repo.write({"loose.py": ADD})
    change = repo.read("main")
    assert [target.path for target in change.targets] == ["feature.py", "loose.py"]
    assert change.head is None


def test_a_renamed_file_keeps_its_changed_lines(repo):
    repo.commit({"old.py": LONG})
    repo.git("mv", "old.py", "new.py")
    repo.commit({"new.py": LONG.replace("a + 5\n", "a - 5\n")})
    target = repo.target("HEAD~1", "HEAD")
    assert (target.path, target.base_path) == ("new.py", "old.py")
    assert target.changed_lines == {22}


def test_a_rename_that_git_has_not_been_told_of_keeps_its_changed_lines(repo):
    repo.commit({"old.py": LONG})
    (repo.root / "old.py").unlink()
    repo.write({"new.py": LONG.replace("a + 5\n", "a - 5\n")})
    target = repo.target()
    assert (target.path, target.base_path, target.changed_lines) == ("new.py", "old.py", {22})


def test_a_pure_rename_changes_no_line(repo):
    repo.commit({"old.py": LONG})
    repo.git("mv", "old.py", "new.py")
    assert repo.reasons() == {"new.py": "changes no line"}


def test_an_unlike_untracked_file_is_not_taken_for_a_rename(repo):
    repo.commit({"old.py": LONG})
    (repo.root / "old.py").unlink()
    repo.write({"new.py": ADD})
    assert repo.target().base_path is None
    assert repo.reasons() == {"old.py": "was deleted"}


def test_a_copy_is_a_new_file(repo):
    repo.commit({"one.py": LONG})
    repo.write({"two.py": LONG}).git("add", "two.py")
    target = repo.target()
    assert target.base_source is None
    assert len(target.changed_lines) == LONG.count("\n")


def test_a_deleted_file_is_skipped(repo):
    repo.commit({"add.py": ADD})
    repo.git("rm", "-q", "add.py")
    assert repo.reasons() == {"add.py": "was deleted"}


def test_a_file_removed_from_the_index_only_is_still_compared_with_its_base(repo):
    repo.commit({"add.py": ADD})
    repo.git("rm", "-q", "--cached", "add.py")
    repo.write({"add.py": ADD + LONG})  # too unlike to be taken for a rename
    target = repo.target()
    assert (target.base_source, min(target.changed_lines)) == (ADD, 3)


def test_files_in_conflict_are_read_once(repo):
    repo.commit({"add.py": ADD})
    repo.git("switch", "-qc", "other")
    repo.commit({"add.py": ADD.replace("a + b", "a - b")})
    repo.git("switch", "-q", "main")
    repo.commit({"add.py": ADD.replace("a + b", "a * b")})
    with pytest.raises(Exception, match="git"):
        repo.git("merge", "other")
    assert list(repo.reasons()) == ["add.py"]
    assert repo.reasons()["add.py"].startswith("does not parse: line 2")


@pytest.mark.parametrize(
    "name", ["ünïcode.py", "with space.py", "new\nline.py", 'quo"te.py', "tab\t.py", "-dash.py", ":colon.py"]
)
def test_odd_paths_are_read(repo, name):
    repo.commit({"keep.txt": "", name: ADD})
    repo.write({name: ADD.replace("a + b", "b + a")})
    assert (repo.target().path, repo.target().changed_lines) == (name, {2})
    repo.commit()
    assert repo.target("HEAD~1", "HEAD").path == name


def test_a_path_that_is_not_utf8_is_read(repo):
    repo.commit({"keep.txt": ""})
    name = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    repo.write({name: ADD})
    assert repo.target().path == name


def test_a_symbolic_link_is_skipped(repo):
    repo.commit({"add.py": ADD})
    (repo.root / "link.py").symlink_to("add.py")
    assert repo.reasons() == {"link.py": "is a symbolic link"}
    repo.commit()
    assert changes.read(Request(repo.root, base="HEAD~1", head="HEAD"), load(None)).targets == ()


def test_a_submodule_is_no_target(repo, tmp_path):
    inner = type(repo)(tmp_path / "inner").init()
    inner.commit({"inner.py": ADD})
    repo.commit({"add.py": ADD})
    repo.git("submodule", "--quiet", "add", str(inner.root), "dep.py")
    (repo.root / "dep.py" / "inner.py").write_text("def broken(:")
    change = repo.read()
    assert (change.targets, change.skipped) == ((), ())
    repo.commit()
    change = repo.read("HEAD~1", "HEAD")
    assert (change.targets, change.skipped) == ((), ())


def test_a_repository_inside_is_no_change(repo):
    repo.commit({"add.py": ADD})
    type(repo)(repo.root / "inner").init().commit({"inner.py": ADD})
    assert repo.read().targets == ()


def test_other_files_than_python_are_ignored(repo):
    repo.commit({"a.md": "", "b.pyi": "", "c.txt": ""})
    repo.write({"a.md": "x", "b.pyi": "x: int", "c.txt": "x"})
    change = repo.read()
    assert (change.targets, change.skipped) == ((), ())


def test_a_detached_head_is_read_like_a_branch(repo):
    repo.commit({"add.py": ADD})
    repo.git("checkout", "-q", "--detach")
    repo.write({"add.py": ADD.replace("a + b", "b + a")})
    assert repo.target("main").changed_lines == {2}


def test_a_subdirectory_stands_for_its_repository(repo):
    repo.commit({"pkg/add.py": ADD, "top.py": ADD})
    repo.write({"top.py": ADD.replace("a + b", "b + a")})
    change = changes.read(Request(repo.root / "pkg", base="HEAD"), load(None))
    assert (change.root, [target.path for target in change.targets]) == (repo.root, ["top.py"])


def test_line_ends_alone_are_no_change(repo):
    repo.commit({"add.py": ADD})
    repo.write({"add.py": ADD.replace("\n", "\r\n")})
    assert repo.reasons() == {"add.py": "changes no line"}


def test_a_crlf_file_keeps_its_line_numbers(repo):
    repo.commit({"add.py": (ADD + ADD).replace("\n", "\r\n")})
    changed = (ADD + ADD.replace("a + b", "b + a")).replace("\n", "\r\n")
    repo.write({"add.py": changed})
    target = repo.target()
    assert target.changed_lines == {4}
    assert target.source == changed


def test_a_file_in_a_declared_encoding_is_decoded(repo):
    text = "# -*- coding: latin-1 -*-\nNAME = 'é'\n"
    repo.commit({"name.py": text.encode("latin-1")})
    repo.write({"name.py": text.replace("'é'", "'è'").encode("latin-1")})
    target = repo.target()
    assert (target.changed_lines, target.base_source) == ({2}, text)
    assert "è" in target.source


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"x = '\xe9'\n", "cannot be decoded"),
        (b"# coding: klingon\nx = 1\n", "cannot be decoded: unknown encoding: klingon"),
        (b"# coding: rot13\nx = 1\n", "cannot be decoded: 'rot13' is not a text encoding"),
        (b"# coding: undefined\nx = 1\n", "cannot be decoded"),
        (b"\x00\x01\x02", "is binary"),
        (b"x = 1\n\ndef f(:\n", "does not parse: line 3: invalid syntax"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "cannot be decoded: encoding problem: utf-8"),
    ],
)
def test_a_file_that_is_no_readable_python_is_skipped_with_the_reason(repo, content, reason):
    repo.commit({"keep.txt": ""})
    repo.write({"odd.py": content})
    assert repo.reasons()["odd.py"].startswith(reason)


def test_a_file_whose_base_did_not_parse_counts_by_its_lines(repo):
    repo.commit({"add.py": "def add(a, b:\n    return a + b\n"})
    repo.write({"add.py": ADD})
    assert repo.target().changed_lines == {1}


def test_config_limits_the_files(repo):
    repo.commit({"keep.txt": ""})
    repo.write({"src/a.py": ADD, "src/b_gen.py": ADD, "other/c.py": ADD})
    config = "paths:\n  include: ['src/']\n  exclude: ['*_gen.py']\n"
    assert [target.path for target in repo.read(config=config).targets] == ["src/a.py"]
    assert repo.reasons(config=config) == {
        "other/c.py": "is not in the configuration's `paths.include`",
        "src/b_gen.py": "is in the configuration's `paths.exclude`",
    }


def test_only_limits_the_files(repo):
    repo.commit({"keep.txt": ""})
    repo.write({"src/a.py": ADD, "src2/b.py": ADD})
    assert [target.path for target in repo.read(only=("src",)).targets] == ["src/a.py"]
    assert [target.path for target in repo.read(only=("./src2/b.py",)).targets] == ["src2/b.py"]
    assert repo.reasons(only=("src",)) == {"src2/b.py": "is not among the paths asked for"}


def test_a_whole_file_is_a_target_without_git(bare_directory):
    bare_directory.write({"src/pkg/__init__.py": "", "src/pkg/add.py": ADD})
    target = changes.whole_file(bare_directory.root, "src/pkg/add.py", load(None))
    assert (target.module, target.changed_lines, target.whole_file) == ("pkg.add", {1, 2}, True)
    assert [function.qualname for function in target.functions] == ["add"]


def test_the_configuration_is_the_one_of_the_base_commit(repo):
    repo.commit({".github/testforge.yml": "max_iterations: 3\n"})
    repo.write({".github/testforge.yml": "max_iterations: 4\n"})
    assert changes.configuration(repo.root, "HEAD") == "max_iterations: 3\n"
    assert changes.configuration(repo.root, None) == "max_iterations: 4\n"


def test_no_configuration_is_none(repo):
    repo.commit({"a.txt": ""})
    assert changes.configuration(repo.root, "HEAD") is None
    assert changes.configuration(repo.root, None) is None


def test_a_configuration_behind_a_link_is_not_followed(repo):
    repo.write({"elsewhere.yml": "max_iterations: 3\n", ".github/x": ""})
    (repo.root / ".github/testforge.yml").symlink_to("../elsewhere.yml")
    repo.commit()
    assert changes.configuration(repo.root, "HEAD") is None


def test_reading_writes_nothing_into_the_repository(repo):
    repo.commit({"add.py": ADD, "old.py": LONG})
    repo.write({"add.py": ADD + "X = 1\n", "new.py": LONG})
    (repo.root / "old.py").unlink()
    before = {path: path.stat().st_mtime_ns for path in repo.root.rglob("*")}
    repo.read()
    assert {path: path.stat().st_mtime_ns for path in repo.root.rglob("*")} == before


def test_programs_that_the_configuration_names_are_not_run(repo, tmp_path):
    repo.commit({"add.py": ADD, ".gitattributes": "*.py filter=evil diff=evil\n"})
    ran = tmp_path / "ran"
    for key in (
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.external",
        "core.fsmonitor",
    ):
        repo.git("config", key, f"touch {ran}; cat")
    repo.git("config", "filter.evil.required", "true")
    repo.write({"add.py": ADD.replace("a + b", "b + a")})
    assert repo.target().changed_lines == {2}
    assert not ran.exists()


@pytest.mark.parametrize("name", ["a=b", "a.b", "clean=", "A b"])
def test_a_filter_whose_name_looks_like_a_setting_is_not_run(repo, tmp_path, name):
    repo.commit({"add.py": ADD, ".gitattributes": f'"*.py" filter={name}\n'})
    ran = tmp_path / "ran"
    repo.git("config", f"filter.{name}.clean", f"touch {ran}; cat")
    repo.write({"add.py": ADD.replace("a + b", "b + a")})
    assert repo.target().changed_lines == {2}
    assert not ran.exists()


def test_a_missing_object_is_told_and_not_fetched(repo, tmp_path):
    repo.commit({"add.py": ADD})
    missing = repo.git("rev-parse", "HEAD:add.py").strip()
    repo.write({"add.py": ADD.replace("a + b", "b + a")})
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    for key, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", str(repo.root)),
        ("remote.origin.uploadpack", str(program)),
    ):
        repo.git("config", key, value)
    (repo.root / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    with pytest.raises(RepositoryError, match="is missing from this repository"):
        repo.read()
    assert not ran.exists()


def test_variables_that_point_git_elsewhere_are_not_obeyed(repo, tmp_path, monkeypatch):
    repo.commit({"add.py": ADD})
    repo.write({"add.py": ADD.replace("a + b", "b + a")})
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    assert repo.target().changed_lines == {2}
