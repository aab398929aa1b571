"""Directories of runs that were killed."""

from __future__ import annotations

import os
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
