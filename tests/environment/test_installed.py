"""What an installation has left in an environment is read without being led astray, or kept waiting."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.environment import installed

Spoil = Callable[[Path], object]


def about(environment: Path, name: str) -> Path:
    """Make the directory about a distribution, and return it."""
    place = environment / "lib" / "python3.11" / "site-packages" / f"{name}-1.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (place / "RECORD").write_text(f"{name}.py,,\n")
    (place / "direct_url.json").write_text('{"url": "file:///tree"}')
    return place


def replace_by_pipe(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


@pytest.mark.parametrize("name", ["METADATA", "RECORD", "direct_url.json"])
@pytest.mark.parametrize(
    "spoil",
    [
        replace_by_pipe,
        lambda place: os.truncate(place, 1 << 40),
        lambda place: (place.unlink(), place.symlink_to("/dev/zero")),
        lambda place: (place.unlink(), place.mkdir()),
    ],
    ids=["pipe", "terabyte", "device", "directory"],
)
def test_what_cannot_be_a_file_about_a_distribution_is_passed_over(
    tmp_path: Path, name: str, spoil: Spoil
) -> None:
    about(tmp_path, "honest")
    spoil(about(tmp_path, "hostile") / name)

    assert installed.packages(tmp_path) == {"honest": "1"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("METADATA", b"\xff\xfe\xff"),
        ("METADATA", b""),
        ("METADATA", b"Name: hostile\n"),
        ("RECORD", b"\xff"),
        ("direct_url.json", b"["),
        ("direct_url.json", b"[" * 100_000),
        ("direct_url.json", b"7"),
    ],
)
def test_nonsense_about_a_distribution_hides_no_other(tmp_path: Path, name: str, content: bytes) -> None:
    (about(tmp_path, "hostile") / name).write_bytes(content)
    about(tmp_path, "last")

    found = installed.project(tmp_path, "/tree")

    assert found is not None
    assert installed.packages(tmp_path)["last"] == "1"


def test_a_directory_about_nothing_is_passed_over(tmp_path: Path) -> None:
    about(tmp_path, "honest")
    (about(tmp_path, "empty") / "METADATA").unlink()

    assert installed.packages(tmp_path) == {"honest": "1"}
