"""Directories of runs that were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.sandbox import Interpreter, leftovers
from bot.sandbox.process import ProcessSandboxes


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "temp"
    path.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(path))
    return path


def abandoned(temp: Path, age_s: float) -> Path:
    place = temp / "testforge-box-1-00"
    (place / "tree").mkdir(parents=True)
    (place / leftovers.LOCK).touch()
    then = (place / leftovers.LOCK).stat().st_mtime - age_s
    os.utime(place / leftovers.LOCK, (then, then))
    return place


def test_a_directory_that_nobody_holds_is_deleted_by_the_next_run(
    temp: Path, tmp_path: Path, interpreter: Interpreter
) -> None:
    place = abandoned(temp, age_s=3600)
    tree = tmp_path / "tree"
    tree.mkdir()

    with ProcessSandboxes(False).open(tree, interpreter) as box:
        assert not place.exists()
        assert box.host_tree.exists()


def test_a_directory_in_use_or_just_made_stays(temp: Path) -> None:
    fresh = abandoned(temp, age_s=0)
    leftovers.delete_abandoned(temp, "testforge-box-")
    assert fresh.exists()

    old = abandoned(temp / "other", age_s=3600)
    held = leftovers.hold(old)
    try:
        leftovers.delete_abandoned(temp / "other", "testforge-box-")
        assert old.exists()
    finally:
        os.close(held)


HOLDER = """
import signal
from bot.sandbox import leftovers
with leftovers.temporary("testforge-run-") as place:
    (place / "head").mkdir()
    print(place, flush=True)
    signal.pause()
"""


def made_old(file: Path) -> None:
    then = file.stat().st_mtime - 3600
    os.utime(file, (then, then))


def test_the_directory_of_a_run_that_is_killed_is_deleted_by_the_next_one_and_not_before(temp: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(temp)}
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as run:
        assert run.stdout is not None
        place = Path(run.stdout.readline().strip())
        made_old(place / leftovers.LOCK)
        with leftovers.temporary("testforge-run-"):
            assert (place / "head").is_dir()
        run.send_signal(signal.SIGKILL)

    with leftovers.temporary("testforge-run-") as own:
        assert not place.exists()
    assert not own.exists()


def test_a_directory_of_a_run_that_was_killed_before_it_had_locked_it_is_deleted(temp: Path) -> None:
    place = temp / "testforge-run-abc"
    place.mkdir()
    made_old(place)

    with leftovers.temporary("testforge-run-"):
        assert not place.exists()
