"""Dependency files read as data."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from bot.environment import declared, poetry
from bot.environment.declared import Declared


def read(tree: Path, **files: str) -> Declared:
    for name, content in files.items():
        path = tree / name.replace("__", "/").replace("_toml", ".toml").replace("_cfg", ".cfg").replace(
            "_py", ".py"
        )
        path.write_text(content)
    return declared.read(tree)


def test_a_standard_project_is_read(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        pyproject_toml="""
            [project]
            name = "a"
            requires-python = ">=3.10"
            dependencies = ["requests>=2"]
            [project.optional-dependencies]
            test = ["pytest-mock"]
            docs = ["sphinx"]
            [dependency-groups]
            dev = ["inflection"]
            lint = ["ruff"]
        """,
    )

    assert found == Declared(
        files=("pyproject.toml",),
        is_project=True,
        requires_python=">=3.10",
        dependencies=("requests>=2",),
        extras={"test": ("pytest-mock",), "docs": ("sphinx",)},
        groups={"dev": ("inflection",)},
    )
    assert found.extra_lines == ("pytest-mock",)


def test_poetry_is_read(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        pyproject_toml="""
            [build-system]
            requires = ["poetry-core"]
            [tool.poetry]
            name = "a"
            [tool.poetry.dependencies]
            python = "^3.9"
            requests = "^2.3"
            rich = {version = "*", optional = true}
            tomli = {version = ">=1", python = "<3.11"}
            [tool.poetry.dev-dependencies]
            mock = "*"
            [tool.poetry.group.test.dependencies]
            pytest-mock = "~3.1"
            [tool.poetry.group.docs.dependencies]
            sphinx = "*"
        """,
    )

    assert found.is_project
    assert found.requires_python == ">=3.9,<4"
    assert found.dependencies == ("requests>=2.3,<3", "tomli>=1 ; (python_version < '3.11')")
    assert found.test_lines == ("mock", "pytest-mock>=3.1,<3.2")


def test_flit_pdm_and_hatch_are_read(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        pyproject_toml="""
            [build-system]
            requires = ["flit_core"]
            [tool.flit.metadata]
            module = "a"
            requires = ["requests"]
            requires-python = ">=3.9"
            [tool.flit.metadata.requires-extra]
            test = ["mock"]
            [tool.pdm.dev-dependencies]
            test = ["pytest-mock", "-e file:///x"]
            [tool.hatch.envs.default]
            dependencies = ["inflection"]
            [tool.hatch.envs.lint]
            dependencies = ["ruff"]
        """,
    )

    assert (found.is_project, found.requires_python, found.dependencies) == (True, ">=3.9", ("requests",))
    assert found.extra_lines == ("mock",)
    assert found.test_lines == ("pytest-mock", "inflection")


def test_setup_cfg_and_setup_py_are_read_without_running_them(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        setup_cfg="[options]\npython_requires = >=3.9\ninstall_requires =\n    requests\n    # no\n    attrs>=1\n[options.extras_require]\ntests = mock\n",
        setup_py=(
            "import setuptools\nraise_if_run = 1 / 0\nNEEDS = ['six']\n"
            "setuptools.setup(install_requires=NEEDS, extras_require={'dev': ['tox']}, tests_require=['nose'], name=compute())\n"
        ),
    )

    assert found.is_project
    assert found.dependencies == ("requests", "attrs>=1", "six")
    assert found.extra_lines == ("tox", "mock")
    assert found.test_lines == ("nose",)


def test_requirements_files_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    for name in (
        *(
            "requirements.txt",
            "requirements-dev.txt",
            "test-requirements.txt",
            "requirements_docs.txt",
            "notes.txt",
        ),
        *("requirements/base.txt", "requirements/tests.txt", "requirements/lint.txt"),
    ):
        (tmp_path / name).write_text("")

    found = declared.read(tmp_path)

    assert found.requirements == ("requirements/base.txt", "requirements.txt")
    assert found.test_requirements == (
        "requirements/tests.txt",
        "requirements-dev.txt",
        "test-requirements.txt",
    )
    assert not found.is_project


@pytest.mark.parametrize(
    "content",
    [
        "[project",
        "[tool.black]\nline-length = 3",
        "",
        "\udcff",
        "[tool.uv]\npackage = false\n[project]\nname = 'a'",
    ],
)
def test_a_pyproject_that_is_none_of_a_project_is_not_built(tmp_path: Path, content: str) -> None:
    (tmp_path / "pyproject.toml").write_text(content, errors="surrogateescape")

    assert not declared.read(tmp_path).is_project


def test_names_follow_included_files_and_markers(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "-r more.txt\nFoo_Bar==1 --hash=sha256:0\nold; python_version < '3'\n-e .\n# comment\nhttps://x/y.whl\n-r ../outside.txt\n"
    )
    (tmp_path / "more.txt").write_text("baz[extra]>=2  # why\n-r requirements.txt\n")
    (tmp_path.parent / "outside.txt").write_text("outside\n")

    assert declared.names(tmp_path, declared.read(tmp_path), {"python_version": "3.11"}) == ("baz", "foo-bar")


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^0", ">=0,<1"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("~=1.4", "~=1.4"),
        ("1.2", "==1.2"),
        ("1.*", "==1.*"),
        ("*", ""),
        (">= 1.2, < 3", ">=1.2,<3"),
        (">=1.2 <3", ">=1.2,<3"),
        ("^1 || ^2", ""),
        ("what?", ""),
    ],
)
def test_poetrys_constraints_are_told_as_specifiers(constraint: str, expected: str) -> None:
    assert poetry.specifiers(constraint) == expected


@pytest.mark.parametrize("constraint", ["^*", "~*"])
def test_a_caret_or_tilde_without_a_version_allows_any(constraint: str) -> None:
    assert poetry.specifiers(constraint) == ""


@given(st.text(alphabet="^~<>=!*.,| 0123456789abv-", max_size=20))
def test_any_constraint_gives_valid_specifiers_or_something_uv_refuses(constraint: str) -> None:
    assert isinstance(poetry.specifiers(constraint), str)


@given(st.lists(st.integers(0, 99), min_size=1, max_size=3))
def test_a_caret_always_allows_the_version_that_it_names(numbers: list[int]) -> None:
    version = ".".join(map(str, numbers))

    assert version in SpecifierSet(poetry.specifiers(f"^{version}"))
    assert version in SpecifierSet(poetry.specifiers(f"~{version}"))


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        ({"git": "https://x/y.git", "tag": "v1"}, "a @ git+https://x/y.git@v1"),
        ({"path": "../lib"}, "../lib"),
        ({"path": "lib"}, "./lib"),
        ({"version": "^1", "extras": ["b", "c"]}, "a[b,c]>=1,<2"),
        ({"version": "*", "markers": "sys_platform == 'win32'"}, "a ; (sys_platform == 'win32')"),
    ],
)
def test_poetrys_tables_are_told_as_requirements(wanted: dict[str, object], line: str) -> None:
    assert poetry.requirements({"a": wanted, "python": "^3.9"}) == [line]
