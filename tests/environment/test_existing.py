"""The repository's own virtual environment."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from uv import find_uv_bin

from bot.changes.repository import GitFailedError
from bot.environment import existing
from bot.errors import InstallationError
from bot.sandbox import Interpreter

Prepare = Callable[..., Interpreter]
Run = Callable[[Interpreter, str], str]

NEEDS = {"requirements.txt": "testforge-alpha\n"}


@pytest.fixture
def make_venv(tree: Path, wheels: Path, cache_home: Path) -> Callable[..., Path]:
    """Make a virtual environment with packages in the repository: `make_venv("testforge-alpha")`."""

    def maker(*packages: str, name: str = ".venv") -> Path:
        uv = [find_uv_bin(), "--quiet", "--cache-dir", str(cache_home / "testforge" / "uv")]
        subprocess.run([*uv, "venv", "--python", sys.executable, str(tree / name)], check=True)
        if packages:
            subprocess.run(
                [*uv, "pip", "install", "--find-links", str(wheels), "--python", str(tree / name), *packages],
                check=True,
            )
        return tree / name

    return maker


def snapshot(directory: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_mtime_ns) for path in directory.rglob("*"))


def test_an_environment_that_has_what_the_code_needs_is_used_and_not_touched(
    prepare: Prepare, python: Run, make_venv: Callable[..., Path], notes: list[str]
) -> None:
    venv = make_venv("testforge-alpha")
    before = snapshot(venv)

    found = prepare(NEEDS)

    assert found.command == str(venv / "bin" / "python")
    assert python(
        found, "import testforge_alpha, pytest, coverage; print(testforge_alpha.__file__)"
    ).startswith(str(venv))
    assert len(found.extra_path) == 1
    assert snapshot(venv) == before
    assert notes[0].startswith("Using the repository's own environment .venv (Python 3.")


def test_what_only_one_of_the_tools_lacks_is_laid_beside(
    prepare: Prepare, python: Run, make_venv: Callable[..., Path], notes: list[str]
) -> None:
    venv = make_venv("testforge-alpha", "pytest<9")

    found = prepare(NEEDS)

    program = (
        "import pytest, coverage; print(pytest.__version__ < '9', pytest.__file__.startswith('"
        + str(venv)
        + "'))"
    )
    assert python(found, program) == "True True"
    assert "Installing coverage beside .venv." in notes


def test_an_overlay_is_installed_once(
    prepare: Prepare, make_venv: Callable[..., Path], notes: list[str]
) -> None:
    make_venv("testforge-alpha")
    first = prepare(NEEDS)
    notes.clear()

    assert prepare(NEEDS) == first
    assert len(notes) == 1


def test_an_overlay_fits_what_the_environment_has(
    prepare: Prepare, python: Run, make_venv: Callable[..., Path]
) -> None:
    make_venv("testforge-alpha", "pluggy==1.5.0")

    found = prepare(NEEDS)

    assert python(found, "import pluggy, pytest; print(pluggy.__version__)") == "1.5.0"


def test_an_environment_that_lacks_something_is_passed_over(
    prepare: Prepare, python: Run, make_venv: Callable[..., Path], notes: list[str]
) -> None:
    venv = make_venv("testforge-beta")

    found = prepare(NEEDS)

    assert not found.command.startswith(str(venv))
    assert "it lacks testforge-alpha" in notes[0]


def test_an_environment_whose_python_is_gone_is_passed_over(
    prepare: Prepare, make_venv: Callable[..., Path], notes: list[str]
) -> None:
    venv = make_venv(name="env")
    for link in (venv / "bin").glob("python*"):
        link.unlink()
    (venv / "bin" / "python").symlink_to("/nowhere/python")

    prepare()

    assert notes[0] == "env is not used: its Python is not there any more."


def test_an_environment_of_another_version_than_configured_is_passed_over(
    prepare: Prepare, make_venv: Callable[..., Path], notes: list[str]
) -> None:
    make_venv()

    with pytest.raises(InstallationError, match=r"needs Python 3\.97"):
        prepare({}, config='environment:\n  python: "3.97"\n')

    assert notes == [f".venv is not used: it has Python {platform.python_version()}, and 3.97 is asked for."]


def test_the_active_environment_counts_only_within_the_repository(
    prepare: Prepare, make_venv: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    venv = make_venv("testforge-alpha", name="my-env")
    prepared_without = prepare(NEEDS)
    monkeypatch.setenv("VIRTUAL_ENV", str(venv))

    assert not prepared_without.command.startswith(str(venv))
    assert prepare(NEEDS).command == str(venv / "bin" / "python")

    outside = tmp_path / "elsewhere"
    os.rename(venv, outside)  # noqa: PTH104
    monkeypatch.setenv("VIRTUAL_ENV", str(outside))
    assert prepare(NEEDS) == prepared_without


def test_the_copy_wins_over_an_editable_install_of_the_repository(
    prepare: Prepare, python: Run, make_venv: Callable[..., Path], tree: Path
) -> None:
    make_venv("pytest", "coverage")
    site = next((tree / ".venv" / "lib").glob("python*/site-packages"))
    (site / "mine.pth").write_text(f"{tree}/lib\n")
    found = prepare({"lib/mine.py": "WHERE = __file__\n"})

    assert found.import_roots == (".", "lib")
    assert python(found, "import mine; print(mine.WHERE)").endswith("/tree/lib/mine.py")


def test_an_editable_dependency_elsewhere_is_seen(
    prepare: Prepare, python: Run, make_venv: Callable[..., Path], tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "sibling.py").write_text("X = 9\n")
    make_venv("pytest", "coverage")
    site = next((tree / ".venv" / "lib").glob("python*/site-packages"))
    (site / "sibling.pth").write_text(f"{tmp_path}/library\n")

    assert python(prepare(), "import sibling; print(sibling.X)") == "9"


@pytest.mark.parametrize("committed", [".venv/lib", ".venv"])
def test_a_committed_environment_shows_the_code_nothing_of_this_machine(
    prepare: Prepare,
    make_venv: Callable[..., Path],
    tree: Path,
    tmp_path: Path,
    notes: list[str],
    committed: str,
) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "hidden.py").write_text("X = 9\n")
    venv = make_venv("pytest", "coverage", name="elsewhere" if committed == ".venv" else ".venv")
    if committed == ".venv":
        (tree / ".venv").symlink_to(venv.name)
    site = next((venv / "lib").glob("python*/site-packages"))
    (site / "hidden.pth").write_text(f"{tmp_path}/private\n")
    for arguments in (("init", "-q"), ("add", "--force", committed)):
        subprocess.run(["git", *arguments], cwd=tree, check=True)

    found = prepare()

    assert not Path(found.command).is_relative_to(tree)
    assert tmp_path / "private" not in found.mounts
    assert notes[0].startswith(".venv is not used: it is committed")


@pytest.mark.parametrize(
    ("said", "committed"),
    [("fatal: not a git repository", False), ("fatal: detected dubious ownership in repository", True)],
)
def test_an_environment_of_which_git_cannot_tell_counts_as_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, committed: bool
) -> None:
    def refuse(*_: object) -> bytes:
        raise GitFailedError(("ls-files",), said)

    monkeypatch.setattr(existing, "git", refuse)
    assert existing._is_committed(tmp_path) is committed
