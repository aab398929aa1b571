"""Which version of Python is taken, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.environment import declared, python_choice
from bot.environment.python_choice import Wish

ALL = ("3.9.18", "3.10.13", "3.11.7", "3.12.1", "3.13.0", "3.14.0")


def wish(tree: Path, pinned: str | None = None) -> Wish:
    return python_choice.read(tree, declared.read(tree), pinned)


def chosen(tree: Path, *there: str, pinned: str | None = None) -> str:
    found = python_choice.choose(wish(tree, pinned), there or ALL)
    return found.version if found else ""


def because(tree: Path, *there: str, pinned: str | None = None) -> str:
    found = python_choice.choose(wish(tree, pinned), there or ALL)
    assert found is not None
    return found.because


def test_without_a_word_from_the_repository_the_usual_one_is_taken(tmp_path: Path) -> None:
    assert chosen(tmp_path) == "3.12.1"
    assert chosen(tmp_path, "3.9.18", "3.14.0") == "3.14.0"


def test_the_configuration_wins_over_all(tmp_path: Path) -> None:
    (tmp_path / ".python-version").write_text("3.11\n")

    assert chosen(tmp_path, pinned="3.10") == "3.10.13"
    assert chosen(tmp_path, "3.11.7", pinned="3.10") == ""


@pytest.mark.parametrize("text", ["3.11\n", "3.11.4\n", "# ours\ncpython-3.11.2\n", "3.11.4/envs/mine\n"])
def test_the_file_of_pyenv_and_uv_is_followed(tmp_path: Path, text: str) -> None:
    (tmp_path / ".python-version").write_text(text)

    assert chosen(tmp_path) == "3.11.7"
    assert because(tmp_path) == "Python 3.11, as .python-version says."


def test_where_the_preferred_one_is_missing_the_nearest_is_taken_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / ".python-version").write_text("3.10")

    assert chosen(tmp_path, "3.9.18", "3.12.1", "3.13.0") == "3.9.18"
    assert because(tmp_path, "3.13.0") == "Python 3.13, since 3.10, which .python-version names, is not here."


def test_a_preference_that_the_project_forbids_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".python-version").write_text("3.9")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\nrequires-python = ">=3.11"\n')

    assert chosen(tmp_path) == "3.11.7"
    assert "will not do" in because(tmp_path)


def test_what_the_project_requires_bounds_the_choice(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\nrequires-python = ">=3.9,<3.11"\n')

    assert chosen(tmp_path) == "3.10.13"
    assert chosen(tmp_path, "3.12.1") == ""
    assert because(tmp_path) == "Python 3.10, which the project allows (>=3.9,<3.11)."


def test_poetry_pipfile_and_conda_are_asked(tmp_path: Path) -> None:
    (tmp_path / "environment.yml").write_text("dependencies: [python=3.13, numpy]\n")
    assert chosen(tmp_path) == "3.13.0"
    (tmp_path / "Pipfile").write_text('[requires]\npython_version = "3.13"\n[packages]\n')
    assert because(tmp_path) == "Python 3.13, as Pipfile says."
    (tmp_path / "Pipfile").unlink()
    (tmp_path / "pyproject.toml").write_text(
        '[tool.poetry]\nname = "a"\n[tool.poetry.dependencies]\npython = "~3.10"\n'
    )
    assert chosen(tmp_path) == "3.10.13"


def test_what_testforge_cannot_run_on_is_never_taken(tmp_path: Path) -> None:
    (tmp_path / ".python-version").write_text("3.8")

    assert chosen(tmp_path, "3.8.18") == ""
    assert chosen(tmp_path, "3.8.18", "3.9.18") == "3.9.18"
    assert "will not do" in because(tmp_path, "3.9.18")


def test_specifiers_that_are_none_are_as_if_there_were_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\nrequires-python = "three"\n')

    assert chosen(tmp_path) == "3.12.1"


def test_a_version_with_more_digits_than_a_number_may_have_rules_nothing_out() -> None:
    assert Wish(f">={'9' * 5000}").accepts("3.12.1")
