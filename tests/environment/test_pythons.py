"""The Pythons on this machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from bot.environment import pythons
from bot.environment.python_choice import Wish
from bot.errors import InstallationError


def test_the_running_python_is_taken_without_looking_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uv.find_uv_bin", lambda: "/nowhere/uv")

    python, choice = pythons.find(Wish(">=3.9", "the project"))

    assert python.version == platform.python_version()
    assert choice.because.endswith("which the project allows (>=3.9).")


def test_shims_of_pyenv_are_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "python3.9").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (shims / "python3.9").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(shims), os.environ["PATH"]]))

    found = list(pythons.installed())

    assert not (tmp_path / "started").exists()
    assert all(Path(python.command).exists() for python in found)


def test_the_versions_that_there_are_are_told_where_none_will_do() -> None:
    with pytest.raises(
        InstallationError, match=r"needs Python <3\.9,.* is on this machine \(there is .*3\.\d+"
    ):
        pythons.find(Wish("<3.9", "the project"))


def test_markers_are_those_of_the_wanted_python_not_of_this_one() -> None:
    found = pythons.markers("3.10.4", linux=True)

    assert (found["python_version"], found["python_full_version"]) == ("3.10", "3.10.4")
    assert (found["sys_platform"], found["implementation_name"]) == ("linux", "cpython")
