"""The modules that the built-in model is measured on: from PyPI, each laid out as a small git repository without tests."""

from __future__ import annotations

import email
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Subject:
    """A module of a distribution.

    Attributes:
        name: The distribution's name.
        path: The module's file below the repository's root.
        pynguin, own: Percent of lines and mutants that Pynguin 0.48 and the project's own suite reached where they
            were measured before, on a loaded machine, by the tests that passed.
    """

    name: str
    path: str
    pynguin: tuple[int, int]
    own: tuple[int, int]

    @property
    def module(self) -> str:
        """The dotted import path."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


SUBJECTS = (
    Subject("python-slugify", "slugify/slugify.py", (22, 1), (80, 53)),
    Subject("packaging", "packaging/version.py", (86, 49), (98, 84)),
    Subject("inflection", "inflection/__init__.py", (98, 96), (99, 87)),
    Subject("toolz", "toolz/itertoolz.py", (68, 32), (100, 94)),
    Subject("humanize", "humanize/number.py", (0, 0), (98, 91)),
    Subject("semver", "semver/version.py", (86, 56), (100, 91)),
    Subject("cachetools", "cachetools/__init__.py", (65, 27), (100, 88)),
)


def lay_out(subject: Subject, work: Path, place: str = "repositories") -> Path:
    """Download a distribution with pip and return a fresh git repository with its package.

    Args:
        work: Where downloads are kept and the repository is made.
        place: The directory below it for the repository.
    """
    wheel = _download(subject.name, work / "wheels")
    root = work / place / subject.name
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(root)
    requirements = _requirements(root)
    _tidy(root, subject)
    lines = [f'"{requirement}",' for requirement in requirements]
    (root / "pyproject.toml").write_text(
        f'[project]\nname = "{subject.name}"\nversion = "0"\ndependencies = [{" ".join(lines)}]\n',
        encoding="utf-8",
    )
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "The package as published"]):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True)
    return root


def dependencies(root: Path) -> list[str]:
    """Return what a repository made here needs to run."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"])


def _download(name: str, into: Path) -> Path:
    into.mkdir(parents=True, exist_ok=True)
    pattern = f"{re.sub(r'[-.]+', '_', name)}-*.whl"
    found = sorted(into.glob(pattern))
    if not found:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", name]
        subprocess.run([*command, "--dest", str(into)], check=True)
        found = sorted(into.glob(pattern))
    return found[-1]


def _requirements(root: Path) -> list[str]:
    """Return what the distribution needs to run, without its extras."""
    metadata = next(root.glob("*.dist-info/METADATA"))
    message = email.message_from_string(metadata.read_text(encoding="utf-8"))
    found = message.get_all("Requires-Dist") or []
    return [str(line).replace('"', "'") for line in found if "extra ==" not in str(line)]


def _tidy(root: Path, subject: Subject) -> None:
    """Leave the package alone: no metadata, no tests; a single module becomes the package that the subject names."""
    for path in [
        *root.glob("*.dist-info"),
        *root.glob("*.data"),
        *root.rglob("tests"),
        *root.rglob("__pycache__"),
    ]:
        shutil.rmtree(path, ignore_errors=True)
    wanted = root / subject.path
    single = root / f"{wanted.parent.name}.py"
    if not wanted.exists() and single.exists():
        wanted.parent.mkdir(parents=True)
        single.rename(wanted)
