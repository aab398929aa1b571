"""A repository's tests as its files and its pytest configuration show them, and what each of them is about."""

from __future__ import annotations

import ast
import configparser
import fnmatch
import re
import tomllib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.domain import Target
from bot.select.statements import DEFINITIONS

Read = Callable[[str], str]

TEST_DIRECTORIES = ("tests", "test", "testing", "unit_tests", "unittests")


@dataclass(frozen=True, slots=True)
class TestLayout:
    """Tests and sources of a repository, and how pytest is told to find the tests."""

    __test__ = False

    tests: tuple[str, ...]
    sources: tuple[str, ...]
    patterns: tuple[str, ...]
    testpaths: tuple[str, ...]
    importlib: bool
    files: frozenset[str]


def read_layout(files: Sequence[str], read: Read, directory: str | None) -> TestLayout:
    settings = _pytest_settings(frozenset(files), read)
    patterns = tuple(settings.get("python_files", "").split()) or ("test_*.py", "*_test.py")
    below = f"{directory.strip('/')}/" if directory and directory.strip("/.") else ""
    python = sorted(path for path in files if path.endswith(".py"))
    tests = [path for path in python if _is_test(path, patterns)]
    chosen = [path for path in tests if path.startswith(below)]
    named = {path for path in python if _in_test_directory(path)}
    return TestLayout(
        tests=tuple(chosen),
        sources=tuple(path for path in python if path not in tests and path not in named),
        patterns=patterns,
        testpaths=tuple(path.strip("/") for path in settings.get("testpaths", "").split()),
        importlib="importlib" in settings.get("addopts", ""),
        files=frozenset(files),
    )


def _is_test(path: str, patterns: Sequence[str]) -> bool:
    name = PurePosixPath(path).name
    if name in ("tests.py", "test.py"):
        return True
    return any(fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(path, pattern) for pattern in patterns)


def _in_test_directory(path: str) -> bool:
    return any(part in TEST_DIRECTORIES for part in PurePosixPath(path).parts[:-1])


def _pytest_settings(present: Collection[str], read: Read) -> dict[str, str]:
    """Return pytest's settings as text, from the file that pytest itself would take."""
    for path, section in (
        ("pytest.ini", "pytest"),
        (".pytest.ini", "pytest"),
        ("pyproject.toml", ""),
        ("tox.ini", "pytest"),
        ("setup.cfg", "tool:pytest"),
    ):
        if path not in present:
            continue
        try:
            if not section:
                found = tomllib.loads(read(path)).get("tool", {}).get("pytest", {}).get("ini_options", {})
                values = {key: " ".join(v) if isinstance(v, list) else str(v) for key, v in found.items()}
            else:
                parser = configparser.ConfigParser(interpolation=None, strict=False)
                parser.read_string(read(path))
                values = dict(parser[section]) if section in parser else {}
        except (OSError, ValueError, RecursionError, configparser.Error):
            continue
        if values or path == "pytest.ini":
            return values
    return {}


def names_for(target: Target) -> tuple[str, ...]:
    """Return the names, without `test_`, under which a target's tests are looked for; the most usual first."""
    parts = [part for part in target.module.split(".") if part]
    stem = PurePosixPath(target.path).stem
    if stem == "__init__":
        parts, stem = parts or [PurePosixPath(target.path).parent.name], (parts or [""])[-1]
    names = [stem, stem.strip("_")]
    names += ["_".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]
    names += [name.strip("_") for name in names]
    return tuple(dict.fromkeys(name for name in names if name))


def stem_of(path: str) -> str:
    """Return a test file's name without what marks it as a test."""
    stem = PurePosixPath(path).stem
    return re.sub(r"^tests?_|_tests?$", "", stem)


def imports(layout: TestLayout, source: str, target: Target) -> tuple[int, int]:
    """Return how surely a file imports the target (2: itself, 1: a package above it, 0: not), and how many siblings."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return 0, 0
    own, others = 0, set()
    top = target.module.split(".")[0]
    above = {target.module.rsplit(".", cut)[0] for cut in range(1, target.module.count(".") + 1)}
    defined = _defined(target.source)
    modules = {PurePosixPath(path).stem for path in layout.sources}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                own = max(own, 2 if alias.name == target.module else int(alias.name in above))
                if (
                    alias.name.startswith(f"{top}.")
                    and alias.name != target.module
                    and alias.name not in above
                ):
                    others.add(alias.name)
        elif isinstance(node, ast.ImportFrom) and (node.module or node.level):
            module = node.module or ""
            names = {alias.name for alias in node.names}
            whole = module == target.module or any(f"{module}.{name}" == target.module for name in names)
            if whole or (node.level and module.split(".")[-1] == target.module.rsplit(".", 1)[-1]):
                own = 2
            elif module in above:
                own = max(own, 2 if names & defined else 1)
                others.update(f"{module}.{name}" for name in names & modules - defined)
            elif module.startswith(f"{top}."):
                others.add(module)
    return own, len(others)


def _defined(source: str) -> frozenset[str]:
    """Return the names of the functions and classes at a module's top level."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return frozenset()
    return frozenset(node.name for node in body if isinstance(node, DEFINITIONS))


def text_of(read: Read, path: str) -> str:
    try:
        return read(path)
    except (OSError, ValueError):
        return ""


def parent_of(path: str) -> str:
    return plain(PurePosixPath(path).parent)


def plain(directory: PurePosixPath) -> str:
    return "" if str(directory) == "." else str(directory)
