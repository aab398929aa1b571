"""What commands delete of a sandbox's tree is there again for the next one; what they change or add is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.sandbox.process import ProcessSandbox
from bot.sandbox.restoring import Restorer

FILES = {"pkg/mod.py": "A = 1\n", "pkg/deep/er/x.txt": "x", "run.sh": "echo"}


@pytest.fixture
def full(box_of: Callable[..., ProcessSandbox]) -> ProcessSandbox:
    return box_of(FILES)


def test_a_deleted_tree_is_whole_again_for_the_next_command(full: ProcessSandbox) -> None:
    full.run(["sh", "-c", "rm -rf pkg run.sh"], timeout_s=20)

    assert full.run(["cat", "pkg/mod.py", "pkg/deep/er/x.txt"], timeout_s=20).stdout == "A = 1\nx"
    assert full.files() == tuple(sorted(FILES))


def test_a_deleted_file_that_was_written_later_comes_back_as_written(full: ProcessSandbox) -> None:
    full.write("tests/test_new.py", b"new")
    full.write("pkg/mod.py", b"changed")

    full.run(["rm", "-r", "pkg", "tests"], timeout_s=20)

    assert full.run(["cat", "tests/test_new.py", "pkg/mod.py"], timeout_s=20).stdout == "newchanged"


def test_what_is_removed_from_outside_stays_away(full: ProcessSandbox) -> None:
    full.write("pkg/new.py", b"")
    full.remove("pkg/deep")
    full.remove("pkg/new.py")

    assert full.run(["find", "pkg", "-type", "f"], timeout_s=20).stdout == "pkg/mod.py\n"


def test_changed_and_added_files_are_left_alone(full: ProcessSandbox) -> None:
    full.run(["sh", "-c", "echo B > pkg/mod.py; echo C > pkg/c.py"], timeout_s=20)

    assert full.run(["cat", "pkg/mod.py", "pkg/c.py"], timeout_s=20).stdout == "B\nC\n"


def test_nothing_is_put_back_through_a_link_that_code_has_planted(tmp_path: Path) -> None:
    origin, tree, outside = (tmp_path / name for name in ("origin", "tree", "outside"))
    for directory in (origin / "pkg", tree / "pkg", outside):
        directory.mkdir(parents=True)
    for place in (origin, tree):
        (place / "pkg/mod.py").write_text("")
    restorer = Restorer(tree)
    restorer.copied_from(origin)
    (tree / "pkg/mod.py").unlink()
    (tree / "pkg").rmdir()
    (tree / "pkg").symlink_to(outside)

    restorer.restore()

    assert list(outside.iterdir()) == []
