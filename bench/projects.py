"""Projects with their upstream tests, from sdists on PyPI, and lean environments to run these in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

_PYTEST = "pytest==9.*"


@dataclass(frozen=True, slots=True)
class Project:
    """A module with its project's tests.

    Attributes:
        requirement: The project's sdist.
        path: The module.
        tests: Its tests, as pytest takes them.
        root: Import root within the sdist.
        also: A directory of the project's other tests, which do not reach the module.
    """

    requirement: str
    path: str
    tests: str
    root: str = "."
    also: str = ""

    @property
    def name(self) -> str:
        """The project's name."""
        return self.requirement.partition("==")[0]

    @property
    def module(self) -> str:
        """The dotted import path of the module."""
        return Path(self.path).relative_to(self.root).with_suffix("").as_posix().replace("/", ".")


PROJECTS = (
    Project("python-slugify==5.0.2", "slugify/slugify.py", "test_all.py"),
    Project("humanize==4.17.0", "src/humanize/time.py", "tests/test_time.py", root="src"),
    Project("sqlparse==0.6.1", "sqlparse/engine/statement_splitter.py", "tests"),
    Project("itsdangerous==2.2.0", "src/itsdangerous/timed.py", "tests", root="src"),
    Project("boltons==26.2.0", "boltons/cacheutils.py", "tests/test_cacheutils.py", also="tests"),
)
NEEDS = ("text-unidecode", "freezegun")
"""What the projects and their tests import besides."""


def lay_out(project: Project, work: Path) -> Path:
    """Return the tree of a project's sdist, fetched if it is not there yet."""
    name = project.requirement.replace("==", "-")
    tree = work / "trees" / name
    if tree.exists():
        return tree
    sdists, unpacked = work / "sdists" / name, work / "unpacked" / name
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    subprocess.run(
        [*pip, "--no-deps", "--no-binary", ":all:", "-d", str(sdists), project.requirement], check=True
    )
    with tarfile.open(next(sdists.glob("*.tar.gz"))) as archive:
        archive.extractall(unpacked, filter="data")
    tree.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(next(unpacked.iterdir()), tree)
    if project.tests == "test_all.py":
        # pytest collects `test_*.py` only.
        (tree / "test.py").rename(tree / "test_all.py")
    return tree


def environment(name: str, work: Path, *packages: str) -> Path:
    """Return the interpreter of a virtual environment with pytest, what the tests need, and nothing but these packages.

    Every plugin of pytest would cost each run of a test command a good part of a second, and the rivals most of all.
    """
    home = work / "environments" / name
    python = home / "bin" / "python"
    done = home / "complete"
    if not done.exists():
        uv = (
            shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
            or "uv"
        )
        subprocess.run([uv, "venv", "-q", "--clear", "--python", sys.executable, str(home)], check=True)
        subprocess.run(
            [uv, "pip", "install", "-q", "--python", str(python), _PYTEST, *NEEDS, *packages], check=True
        )
        done.touch()
    return python
