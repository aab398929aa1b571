"""Where comments on a pull request can stand: git's own hunks, at head."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from bot.deliver.anchors import Anchor, Anchors, anchors
from tests.github.server.gitstore import GitStore


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(root: Path, **files: bytes | None) -> str:
    for name, content in files.items():
        path = root / f"{name}.py"
        path.unlink(missing_ok=True) if content is None else path.write_bytes(content)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


def lines(*numbers: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in numbers)


def test_a_hunk_holds_its_changed_lines_and_three_around_them(root: Path) -> None:
    base = commit(root, a=lines(*range(1, 31)))
    head = commit(root, a=lines(*range(1, 15), 99, *range(16, 31)))
    assert anchors(root, base, head).hunks == {"a.py": (range(12, 19),)}


def test_lines_of_two_hunks_are_no_anchor(root: Path) -> None:
    base = commit(root, a=lines(*range(1, 41)))
    head = commit(root, a=lines(99, *range(2, 40), 98))
    found = anchors(root, base, head)
    assert found.at("a.py", 1, 4) == Anchor("a.py", 1, 4)
    assert found.at("a.py", 4, 37) is None
    assert found.at("a.py", 5, 5) is None
    assert found.at("b.py", 1, 1) is None


def test_a_renamed_file_has_the_hunks_of_its_change(root: Path) -> None:
    base = commit(root, old=lines(*range(1, 31)))
    head = commit(root, old=None, new=lines(*range(1, 30), 99))
    assert anchors(root, base, head).hunks == {"new.py": (range(27, 31),)}


def test_what_base_gained_meanwhile_is_no_part_of_the_pull_request(root: Path) -> None:
    start = commit(root, a=lines(*range(1, 31)))
    base = commit(root, a=lines(*range(1, 31), 31), b=lines(1))
    git(root, "checkout", "-q", "--detach", start)
    head = commit(root, a=lines(0, *range(1, 31)))
    assert anchors(root, base, head).hunks == {"a.py": (range(1, 5),)}


def test_lines_that_look_like_headers_are_lines(root: Path) -> None:
    base = commit(root, a=b"one\n-- x\ntwo\n")
    head = commit(root, a=b"one\n++ b/evil.py\n@@ -1,1 +500,9 @@\ntwo\n")
    assert anchors(root, base, head).hunks == {"a.py": (range(1, 5),)}


def test_a_deleted_file_and_a_binary_one_have_none(root: Path) -> None:
    base = commit(root, a=lines(1), b=b"\x00\x01")
    head = commit(root, a=None, b=b"\x00\x02", c=lines(7))
    assert anchors(root, base, head).hunks == {"c.py": (range(1, 2),)}


def test_configuration_of_the_clone_runs_no_program(root: Path) -> None:
    base = commit(root, a=lines(1))
    head = commit(root, a=lines(2))
    git(root, "config", "diff.external", "touch owned")
    (root / ".gitattributes").write_text("*.py diff=evil\n")
    git(root, "config", "diff.evil.textconv", "touch owned")
    assert anchors(root, base, head).hunks == {"a.py": (range(1, 2),)}
    assert not (root / "owned").exists()


def test_without_a_line_there_is_no_anchor() -> None:
    assert Anchors({"a.py": (range(1, 9),)}).at("a.py", 4, 3) is None


_LINE = st.sampled_from(
    ["a", "b", "", "++ b/x.py", "-- a/x.py", "@@ -1,1 +9,9 @@", "diff --git a/y b/y", "\\ No newline"]
)


@settings(max_examples=25)
@given(
    before=st.lists(_LINE, min_size=1, max_size=30),
    cuts=st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 3), st.lists(_LINE, max_size=3)), min_size=1, max_size=4
    ),
    ends=st.booleans(),
)
def test_anchors_are_the_lines_that_github_takes(
    before: list[str], cuts: list[tuple[int, int, list[str]]], ends: bool
) -> None:
    after = list(before)
    for at, gone, new in cuts:
        after[at : at + gone] = new
    with tempfile.TemporaryDirectory() as name:
        store = GitStore.make(Path(name) / "x.git")
        base = store.grow("main", [{"x.py": "\n".join([*before, ""]).encode()}], "base", onto=None)
        text = "\n".join(after) + ("\n" if ends else "")
        head = store.grow("head", [{"x.py": text.encode()}], "head", onto=base)
        taken = {line for _, new in store.hunks(base, head).get("x.py", []) for line in new}
        offered = {
            line for hunk in anchors(store.directory, base, head).hunks.get("x.py", ()) for line in hunk
        }
    assert offered == taken
