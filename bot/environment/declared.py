"""What a repository declares about its dependencies, read as data: no code of it is run."""

from __future__ import annotations

import configparser
import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bot.environment import poetry, setup_script

FOR_TESTS = ("test", "tests", "testing", "dev")
"""Names of the extras and dependency groups that tests need."""

PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
NATIVE = frozenset({".pyx", ".pxd", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".rs"})
NATIVE_FILES = frozenset({"Cargo.toml", "Cargo.lock", "CMakeLists.txt", "meson.build"})


@dataclass(frozen=True, slots=True)
class Declared:
    """The dependency files of a repository, read.

    Attributes:
        files: Those files, relative to the tree, sorted.
        is_project: Whether the repository itself can be built and installed.
        requires_python: Specifiers such as `>=3.9`; empty if it does not say.
        dependencies: What the code needs, as far as it can be read without running code.
        extras: Optional dependencies by extra, likewise.
        test_lines: What tests need, from where only one tool would look: poetry, pdm, hatch, `tests_require`.
        groups: Dependency groups (PEP 735) for tests.
        requirements: Requirements files for the code itself.
        test_requirements: Requirements files for tests and development.
    """

    files: tuple[str, ...] = ()
    is_project: bool = False
    requires_python: str = ""
    dependencies: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] | None = None
    test_lines: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    test_requirements: tuple[str, ...] = ()

    @property
    def extra_lines(self) -> tuple[str, ...]:
        """The requirements of the extras for tests."""
        return tuple(line for name in FOR_TESTS for line in (self.extras or {}).get(name, ()))


def read(tree: Path) -> Declared:
    """Return what a tree declares; a file that cannot be read counts as empty."""
    pyproject = _toml(tree / "pyproject.toml")
    config = _ini(tree / "setup.cfg")
    script = setup_script.read(tree / "setup.py")
    code, tests = _requirements_files(tree)
    project = _table(pyproject, "project")
    old_poetry = _table(pyproject, "tool", "poetry")
    flit = _table(pyproject, "tool", "flit", "metadata")
    extras = {
        **{name: tuple(lines) for name, lines in script.extras.items()},
        **{name: tuple(_lines(text)) for name, text in _section(config, "options.extras_require").items()},
        **{name: tuple(_strings(lines)) for name, lines in _table(flit, "requires-extra").items()},
        **{name: tuple(_strings(lines)) for name, lines in _table(project, "optional-dependencies").items()},
    }
    options = _section(config, "options")
    return Declared(
        files=tuple(sorted([*code, *tests, *(name for name in PROJECT_FILES if (tree / name).is_file())])),
        is_project=_is_project(tree, pyproject, config),
        requires_python=str(
            project.get("requires-python")
            or poetry.specifiers(str(_table(old_poetry, "dependencies").get("python", "")))
            or flit.get("requires-python")
            or options.get("python_requires")
            or script.requires_python
        ).strip(),
        dependencies=(
            *_strings(project.get("dependencies")),
            *poetry.requirements(_table(old_poetry, "dependencies")),
            *_strings(flit.get("requires")),
            *_lines(options.get("install_requires", "")),
            *script.dependencies,
        ),
        extras=extras,
        test_lines=(*_tool_lines(pyproject), *_lines(options.get("tests_require", "")), *script.tests),
        groups=tuple(name for name in _table(pyproject, "dependency-groups") if name.lower() in FOR_TESTS),
        requirements=code,
        test_requirements=tests,
    )


def digest(tree: Path, declared: Declared, *more: str) -> str:
    """Return the key of the environment: it changes with any dependency file, native source, or the texts given."""
    found = hashlib.sha256()
    native: list[str] = []
    if declared.is_project:
        for path in tree.rglob("*"):
            if (path.suffix in NATIVE or path.name in NATIVE_FILES) and path.is_file():
                native.append(path.relative_to(tree).as_posix())
    for name in (*declared.files, *sorted(native)):
        content = (tree / name).read_bytes()
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    for text in more:
        found.update(f"{len(text)}\0{text}".encode())
    return found.hexdigest()[:32]


def names(tree: Path, declared: Declared, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the canonical names of what the code needs in an environment with these markers."""
    lines = [
        *declared.dependencies,
        *(line for file in declared.requirements for line in _file_lines(tree, file)),
    ]
    found: set[str] = set()
    for line in lines:
        try:
            wanted = Requirement(line.split(" #")[0].strip())
        except InvalidRequirement:
            continue
        if wanted.marker is None or wanted.marker.evaluate({"extra": "", **environment}):
            found.add(canonicalize_name(wanted.name))
    return tuple(sorted(found))


def _file_lines(tree: Path, name: str, depth: int = 0) -> list[str]:
    """Return the requirements of a file and of those that it includes."""
    path = (tree / name).resolve()
    if depth > 5 or not path.is_relative_to(tree.resolve()) or not path.is_file():
        return []
    found: list[str] = []
    for line in path.read_text(errors="replace").replace("\\\n", " ").splitlines():
        included = re.match(r"\s*(?:-r|--requirement)[ =]?\s*(\S+)", line)
        if included:
            found += _file_lines(tree, (path.parent / included[1]).as_posix(), depth + 1)
        else:
            found.append(re.split(r"\s--", line)[0])
    return found


def _is_project(tree: Path, pyproject: Mapping[str, Any], config: Mapping[str, Mapping[str, str]]) -> bool:
    if _table(pyproject, "tool", "uv").get("package") is False:
        return False
    if _table(pyproject, "tool", "poetry").get("package-mode") is False:
        return False
    if (tree / "setup.py").is_file() or "project" in pyproject:
        return True
    return "build-system" in pyproject and bool(
        _table(pyproject, "tool", "poetry") or _table(pyproject, "tool", "flit") or "metadata" in config
    )


def _requirements_files(tree: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirements files for the code and those for its tests; such for documentation and the like are left out."""
    code: list[str] = []
    tests: list[str] = []
    plain = {"requirements", "requirement", "reqs"}
    for path in sorted([*tree.glob("*.txt"), *tree.glob("requirements/*.txt")]):
        words = set(re.split(r"[-_.]", path.stem.lower()))
        if path.parent == tree and not words & plain:
            continue
        rest = words - plain
        name = path.relative_to(tree).as_posix()
        if rest <= {"base", "main", "prod", "production", "install", "core"}:
            code.append(name)
        elif rest <= {*FOR_TESTS, "development"}:
            tests.append(name)
    return tuple(code), tuple(tests)


def _tool_lines(pyproject: Mapping[str, Any]) -> list[str]:
    """Return what tests need by the tables of poetry, pdm, uv and hatch."""
    tool = _table(pyproject, "tool")
    lines = poetry.requirements(_table(tool, "poetry", "dev-dependencies"))
    for name, group in _table(tool, "poetry", "group").items():
        if name.lower() in FOR_TESTS and isinstance(group, Mapping):
            lines += poetry.requirements(_table(group, "dependencies"))
    for name, group in _table(tool, "pdm", "dev-dependencies").items():
        if name.lower() in FOR_TESTS:
            lines += [line for line in _strings(group) if not line.startswith("-e")]
    lines += _strings(_table(tool, "uv").get("dev-dependencies"))
    for name, group in _table(tool, "hatch", "envs").items():
        if name.lower() in (*FOR_TESTS, "default", "hatch-test") and isinstance(group, Mapping):
            lines += [*_strings(group.get("dependencies")), *_strings(group.get("extra-dependencies"))]
    return lines


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def _ini(path: Path) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, configparser.Error):
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _section(config: Mapping[str, Mapping[str, str]], name: str) -> Mapping[str, str]:
    return config.get(name, {})


def _table(table: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return a table within a table; an empty one if there is none."""
    for key in keys:
        inner = table.get(key)
        if not isinstance(inner, Mapping):
            return {}
        table = inner
    return table


def _strings(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _lines(text: str) -> Iterable[str]:
    return [
        line.strip()
        for line in text.splitlines()
        if line.strip() and not line.strip().startswith(("#", "file:"))
    ]
