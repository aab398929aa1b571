"""Files of a sandbox reached from outside, whatever links the code inside has planted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import SandboxError
from bot.sandbox.process import ProcessSandbox

Opener = Callable[..., ProcessSandbox]


def plant(box: ProcessSandbox, *commands: str) -> None:
    done = box.run(["sh", "-c", " && ".join(commands)], timeout_s=20)
    assert done.exit_code == 0, done.stderr


def test_what_is_written_is_read(box: ProcessSandbox) -> None:
    box.write("tests/unit/test_a.py", b"assert True\n")

    assert box.read("tests/unit/test_a.py") == b"assert True\n"
    assert box.run(["cat", "tests/unit/test_a.py"], timeout_s=20).stdout == "assert True\n"


def test_writing_again_replaces_everything(box: ProcessSandbox) -> None:
    box.write("a.py", b"a much longer text")
    box.write("a.py", b"short")

    assert box.read("a.py") == b"short"


def test_absolute_paths_below_tree_and_scratch_are_understood(box: ProcessSandbox) -> None:
    box.write(f"{box.tree}/a", b"1")
    box.write(f"{box.scratch}/b", b"2")

    assert (box.read("a"), box.read("../scratch/b")) == (b"1", b"2")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../etc/passwd", "..", "/", "a/../../../../etc/passwd", ""]
)
def test_a_path_outside_is_refused(box: ProcessSandbox, path: str) -> None:
    plant(box, "mkdir a")

    with pytest.raises(SandboxError):
        box.read(path)
    with pytest.raises(SandboxError):
        box.write(path, b"x")


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../../../../../../etc/passwd"])
def test_a_planted_link_to_a_file_of_the_host_is_not_followed(box: ProcessSandbox, target: str) -> None:
    plant(box, f"ln -s {target} notes.txt", "mkdir d", f"ln -s {target} d/notes.txt")

    for path in ("notes.txt", "d/notes.txt"):
        with pytest.raises(SandboxError, match="leads out of the sandbox"):
            box.read(path)
        with pytest.raises(SandboxError, match="leads out of the sandbox"):
            box.write(path, b"x")


def test_a_planted_link_to_a_directory_of_the_host_is_not_followed(
    box: ProcessSandbox, tmp_path: Path
) -> None:
    plant(box, f"ln -s {tmp_path} tests")

    with pytest.raises(SandboxError):
        box.write("tests/test_a.py", b"x")
    with pytest.raises(SandboxError):
        box.remove("tests/tree")

    assert not (tmp_path / "test_a.py").exists()
    assert (tmp_path / "tree").exists()


def test_the_tree_itself_replaced_by_a_link_is_not_followed(box: ProcessSandbox, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    box.host_tree.rmdir()
    box.host_tree.symlink_to(victim)

    with pytest.raises(SandboxError):
        box.read("x")
    box.write("x", b"x")

    assert list(victim.iterdir()) == []


def test_links_that_stay_inside_are_followed(box: ProcessSandbox) -> None:
    plant(
        box,
        "mkdir -p src/pkg",
        "echo 1 > src/pkg/a.py",
        "ln -s src/pkg pkg",
        f"ln -s {box.tree}/pkg/a.py b.py",
    )

    assert box.read("pkg/a.py") == b"1\n"
    assert box.read("b.py") == b"1\n"
    box.write("b.py", b"2")
    assert box.read("src/pkg/a.py") == b"2"


def test_a_circle_of_links_ends(box: ProcessSandbox) -> None:
    plant(box, "ln -s b a", "ln -s a b")

    with pytest.raises(SandboxError, match="too many links"):
        box.read("a")


def test_a_link_changed_while_it_is_read_never_leads_out(box: ProcessSandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (box.host_tree / "plain").write_text("plain")
    stop = threading.Event()

    def swap() -> None:
        leads_to = ("plain", str(tmp_path / "secret"))
        for turn in range(100_000):
            if stop.is_set():
                return
            (box.host_tree / "new").symlink_to(leads_to[turn % 2])
            (box.host_tree / "new").rename(box.host_tree / "flag")

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    for _ in range(2000):
        try:
            seen.add(box.read("flag"))
        except (SandboxError, FileNotFoundError):
            continue
    stop.set()
    swapping.join()

    assert seen == {b"plain"}


def test_a_pipe_is_not_waited_for(box: ProcessSandbox) -> None:
    plant(box, "mkfifo report.json")

    with pytest.raises(SandboxError):
        box.read("report.json")
    with pytest.raises(SandboxError):
        box.write("report.json", b"x")


def test_a_missing_file_is_file_not_found(box: ProcessSandbox) -> None:
    for path in ("none.py", "no/such/file.py"):
        with pytest.raises(FileNotFoundError):
            box.read(path)


@pytest.mark.parametrize("path", ["a.py/b", "nul\0byte", "x" * 300])
def test_an_impossible_path_is_one_sentence(box: ProcessSandbox, path: str) -> None:
    box.write("a.py", b"")

    with pytest.raises(SandboxError, match="cannot be used in the sandbox"):
        box.write(path, b"x")


def test_a_file_larger_than_asked_for_is_refused(box: ProcessSandbox) -> None:
    box.write("big", b"x" * 11)

    assert len(box.read("big", limit=11)) == 11
    with pytest.raises(SandboxError, match="larger than 10 bytes"):
        box.read("big", limit=10)


def test_a_directory_cannot_be_read_or_overwritten(box: ProcessSandbox) -> None:
    plant(box, "mkdir d")

    with pytest.raises(SandboxError):
        box.read("d")
    with pytest.raises(SandboxError):
        box.write("d", b"x")


def test_removing_takes_files_directories_and_links_but_not_what_links_lead_to(box: ProcessSandbox) -> None:
    plant(box, "mkdir -p d/e", "touch d/e/f g", "ln -s d link", "ln -s /etc/passwd out")

    for path in ("link", "out", "g", "never-there", "d/e"):
        box.remove(path)

    assert sorted(os.listdir(box.host_tree)) == ["d"]  # noqa: PTH208
    assert Path("/etc/passwd").exists()


def test_files_are_sorted_and_without_caches_links_and_version_control(box_of: Opener) -> None:
    box = box_of(
        {
            "b.py": "",
            "a/c.py": "",
            ".git/config": "",
            "a/__pycache__/c.pyc": "",
            ".github/x.yml": "",
            "é f.py": "",
        }
    )
    plant(box, "ln -s b.py link.py", "ln -s a dir")

    assert box.files() == (".github/x.yml", "a/c.py", "b.py", "é f.py")
