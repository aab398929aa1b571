"""Files that are checked before the work and written after it."""

from __future__ import annotations

import os

import pytest

from bot.deliver.outputs import Outputs
from bot.errors import TestforgeError, UsageError


def test_files_are_written_where_asked(tmp_path):
    outputs = Outputs(str(tmp_path / "o.json"), str(tmp_path / "o.patch"))
    outputs.check()
    outputs.write_json(b"{}\n")
    outputs.write_patch("")
    assert (tmp_path / "o.json").read_bytes() == b"{}\n"
    assert (tmp_path / "o.patch").read_bytes() == b""


def test_nothing_is_written_where_nothing_was_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outputs = Outputs()
    outputs.check()
    outputs.write_json(b"{}")
    outputs.write_patch("x")
    assert list(tmp_path.iterdir()) == []
    assert not outputs.takes_stdout


def test_checking_creates_nothing(tmp_path):
    Outputs(str(tmp_path / "o.json")).check()
    assert list(tmp_path.iterdir()) == []


def test_a_dash_is_stdout(capfdbinary):
    outputs = Outputs("-")
    outputs.check()
    assert outputs.takes_stdout
    outputs.write_json(b"{}\n")
    assert capfdbinary.readouterr().out == b"{}\n"


def test_a_patch_on_stdout_takes_it_too():
    assert Outputs(None, "-").takes_stdout
    assert Outputs(None, "-").patch_path == ""
    assert Outputs(None, "a.patch").patch_path == "a.patch"


@pytest.mark.parametrize("name", ["missing/o.json", "."])
def test_what_cannot_be_written_is_told_before_the_work(tmp_path, name):
    with pytest.raises(UsageError, match=r"There is no directory|is a directory"):
        Outputs(None, str(tmp_path / name)).check()


def test_a_place_without_permission_is_told_before_the_work():
    with pytest.raises(UsageError, match="cannot be written"):
        Outputs("/proc/testforge.json").check()


def test_checking_leaves_a_file_as_it_is(tmp_path):
    (tmp_path / "o.json").write_text("old")
    Outputs(str(tmp_path / "o.json")).check()
    assert (tmp_path / "o.json").read_text() == "old"


def test_a_pipe_is_not_opened_before_the_work(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    Outputs(str(tmp_path / "pipe")).check()  # would wait for a reader for ever


def test_one_file_for_both_is_told(tmp_path):
    for pair in (("-", "-"), (str(tmp_path / "o"), str(tmp_path / "x" / ".." / "o"))):
        with pytest.raises(UsageError, match="the same file"):
            Outputs(*pair).check()


def test_a_full_disk_is_told():
    with pytest.raises(TestforgeError, match=r"'/dev/full' could not be written: No space left"):
        Outputs("/dev/full").write_json(b"x" * 100)
