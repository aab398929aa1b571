from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bot import environment, repoconfig
from bot.sandbox import Interpreter
from bot.sandbox.process import ProcessSandboxes

Prepare = Callable[..., Interpreter]


@pytest.fixture(scope="session")
def cache_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of these tests' own; shared by them, so that pytest itself is fetched once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A directory of small packages: `alpha`, `beta` and `gamma`, each of version 1.0 and one module."""
    place = tmp_path / "wheels"
    place.mkdir()
    for name in ("alpha", "beta", "gamma"):
        full = f"testforge_{name}"
        with zipfile.ZipFile(place / f"{full}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{full}.py", "VERSION = '1.0'\n")
            wheel.writestr(
                f"{full}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {full}\nVersion: 1.0\n"
            )
            wheel.writestr(
                f"{full}-1.0.dist-info/WHEEL",
                "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            )
            wheel.writestr(f"{full}-1.0.dist-info/RECORD", "")
    return place


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The repository, and its copy: one directory, for none of the two is written to."""
    place = tmp_path / "repository"
    place.mkdir()
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    return place


@pytest.fixture
def prepare(
    tree: Path, cache_home: Path, wheels: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> Prepare:
    """Prepare the environment of a repository with these files: `prepare({"requirements.txt": "..."}, config="...")`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_home))
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    def preparer(
        files: Mapping[str, str] = {}, config: str | None = None, roots: tuple[str, ...] = (".",)
    ) -> Interpreter:
        for name, content in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(content)
        return environment.prepare(tree, tree, repoconfig.load(config), roots=roots, note=notes.append)

    return preparer


@pytest.fixture
def python(tree: Path) -> Callable[[Interpreter, str], str]:
    """Run a program in a prepared environment, over the tree; returns what it printed."""

    def runner(interpreter: Interpreter, program: str) -> str:
        with ProcessSandboxes().open(tree, interpreter) as box:
            done = box.run(["python", "-c", program], timeout_s=60)
        assert done.exit_code == 0, done.stderr
        return done.stdout.strip()

    return runner
