"""An installed project becomes an editable one: its modules are the tree's, what its build made goes to the tree."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from bot.environment import harvest


@pytest.fixture
def site(tmp_path: Path) -> Path:
    place = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    place.mkdir(parents=True)
    return place


def settle(tmp_path: Path, site: Path, *files: str, roots: tuple[str, ...] = (".",)) -> list[str]:
    """Settle a distribution `own` that has these files."""
    about = site / "own-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1\n")
    (about / "RECORD").write_text("".join(f"{name},,\n" for name in (*files, "own-1.dist-info/METADATA")))
    for name in files:
        if not name.startswith(("/", "..")) and not (site / name).parent.is_symlink():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_text("installed")
    own = importlib.metadata.Distribution.at(about)
    return harvest.settle(own, tmp_path / "tree", tmp_path / "additions", list(roots), "/testforge/tree")


def make(tmp_path: Path, *names: str) -> None:
    for name in names:
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text("source")


def test_modules_of_the_tree_are_removed_and_the_tree_is_linked(tmp_path: Path, site: Path) -> None:
    make(tmp_path, "src/own/__init__.py", "src/own/a.py", "src/single.py")

    copies = settle(
        tmp_path, site, "own/__init__.py", "own/a.py", "own/gone.py", "single.py", roots=("src", ".")
    )

    assert copies == []
    assert sorted(path.name for path in site.iterdir()) == ["own-1.dist-info", "testforge-tree.pth"]
    assert (site / "testforge-tree.pth").read_text() == "/testforge/tree/src\n"


def test_what_the_build_made_goes_to_its_place_in_the_tree(tmp_path: Path, site: Path) -> None:
    make(tmp_path, "own/__init__.py")

    settle(tmp_path, site, "own/__init__.py", "own/_fast.so", "own/sub/_version.py")

    additions = tmp_path / "additions"
    assert sorted(path.relative_to(additions).as_posix() for path in additions.rglob("*.*")) == [
        "own/_fast.so",
        "own/sub/_version.py",
    ]


def test_what_lies_elsewhere_in_the_tree_stays_and_is_named(tmp_path: Path, site: Path) -> None:
    make(tmp_path, "sources/a.py")

    assert settle(tmp_path, site, "own/a.py", "_binding.so") == ["own"]
    assert (site / "own" / "a.py").exists()
    assert (site / "_binding.so").exists()


def test_files_of_the_machine_that_a_build_claims_are_not_touched(tmp_path: Path, site: Path) -> None:
    make(tmp_path, "own/__init__.py", "outside.txt")
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    (site / "own").symlink_to(tmp_path)
    (site / "testforge-tree.pth").symlink_to(outside)

    settle(tmp_path, site, str(outside), "../../../../outside.txt", "own/outside.txt", "own/__init__.py")

    assert outside.read_text() == "secret"
    assert not (tmp_path / "additions").exists()
