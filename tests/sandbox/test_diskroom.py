"""What the files of a process sandbox take of the disk, and that it is bounded."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.sandbox import Limits
from bot.sandbox.diskroom import DiskRoom, free
from bot.sandbox.process import ProcessSandbox

Opener = Callable[..., ProcessSandbox]
MB = 1024**2

WRITE = """
import os, sys, time
def write(name):
    file = os.open(name, os.O_RDWR | os.O_CREAT)
    os.write(file, b'x' * 2**20)
    return file
"""
NAMED = "for n in range(10**6):\n    os.close(write(f'{PLACE}/f{n}'))\n    time.sleep(0.005)\n"
NAMELESS = (
    "for n in range(900):\n    write('f')\n    os.unlink('f')\n    time.sleep(0.005)\ntime.sleep(600)\n"
)
DEEP = "for n in range(10**6):\n    os.mkdir('d')\n    os.chdir('d')\n    os.close(write('f'))\n    time.sleep(0.005)\n"


@pytest.mark.parametrize(
    "program",
    [NAMED.replace("{PLACE}", "."), NAMED.replace("{PLACE}", "/dev/shm"), NAMELESS, DEEP],
    ids=["tree", "shared memory", "nameless", "deep"],
)
def test_files_that_take_too_much_are_stopped(box_of: Opener, walls: bool, program: str) -> None:
    if "/dev/shm" in program and not walls:
        return  # without walls it is this machine's own
    box = box_of(limits=Limits(disk=24 * MB))

    done = box.run(["python", "-I", "-S", "-c", WRITE + program], timeout_s=120)

    assert done.stderr.endswith("testforge: stopped, more than 24 MB of disk\n")


def test_a_full_sandbox_goes_on_when_it_is_empty_again(box_of: Opener) -> None:
    box = box_of(limits=Limits(disk=24 * MB))
    box.run(["python", "-I", "-S", "-c", WRITE + NAMED.replace("{PLACE}", ".")], timeout_s=120)

    for name in box.files():
        box.remove(name)

    assert box.run(["echo", "on"], timeout_s=20).stdout == "on\n"


def test_what_others_take_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "own").write_bytes(b"x" * MB)
    room = DiskRoom(time.time() - 60, 4 * MB, free(str(tmp_path)) + 100 * MB, [str(tmp_path)])

    assert not room.is_over(set())

    (tmp_path / "more").write_bytes(b"x" * 4 * MB)
    assert room.taken() > 4 * MB


def test_files_of_two_names_count_once_and_holes_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * MB)
    os.link(tmp_path / "one", tmp_path / "two")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)

    assert MB <= DiskRoom(0.0, MB, 0, [str(tmp_path)]).taken() < 2 * MB
