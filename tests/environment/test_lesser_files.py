"""The smaller sources of dependencies: conda, tox, dependency groups, included requirements files, names for tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.environment import conda, declared, groups, requirement_files, tox
from bot.environment.conda import Conda
from bot.environment.naming import is_for_tests


def test_condas_file_is_told_apart_into_python_pip_and_the_rest(tmp_path: Path) -> None:
    (tmp_path / "environment.yml").write_text(
        "name: x\nchannels: [conda-forge]\ndependencies:\n  - python>=3.10,<3.12\n  - conda-forge::gdal=3.6=py310\n"
        "  - numpy\n  - pip\n  - pip:\n    - attrs>=1\n    - -r more.txt\n"
    )

    assert conda.read(tmp_path) == Conda(
        "environment.yml", ">=3.10,<3.12", ("attrs>=1", "-r more.txt"), ("gdal", "numpy")
    )


@pytest.mark.parametrize(
    ("wanted", "python"),
    [
        ("python=3.11", "==3.11.*"),
        ("python ==3.11.4", "==3.11.4"),
        ("python=3.11.*", "==3.11.*"),
        ("python 3.10.*", "==3.10.*"),
        ("python>=3.9", ">=3.9"),
        ("python=3.9|3.10", ""),
        ("python", ""),
    ],
)
def test_condas_python_is_told_as_specifiers(tmp_path: Path, wanted: str, python: str) -> None:
    (tmp_path / "environment.yaml").write_text(f"dependencies: ['{wanted}']\n")

    assert conda.read(tmp_path).python == python


@pytest.mark.parametrize("text", ["", "[1", "dependencies: 3", "- a", "a: &x [1]\ndependencies: *x", "\0"])
def test_a_file_of_conda_that_is_none_is_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "environment.yml").write_text(text)

    assert conda.read(tmp_path) == Conda()


def test_tox_gives_what_holds_in_every_environment(tmp_path: Path) -> None:
    (tmp_path / "tox.ini").write_text(
        "[tox]\nenvlist = py311\n[testenv]\ndeps =\n    pytest>=7  # runs\n    mock[extra] >= 1; python_version > '3'\n"
        "    py39: backport\n    py{39,310}-old: other\n    {[base]deps}\n    -r{toxinidir}/more.txt\n    # none\n    .[test]\n"
    )
    (tmp_path / "more.txt").write_text("attrs\n-r even.txt\n")
    (tmp_path / "even.txt").write_text("idna\n")

    assert tox.test_requirements(tmp_path) == (
        "tox.ini",
        ("pytest>=7", "mock[extra] >= 1; python_version > '3'", "attrs", "idna"),
    )


def test_a_group_holds_what_it_includes_once() -> None:
    table = {
        "Test": ["pytest", {"include-group": "typing_more"}, "attrs"],
        "typing-more": ["mypy", "attrs", {"include-group": "Test"}, {"include-group": "missing"}, 3],
    }

    assert groups.requirements(table, "test") == ("pytest", "mypy", "attrs")


def test_included_files_and_local_projects_are_followed_within_the_tree(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "setup.py").write_text("")
    (tmp_path.parent / "outside.txt").write_text("x")
    (tmp_path / "a.txt").write_text(
        "-r b.txt\n--constraint=c.txt\n-e ./lib[fast]\n-r ../outside.txt\nrequests\n"
    )
    (tmp_path / "b.txt").write_text("-ra.txt\n")
    (tmp_path / "c.txt").write_text("requests<3\n")

    assert requirement_files.closure(tmp_path, ["a.txt"]) == ("a.txt", "b.txt", "c.txt", "lib/setup.py")
    assert [line for line in requirement_files.lines(tmp_path, "a.txt") if line.startswith("req")] == [
        "requests"
    ]


def test_requirements_beside_the_tests_are_theirs(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "requirements.txt").write_text("mock\n")
    (tmp_path / "requirements-unit.txt").write_text("mock\n")

    assert requirement_files.find(tmp_path) == ((), ("requirements-unit.txt", "tests/requirements.txt"))


@pytest.mark.parametrize(
    "name", ["test", "Tests", "dev", "unit-tests", "test_requires", "hatch-test", "dev-dependencies"]
)
def test_names_for_tests_are_known(name: str) -> None:
    assert is_for_tests(name)


@pytest.mark.parametrize("name", ["docs", "lint", "test-docs", "dev-lint", "all", "contest", ""])
def test_other_names_are_not(name: str) -> None:
    assert not is_for_tests(name)


def test_hatchs_environments_bring_the_extras_that_they_name(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "a"\n[project.optional-dependencies]\nextra = ["attrs"]\n'
        '[tool.hatch.envs.default]\nfeatures = ["extra"]\ndependencies = ["mock", "x @ {root:uri}/x"]\n'
    )
    (tmp_path / "hatch.toml").write_text(
        '[envs.hatch-test]\nextra-dependencies = ["idna"]\n[envs.docs]\ndependencies = ["s"]'
    )

    assert declared.read(tmp_path).test_lines == ("mock", "attrs", "idna")
