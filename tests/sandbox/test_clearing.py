"""Deleting and listing what untrusted code has left, however deep, wide, or closed."""

from __future__ import annotations

import os
from pathlib import Path

from bot.sandbox import clearing
from bot.sandbox.copying import delete_tree


def deep(top: Path, levels: int) -> None:
    """Make directories within each other, a file in the last one."""
    here = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("f", os.O_CREAT, dir_fd=here))
    os.close(here)


def test_directories_within_each_other_without_end_are_deleted(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    deep(top, 6000)

    delete_tree(top)

    assert not top.exists()


def test_what_lies_absurdly_deep_is_not_listed_and_the_rest_is(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "f").touch()
    (tmp_path / "left" / "out").mkdir(parents=True)
    (tmp_path / "left" / "f").touch()
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    deep(tmp_path, 1500)

    found = clearing.files(str(tmp_path), frozenset({"left"}))
    delete_tree(tmp_path)

    assert found == ["a/b/f"]


def test_links_are_deleted_and_what_they_lead_to_stays(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    top = tmp_path / "top"
    (top / "sub").mkdir(parents=True)
    for place in (top, top / "sub"):
        (place / "to").symlink_to(kept)
        (place / "file").symlink_to(kept / "file")

    clearing.delete(str(top))

    assert not top.exists()
    assert (kept / "file").exists()


def test_many_files_between_many_directories_are_deleted(tmp_path: Path) -> None:
    top = tmp_path / "top"
    for n in range(300):
        (top / f"d{n}").mkdir(parents=True)
        (top / f"f{n}").touch()

    clearing.delete(str(top))

    assert not top.exists()
