"""Patches that real git applies, and writing into a working tree."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_report import run_report, target_report

from bot.deliver import patch
from bot.domain import Judgement, RunReport, Suite
from bot.errors import UsageError


def git(root: Path, *arguments: str, stdin: str = "") -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(root), *who, *arguments]
    done = subprocess.run(
        command, input=stdin.encode("utf-8", "surrogateescape"), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


@pytest.fixture
def root(tmp_path):
    directory = tmp_path / "repo"
    directory.mkdir()
    git(directory, "init", "-q")
    return directory


def proposing(*suites: Suite, head: str | None = None) -> RunReport:
    ledger = (Judgement("tests/test_a.py::test_a", None),)
    return run_report(head=head, targets=tuple(target_report(suite=suite, ledger=ledger) for suite in suites))


def applied(root: Path, report: RunReport) -> None:
    """Apply the patch of a report with git."""
    git(root, "apply", "--whitespace=nowarn", "-", stdin=patch.build(report, root))


def test_a_new_file_is_created_by_the_patch(root):
    report = proposing(Suite("tests/test_a.py", "def test_a():\n    assert 1\n"))
    text = patch.build(report, root)
    assert text.startswith("diff --git a/tests/test_a.py b/tests/test_a.py\nnew file mode 100644\n")
    applied(root, report)
    assert (root / "tests/test_a.py").read_text() == "def test_a():\n    assert 1\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1\n", "a = 1\nb = 2\n"),
        ("a = 1\r\nb = 2\r\n", "a = 1\r\nb = 3\r\n"),
        ("a = 1", "a = 1\nb = 2\n"),
        ("a = 1\n", "a = 1\nb = 2"),
        ("a = 1", "b = 2"),
        ("", "a = 1\n"),
        ("a = 1  \n\t\n", "a = 1  \n\t\n\x0c\n"),
        ("é = 'ü'\n", "é = 'ö'\n"),
        ("--- a\n+++ b\n", "--- a\n+++ c\n"),
    ],
)
def test_a_changed_file_is_changed_by_the_patch(root, before, after):
    path = root / "test_a.py"
    path.write_bytes(before.encode())
    applied(root, proposing(Suite("test_a.py", after, is_new=False)))
    assert path.read_bytes() == after.encode()


@pytest.mark.parametrize(
    "path",
    [
        "tests/with space/test_a b.py",
        "tests/ünï/test_ü.py",
        'tests/test_"q".py',
        "tests/test_\t.py",
        "tests/test_\n.py",
        "tests/test_\\.py",
    ],
)
def test_odd_paths_are_quoted(root, path):
    applied(root, proposing(Suite(path, "x = 1\n")))
    assert (root / path).read_text() == "x = 1\n"


def test_several_files_are_one_patch(root):
    (root / "test_b.py").write_text("b = 1\n")
    applied(root, proposing(Suite("test_b.py", "b = 2\n", False), Suite("test_a.py", "a = 1\n")))
    assert ((root / "test_a.py").read_text(), (root / "test_b.py").read_text()) == ("a = 1\n", "b = 2\n")


def test_an_executable_test_file_stays_executable(root):
    (root / "test_a.py").write_text("a = 1\n")
    (root / "test_a.py").chmod(0o755)
    applied(root, proposing(Suite("test_a.py", "a = 2\n", False)))
    assert os.access(root / "test_a.py", os.X_OK)


def test_the_patch_starts_from_the_commit_that_was_reviewed(root):
    (root / "test_a.py").write_text("a = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    head = git(root, "rev-parse", "HEAD")
    (root / "test_a.py").write_text("something else\n")
    report = proposing(Suite("test_a.py", "a = 1\nb = 2\n", False), head=head)
    text = patch.build(report, root)
    git(root, "checkout", "-q", "test_a.py")
    git(root, "apply", "-", stdin=text)
    assert (root / "test_a.py").read_text() == "a = 1\nb = 2\n"


def test_the_users_git_configuration_does_not_change_the_patch(root, monkeypatch, tmp_path):
    (root / "test_a.py").write_text("a = 1\n")
    report = proposing(Suite("test_a.py", "a = 2\n", False))
    plain = patch.build(report, root)
    (tmp_path / ".gitconfig").write_text(
        "[diff]\n noprefix = true\n mnemonicPrefix = true\n external = false\n context = 0\n"
        "[color]\n ui = always\n[core]\n autocrlf = true\n[init]\n defaultBranch = x\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    assert patch.build(report, root) == plain


def test_without_a_suite_the_patch_is_empty(root):
    assert patch.build(run_report(targets=(target_report(suite=None, ledger=()),)), root) == ""


def test_a_patch_is_made_without_git_around(tmp_path):
    assert "new file" in patch.build(proposing(Suite("test_a.py", "a = 1\n")), tmp_path)


TEXTS = st.text(st.sampled_from("ab \t\r\n+-@é\\\f"), max_size=30)


@settings(max_examples=25, deadline=None)
@given(st.none() | TEXTS, TEXTS)
def test_any_text_goes_through_the_patch_unchanged(tmp_path_factory, before, after):
    root = tmp_path_factory.mktemp("any")
    path = root / "test_a.py"
    if before is not None:
        path.write_bytes(before.encode())
    text = patch.build(proposing(Suite("test_a.py", after, before is None)), root)
    if (None if before is None else before.encode()) != after.encode():
        git(root, "apply", "--whitespace=nowarn", "-", stdin=text)
    assert path.read_bytes() == after.encode()


# ---------------------------------------------------------------- apply


def test_apply_writes_the_files_and_names_them(root):
    (root / "test_b.py").write_text("b = 1\n")
    report = proposing(Suite("test_b.py", "b = 2\n", False), Suite("tests/new/test_a.py", "a = 1\r\n"))
    assert patch.apply(report, root) == ("test_b.py", "tests/new/test_a.py")
    assert (root / "test_b.py").read_bytes() == b"b = 2\n"
    assert (root / "tests/new/test_a.py").read_bytes() == b"a = 1\r\n"
    assert sorted(path.name for path in root.rglob("*test_*")) == ["test_a.py", "test_b.py"]


def test_apply_keeps_the_permissions(root):
    (root / "test_b.py").write_text("b = 1\n")
    (root / "test_b.py").chmod(0o750)
    patch.apply(proposing(Suite("test_b.py", "b = 2\n", False)), root)
    assert (root / "test_b.py").stat().st_mode & 0o777 == 0o750


def test_apply_gives_new_files_the_usual_permissions(root):
    (root / "usual").write_text("")
    patch.apply(proposing(Suite("test_a.py", "a = 1\n")), root)
    assert (root / "test_a.py").stat().st_mode == (root / "usual").stat().st_mode


@pytest.mark.parametrize(
    "path",
    ["../test_a.py", "/tmp/test_a.py", "tests/../../test_a.py", ".git/hooks/test_a.py", "tests//test_a.py"],
)
def test_paths_outside_are_refused(root, path):
    with pytest.raises(UsageError, match="is no path inside"):
        patch.apply(proposing(Suite(path, "x = 1\n")), root)
    with pytest.raises(UsageError, match="is no path inside"):
        patch.build(proposing(Suite(path, "x = 1\n")), root)


@pytest.mark.parametrize("path", ["src/pkg/mod.py", "setup.py", ".github/workflows/ci.yml"])
def test_files_that_are_no_tests_are_refused(root, path):
    with pytest.raises(UsageError, match="is no test file"):
        patch.apply(proposing(Suite(path, "x = 1\n")), root)


def test_tests_may_be_named_as_the_repository_names_them(root):
    suite = Suite("checks/check_mod.py", "def test_add():\n    assert 1 + 1 == 2\n")
    assert patch.apply(proposing(suite), root) == ("checks/check_mod.py",)


def test_the_file_under_test_is_refused_whatever_it_holds(root):
    suite = Suite("src/parcel/quotes.py", "def test_add():\n    assert 1 + 1 == 2\n")
    with pytest.raises(UsageError, match="is no test file"):
        patch.apply(proposing(suite), root)


def test_links_are_not_followed(root, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/test_a.py").write_text("kept\n")
    (root / "tests").symlink_to(tmp_path / "outside")
    (root / "test_link.py").symlink_to(tmp_path / "outside/test_a.py")
    for path in ("tests/test_a.py", "tests/test_new.py", "test_link.py"):
        with pytest.raises(UsageError, match="symbolic link"):
            patch.apply(proposing(Suite(path, "x = 1\n", False)), root)
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["test_a.py"]
    assert (tmp_path / "outside/test_a.py").read_text() == "kept\n"


def test_a_file_that_appeared_meanwhile_is_not_overwritten(root):
    (root / "test_a.py").write_text("mine\n")
    with pytest.raises(UsageError, match="exists by now"):
        patch.apply(proposing(Suite("test_a.py", "x = 1\n")), root)
    assert (root / "test_a.py").read_text() == "mine\n"


def test_a_file_that_differs_from_the_reviewed_commit_is_not_overwritten(root):
    (root / "test_a.py").write_text("a = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    report = proposing(Suite("test_a.py", "a = 2\n", False), head=git(root, "rev-parse", "HEAD"))
    (root / "test_a.py").write_text("mine\n")
    with pytest.raises(UsageError, match="differs in the working tree"):
        patch.apply(report, root)
    (root / "test_a.py").write_text("a = 1\n")
    assert patch.apply(report, root) == ("test_a.py",)


def test_either_all_files_are_written_or_none(root):
    (root / "test_b.py").mkdir()
    with pytest.raises(UsageError, match="is not a file"):
        patch.apply(proposing(Suite("test_a.py", "a = 1\n"), Suite("test_b.py", "b = 1\n")), root)
    assert [path.name for path in root.iterdir() if path.name != ".git"] == ["test_b.py"]


def test_a_declared_encoding_and_a_byte_order_mark_are_kept(root):
    (root / "test_a.py").write_bytes(b"\xef\xbb\xbfa = 1\n")
    (root / "test_b.py").write_bytes("# coding: latin-1\nb = 'é'\n".encode("latin-1"))
    report = proposing(
        Suite("test_a.py", "a = 2\n", False), Suite("test_b.py", "# coding: latin-1\nb = 'è'\n", False)
    )
    patch.apply(report, root)
    assert (root / "test_a.py").read_bytes() == b"\xef\xbb\xbfa = 2\n"
    assert (root / "test_b.py").read_bytes() == "# coding: latin-1\nb = 'è'\n".encode("latin-1")
