"""What a repository declares about its dependencies, read as data: no code of it is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bot.environment import conda, groups, poetry, requirement_files, setup_script, tox
from bot.environment.conda import Conda
from bot.environment.naming import is_for_tests
from bot.environment.tables import ini, lines, strings, table, toml

PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
OWN_FILES = (*PROJECT_FILES, "hatch.toml", "Pipfile")
LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
"""Lock files that are read, the one that decides where there are several first."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The dependency files of a repository, read.

    Attributes:
        files: Those in which the project declares itself, and those that they read, relative to the tree, sorted.
        is_project: Whether the repository itself can be built and installed.
        backend: What builds it, such as `hatchling.build`; empty if it does not say.
        requires_python: Specifiers such as `>=3.9`; empty if it does not say.
        dependencies: What the code needs, as far as it can be read without running code.
        extras: Optional dependencies by extra, likewise.
        test_lines: What tests need, from where only one tool would look: poetry, pdm, hatch, `tests_require`.
        groups: Dependency groups (PEP 735) for tests, and their requirements.
        requirements: Requirements files for the code itself.
        test_requirements: Requirements files for tests and development.
        lock: The lock file that decides; empty if there is none.
        conda: conda's environment file.
        tox: The file with tox's test environment, and what that needs.
    """

    files: tuple[str, ...] = ()
    is_project: bool = False
    backend: str = ""
    requires_python: str = ""
    dependencies: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    test_lines: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    requirements: tuple[str, ...] = ()
    test_requirements: tuple[str, ...] = ()
    lock: str = ""
    conda: Conda = field(default_factory=Conda)
    tox: tuple[str, tuple[str, ...]] = ("", ())

    @property
    def test_extras(self) -> tuple[str, ...]:
        """Names of the extras for tests."""
        return tuple(sorted(name for name in self.extras if is_for_tests(name)))

    @property
    def extra_lines(self) -> tuple[str, ...]:
        """The requirements of the extras for tests."""
        return tuple(line for name in self.test_extras for line in self.extras[name])

    @property
    def group_lines(self) -> tuple[str, ...]:
        """The requirements of the groups for tests."""
        return tuple(line for found in self.groups.values() for line in found)


def read(tree: Path) -> Declared:
    """Return what a tree declares; a file that cannot be read counts as empty."""
    pyproject, config = toml(tree / "pyproject.toml"), ini(tree / "setup.cfg")
    script = setup_script.read(tree / "setup.py")
    code, tests = requirement_files.find(tree)
    project, old_poetry = table(pyproject, "project"), table(pyproject, "tool", "poetry")
    flit, options = table(pyproject, "tool", "flit", "metadata"), config.get("options", {})
    dynamic = _Dynamic(tree, table(pyproject, "tool", "setuptools", "dynamic"), config)
    extras = {
        **{name: tuple(found) for name, found in script.extras.items()},
        **dynamic.extras,
        **{name: tuple(strings(found)) for name, found in table(flit, "requires-extra").items()},
        **{name: tuple(strings(found)) for name, found in table(project, "optional-dependencies").items()},
    }
    named_groups, pipfile = table(pyproject, "dependency-groups"), toml(tree / "Pipfile")
    return Declared(
        files=tuple(sorted({*_own_files(tree), *dynamic.files})),
        is_project=_is_project(tree, pyproject, config),
        backend=str(table(pyproject, "build-system").get("build-backend", "")),
        requires_python=str(
            project.get("requires-python")
            or poetry.specifiers(str(table(old_poetry, "dependencies").get("python", "")))
            or flit.get("requires-python")
            or options.get("python_requires")
            or script.requires_python
        ).strip(),
        dependencies=(
            *strings(project.get("dependencies")),
            *poetry.requirements(table(old_poetry, "dependencies")),
            *strings(flit.get("requires")),
            *dynamic.dependencies,
            *script.dependencies,
            *poetry.requirements(table(pipfile, "packages")),
        ),
        extras=extras,
        test_lines=(
            *_tool_lines(pyproject, table(toml(tree / "hatch.toml"), "envs"), extras),
            *lines(options.get("tests_require", "")),
            *script.tests,
            *poetry.requirements(table(pipfile, "dev-packages")),
        ),
        groups={name: groups.requirements(named_groups, name) for name in named_groups if is_for_tests(name)},
        requirements=code,
        test_requirements=tests,
        lock=next((name for name in LOCKS if _can_decide(tree, name)), ""),
        conda=conda.read(tree),
        tox=tox.test_requirements(tree),
    )


def names(tree: Path, declared: Declared, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the canonical names of what the code needs in an environment with these markers."""
    wanted = [
        *declared.dependencies,
        *(line for file in declared.requirements for line in requirement_files.lines(tree, file)),
    ]
    found: set[str] = set()
    for line in wanted:
        try:
            need = Requirement(line.split(" #")[0].strip())
        except InvalidRequirement:
            continue
        if need.marker is None or need.marker.evaluate({"extra": "", **environment}):
            found.add(canonicalize_name(need.name))
    return tuple(sorted(found))


class _Dynamic:
    """What setuptools reads from setup.cfg and from the files that setup.cfg and pyproject.toml name.

    Attributes:
        files: Those files.
    """

    def __init__(
        self, tree: Path, dynamic: Mapping[str, Any], config: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._tree = tree
        self.files: list[str] = []
        options = config.get("options", {})
        self.dependencies = [
            *self._value(options.get("install_requires", "")),
            *self._of_files(table(dynamic, "dependencies").get("file")),
        ]
        extras = config.get("options.extras_require", {})
        self.extras = {name: tuple(self._value(text)) for name, text in extras.items()}
        for name, row in table(dynamic, "optional-dependencies").items():
            self.extras[name] = tuple(self._of_files(row.get("file") if isinstance(row, Mapping) else None))

    def _value(self, text: str) -> list[str]:
        if text.strip().startswith("file:"):
            return self._of_files([name.strip() for name in text.strip().removeprefix("file:").split(",")])
        return lines(text)

    def _of_files(self, named: object) -> list[str]:
        names = [named] if isinstance(named, str) else strings(named)
        self.files += requirement_files.closure(self._tree, names)
        found = (line for name in names for line in requirement_files.lines(self._tree, name))
        return [line.strip() for line in found if line.strip() and not line.strip().startswith("#")]


def _own_files(tree: Path) -> list[str]:
    found = [name for name in OWN_FILES if (tree / name).is_file()]
    if "setup.py" in found:  # which may read any of them
        places = ("*requirements*.txt", "*requirements*/*.txt")
        found += [path.relative_to(tree).as_posix() for place in places for path in tree.glob(place)]
    return found


def _is_project(tree: Path, pyproject: Mapping[str, Any], config: Mapping[str, Mapping[str, str]]) -> bool:
    if table(pyproject, "tool", "uv").get("package") is False:
        return False
    if table(pyproject, "tool", "poetry").get("package-mode") is False:
        return False
    if table(pyproject, "tool", "pdm").get("distribution") is False:
        return False
    if (tree / "setup.py").is_file() or "project" in pyproject:
        return True
    return "build-system" in pyproject and bool(
        table(pyproject, "tool", "poetry") or table(pyproject, "tool", "flit") or "metadata" in config
    )


def _can_decide(tree: Path, lock: str) -> bool:
    """Tell whether a lock file is there, and with it the file that it was made for."""
    made_for = "pyproject.toml" if lock != "Pipfile.lock" else lock
    return (tree / lock).is_file() and (tree / made_for).is_file()


def _tool_lines(
    pyproject: Mapping[str, Any], hatch: Mapping[str, Any], extras: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """Return what tests need by the tables of poetry, pdm, uv and hatch."""
    tool = table(pyproject, "tool")
    found = poetry.requirements(table(tool, "poetry", "dev-dependencies"))
    for name, group in table(tool, "poetry", "group").items():
        if is_for_tests(name) and isinstance(group, Mapping):
            found += poetry.requirements(table(group, "dependencies"))
    for name, group in table(tool, "pdm", "dev-dependencies").items():
        if is_for_tests(name):
            found += [line for line in strings(group) if not line.startswith("-e")]
    found += strings(table(tool, "uv").get("dev-dependencies"))
    for name, group in {**table(tool, "hatch", "envs"), **hatch}.items():
        if (name == "default" or is_for_tests(name)) and isinstance(group, Mapping):
            found += [*strings(group.get("dependencies")), *strings(group.get("extra-dependencies"))]
            found += [line for extra in strings(group.get("features")) for line in extras.get(extra, ())]
    return [line for line in dict.fromkeys(found) if "{root:" not in line]
