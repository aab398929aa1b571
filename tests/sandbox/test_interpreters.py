"""Which directories an interpreter needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.sandbox.interpreters import bin_directory, needed_directories


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A Python in `versions/3.11.7`, which `versions/3.11` is a link to, as uv keeps them."""
    (tmp_path / "versions" / "3.11.7" / "bin").mkdir(parents=True)
    (tmp_path / "versions" / "3.11.7" / "bin" / "python3.11").touch()
    (tmp_path / "versions" / "3.11").symlink_to("3.11.7")
    return tmp_path / "versions" / "3.11" / "bin" / "python3.11"


def venv(directory: Path, python: Path, *names: str) -> Path:
    (directory / "bin").mkdir(parents=True)
    (directory / "pyvenv.cfg").write_text(f"home = {python.parent}\nversion = 3.11.7\n")
    for name in names:
        (directory / "bin" / name).symlink_to(python)
    return directory / "bin" / names[0]


def test_each_directory_that_links_lead_through_is_needed(tmp_path: Path, installed: Path) -> None:
    command = venv(tmp_path / "project" / ".venv", installed, "python")

    found = needed_directories(str(command))

    assert {str(tmp_path / name) for name in ("project/.venv", "versions/3.11.7")} <= set(found)
    assert str(tmp_path / "versions" / "3.11") in found or str(tmp_path / "versions") in found


def test_a_home_directory_is_never_needed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").touch()

    assert needed_directories(str(tmp_path / "bin" / "python3")) == (str(tmp_path / "bin"),)


def test_the_systems_own_python_needs_nothing() -> None:
    assert needed_directories("/usr/bin/env") == ()


def test_an_environments_own_commands_are_used_only_if_both_names_are_there(
    tmp_path: Path, installed: Path
) -> None:
    whole = venv(tmp_path / "a", installed, "python", "python3")
    bare = venv(tmp_path / "b", installed, "python")

    assert bin_directory(str(whole)) == str(tmp_path / "a" / "bin")
    assert bin_directory(str(bare)) is None
    assert bin_directory(str(installed)) is None
