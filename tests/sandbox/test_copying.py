"""The private copy of a tree."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bot.errors import SandboxError
from bot.sandbox import bubblewrap
from bot.sandbox.copying import copy_missing, copy_tree, delete_tree


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.mkdir()
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "target"
    path.mkdir()
    return path


def test_content_modes_and_times_are_kept(source: Path, target: Path) -> None:
    (source / "run.sh").write_bytes(b"\x00binary")
    (source / "run.sh").chmod(0o755)
    os.utime(source / "run.sh", ns=(10**18, 10**18))

    copy_tree(source, target)

    copied = (target / "run.sh").stat()
    assert (target / "run.sh").read_bytes() == b"\x00binary"
    assert (copied.st_mode & 0o777, copied.st_mtime_ns, copied.st_nlink) == (0o755, 10**18, 1)


def test_read_only_files_and_directories_can_be_written_in_the_copy(source: Path, target: Path) -> None:
    (source / "d").mkdir()
    (source / "d" / "a.py").write_text("x")
    (source / "d" / "a.py").chmod(0o444)
    (source / "d").chmod(0o555)

    copy_tree(source, target)

    assert (target / "d").stat().st_mode & 0o700 == 0o700
    assert (target / "d" / "a.py").stat().st_mode & 0o600 == 0o600


def test_only_links_that_stay_inside_are_kept(source: Path, target: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("x")
    (source / "d").mkdir()
    (source / "a.py").write_text("x")
    for name, leads_to in {
        "d/up": "../a.py",
        "dir": "d",
        "dangling": "not-there.py",
        "out": "../outside",
        "absolute": str(source / "a.py"),
        "through": "out",
    }.items():
        (source / name).symlink_to(leads_to)

    copy_tree(source, target)

    kept = sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_symlink())
    assert kept == ["d/up", "dangling", "dir"]


def test_compiled_files_sockets_and_pipes_are_left_out(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "a.pyc").write_bytes(b"x")
    os.mkfifo(source / "pipe")
    monkeypatch.chdir(source)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        copy_tree(source, target)

    assert list(target.iterdir()) == []


def test_an_unreadable_source_is_told(tmp_path: Path, target: Path) -> None:
    with pytest.raises(
        SandboxError, match=r"could not be copied into a sandbox: No such file or directory: .*gone"
    ):
        copy_tree(tmp_path / "gone", target)


def test_deleting_goes_through_closed_directories(target: Path) -> None:
    (target / "a" / "b").mkdir(parents=True)
    (target / "a" / "b" / "c").write_text("x")
    (target / "a" / "b").chmod(0)
    (target / "a").chmod(0)

    delete_tree(target)

    assert not target.exists()


@pytest.mark.skipif(not bubblewrap.works(), reason="a small disk is made with bubblewrap")
def test_a_full_disk_is_told_in_one_sentence_and_leaves_nothing(source: Path) -> None:
    (source / "big").write_bytes(bytes(3 * 1024**2))
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from bot.errors import SandboxError\n"
        "from bot.sandbox import Interpreter\n"
        "from bot.sandbox.process import ProcessSandboxes\n"
        "try:\n"
        "    ProcessSandboxes(False).open(Path(sys.argv[1]), Interpreter(sys.executable, '3.11'))\n"
        "except SandboxError as problem:\n"
        "    print(problem.message)\n"
        "print(os.listdir('/mnt'))\n"
    )

    done = subprocess.run(
        [
            *("bwrap", "--bind", "/", "/", "--dev", "/dev", "--size", str(1024**2), "--tmpfs", "/mnt"),
            *("--setenv", "TMPDIR", "/mnt", "--setenv", "PYTHONPATH", str(Path.cwd())),
            *("--", sys.executable, "-c", program, str(source)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == (
        "The disk of /mnt is full, so the repository could not be copied into a sandbox; "
        "free some space, or set TMPDIR to a directory with more room.\n[]\n"
    ), done.stderr


def test_additions_fill_gaps_and_replace_nothing(source: Path, target: Path, tmp_path: Path) -> None:
    (source / "pkg" / "sub").mkdir(parents=True)
    for name in ("pkg/made.so", "pkg/own.py", "pkg/sub/made.py"):
        (source / name).write_text("made")
    (target / "pkg").mkdir()
    (target / "pkg" / "own.py").write_text("own")
    (tmp_path / "outside").mkdir()
    (target / "pkg" / "sub").symlink_to("../../outside")

    copy_missing(source, target)

    assert (target / "pkg" / "made.so").read_text() == "made"
    assert (target / "pkg" / "own.py").read_text() == "own"
    assert list((tmp_path / "outside").iterdir()) == []


def test_deleting_what_is_not_there_leaves_the_directory_above_as_it_was(target: Path) -> None:
    target.chmod(0o755)
    delete_tree(target / "absent")
    assert target.stat().st_mode & 0o777 == 0o755
