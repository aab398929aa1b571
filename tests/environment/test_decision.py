"""Which files decide what is installed, and the key that is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.environment import decision, declared, digest
from bot.environment.decision import Decision

PROJECT = '[project]\nname = "a"\nversion = "1"\ndependencies = ["requests"]\n'
BUILD = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'


def write(tree: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(content)


def decide(tree: Path, files: Mapping[str, str] = {}) -> Decision:
    write(tree, files)
    return decision.decide(tree, declared.read(tree))


def key(tree: Path, *more: str) -> str:
    wanted = declared.read(tree)
    return digest.key(tree, decision.decide(tree, wanted).files, *more, native=wanted.is_project)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            {"pyproject.toml": PROJECT + BUILD, "uv.lock": "", "poetry.lock": "", "requirements.txt": ""},
            "The dependencies are the versions in uv.lock, since a lock file decides.",
        ),
        (
            {"pyproject.toml": PROJECT, "pdm.lock": "", "requirements-dev.txt": ""},
            "The dependencies are the versions in pdm.lock, since a lock file decides; for the tests also requirements-dev.txt.",
        ),
        (
            {
                "pyproject.toml": f'{PROJECT}optional-dependencies.test = ["x"]\n{BUILD}[dependency-groups]\ndev = ["y"]',
                "requirements.txt": "",
            },
            "The dependencies are those of pyproject.toml (hatchling.build) and requirements.txt, for the tests with the extra "
            "test, the group dev; there is no lock file.",
        ),
        (
            {"pyproject.toml": "[tool.black]\n", "setup.py": "", "tox.ini": "[testenv]\ndeps = mock\n"},
            "The dependencies are those of setup.py, for the tests with the `deps` of tox.ini; there is no lock file.",
        ),
        (
            {"requirements.txt": "a", "environment.yml": "dependencies: [{pip: [b]}]"},
            "The dependencies are those of requirements.txt; there is no project to install.",
        ),
        (
            {"environment.yml": "dependencies: [{pip: [b]}]"},
            "The dependencies are those of the pip part of environment.yml; no other file names any.",
        ),
        ({"Pipfile": "[packages]\na = '*'\n"}, "The dependencies are those of Pipfile."),
        ({}, "No file names dependencies, so there is pytest and coverage alone."),
    ],
    ids=["uv", "pdm", "project", "legacy", "requirements", "conda", "pipfile", "nothing"],
)
def test_what_decides_is_said(tmp_path: Path, files: Mapping[str, str], sentence: str) -> None:
    assert decide(tmp_path, files).because == sentence


def test_a_lock_without_the_project_that_it_was_made_for_does_not_decide(tmp_path: Path) -> None:
    assert decide(tmp_path, {"uv.lock": "", "requirements.txt": ""}).lock == ""


def test_what_only_conda_installs_is_named(tmp_path: Path) -> None:
    found = decide(
        tmp_path,
        {"environment.yml": "dependencies:\n- python=3.11\n- gdal>=3\n- numpy\n- pip\n- pip: [attrs]\n"},
    )

    assert found.dependencies == ("attrs",)
    assert len(found.notes) == 1
    assert found.notes[0].startswith("environment.yml also names gdal, numpy, which only conda installs")


def test_tox_is_asked_only_where_nothing_else_says_what_tests_need(tmp_path: Path) -> None:
    tox = {"pyproject.toml": PROJECT, "tox.ini": "[testenv]\ndeps =\n    mock\n"}

    assert decide(tmp_path, tox).test_lines == ("mock",)
    assert decide(tmp_path, {"requirements-test.txt": ""}).test_lines == ()


def test_the_key_is_made_of_the_files_that_decide(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": PROJECT,
            "uv.lock": "1",
            "requirements.txt": "not asked, since the lock decides",
            "requirements-test.txt": "-r more/shared.txt\n-c limits.txt\n",
            "more/shared.txt": "a",
            "limits.txt": "a<2",
            "code.py": "X = 1",
            "README.md": "",
        },
    )
    first = key(tmp_path)

    for name in ("code.py", "README.md", "requirements.txt", "tests/test_a.py"):
        write(tmp_path, {name: "changed"})
        assert key(tmp_path) == first, name
    seen = {first, key(tmp_path, "3.12")}
    for name in ("uv.lock", "pyproject.toml", "requirements-test.txt", "more/shared.txt", "limits.txt"):
        (tmp_path / name).write_text((tmp_path / name).read_text() + "\n# changed\n")
        seen.add(key(tmp_path))
    assert len(seen) == 7


def test_sources_of_compiled_extensions_count_where_there_is_a_project(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": PROJECT, "a/fast.pyx": "1", "a/slow.py": "1"})
    first = key(tmp_path)
    write(tmp_path, {"a/slow.py": "2"})
    assert key(tmp_path) == first
    write(tmp_path, {"a/fast.pyx": "2"})
    assert key(tmp_path) != first


def test_files_that_setuptools_reads_count(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": '[project]\nname = "a"\ndynamic = ["dependencies", "optional-dependencies"]\n'
            '[tool.setuptools.dynamic]\ndependencies = {file = ["deps/run.in"]}\n'
            'optional-dependencies.test = {file = "deps/test.in"}\n',
            "deps/run.in": "attrs>=1 # why\n-r base.in\n",
            "deps/base.in": "idna\n",
            "deps/test.in": "mock\n",
        },
    )
    wanted = declared.read(tmp_path)
    first = key(tmp_path)

    assert wanted.dependencies == ("attrs>=1 # why", "idna")
    assert wanted.extra_lines == ("mock",)
    write(tmp_path, {"deps/base.in": "idna<4\n"})
    assert key(tmp_path) != first
