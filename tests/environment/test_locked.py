"""Environments made from lock files: exactly what is locked is there, and what is said where that cannot be."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from uv import find_uv_bin

from bot.sandbox import Interpreter

Prepare = Callable[..., Interpreter]
Run = Callable[[Interpreter, str], str]

LISTED = "import importlib.metadata as m; print(*sorted(d.metadata['Name'] for d in m.distributions() if 'testforge' in d.metadata['Name']))"
PROJECT = (
    '[project]\nname = "mine"\nversion = "1"\ndependencies = ["testforge-alpha"]\n'
    '[dependency-groups]\ntest = ["testforge-beta"]\n[tool.uv]\npackage = false\n'
)


@pytest.fixture
def hash_of(wheels: Path) -> Callable[[str], str]:
    def hasher(name: str) -> str:
        content = (wheels / f"testforge_{name}-1.0-py3-none-any.whl").read_bytes()
        return f"sha256:{hashlib.sha256(content).hexdigest()}"

    return hasher


def poetry_lock(*rows: tuple[str, str]) -> str:
    return "".join(
        f'[[package]]\nname = "testforge-{name}"\nversion = "1.0"\nfiles = [{{file = "x.whl", hash = "{found}"}}]\n'
        for name, found in rows
    )


@pytest.mark.slow
def test_uv_lock_gives_the_code_and_its_group_for_tests(
    prepare: Prepare, python: Run, tree: Path, wheels: Path, notes: list[str]
) -> None:
    (tree / "pyproject.toml").write_text(PROJECT)
    subprocess.run(
        [find_uv_bin(), "-q", "lock", "--no-index", "--find-links", str(wheels), "--directory", str(tree)],
        check=True,
    )

    found = prepare({"requirements.txt": "testforge-gamma\n"})

    assert python(found, LISTED) == "testforge_alpha testforge_beta"
    assert "The dependencies are the versions in uv.lock, since a lock file decides." in notes
    assert python(found, "import pytest, coverage; print('ok')") == "ok"


@pytest.mark.slow
def test_poetry_lock_is_installed_with_its_hashes_checked(
    prepare: Prepare, python: Run, notes: list[str], hash_of: Callable[[str], str]
) -> None:
    files = {
        "pyproject.toml": PROJECT,
        "poetry.lock": poetry_lock(
            ("alpha", hash_of("alpha")), ("beta", hash_of("beta")), ("gamma", hash_of("gamma"))
        ),
    }

    assert python(prepare(files), LISTED) == "testforge_alpha testforge_beta"
    assert not any("cannot" in note for note in notes)


@pytest.mark.slow
def test_a_lock_whose_hashes_are_wrong_gives_way_to_what_the_project_allows(
    prepare: Prepare, python: Run, notes: list[str]
) -> None:
    found = prepare(
        {
            "pyproject.toml": PROJECT,
            "poetry.lock": poetry_lock(("alpha", "sha256:" + "0" * 64), ("beta", "sha256:" + "0" * 64)),
        }
    )

    assert python(found, LISTED) == "testforge_alpha testforge_beta"
    told = next(note for note in notes if "cannot be installed" in note)
    assert told.startswith("The versions in poetry.lock cannot be installed with Python 3.")
    assert "hash" in told.lower()


@pytest.mark.slow
def test_what_a_lock_lacks_is_installed_and_told(
    prepare: Prepare, python: Run, notes: list[str], hash_of: Callable[[str], str]
) -> None:
    found = prepare({"pyproject.toml": PROJECT, "pdm.lock": poetry_lock(("beta", hash_of("beta")))})

    assert python(found, LISTED) == "testforge_alpha testforge_beta"
    assert any(note.startswith("pdm.lock lacks testforge-alpha,") for note in notes)


@pytest.mark.slow
def test_a_repository_that_a_lock_names_and_that_cannot_be_had_leaves_the_rest(
    prepare: Prepare, python: Run, notes: list[str], hash_of: Callable[[str], str]
) -> None:
    lock = {
        "default": {
            "testforge-alpha": {"version": "==1.0", "hashes": [hash_of("alpha")]},
            "forked": {"git": "file:///nowhere/at/all", "ref": "abc"},
            "far": {"path": "../far"},
        },
        "develop": {"testforge-beta": {"version": "==1.0", "hashes": [hash_of("beta")]}},
    }

    found = prepare({"Pipfile": "[packages]\n", "Pipfile.lock": json.dumps(lock)})

    assert python(found, LISTED) == "testforge_alpha testforge_beta"
    assert any("`forked @ git+file:///nowhere/at/all@abc` failed" in note for note in notes)
    assert any("Pipfile.lock takes far from ../far" in note for note in notes)


@pytest.mark.slow
def test_the_pip_part_of_condas_file_and_the_deps_of_tox_are_installed(
    prepare: Prepare, python: Run, notes: list[str]
) -> None:
    found = prepare(
        {
            "environment.yml": "dependencies:\n- gdal\n- pip:\n  - testforge-alpha\n",
            "tox.ini": "[testenv]\ndeps =\n  testforge-beta\n  py27: testforge-gamma\n",
        }
    )

    assert python(found, LISTED) == "testforge_alpha testforge_beta"
    assert any("also names gdal, which only conda installs" in note for note in notes)


@pytest.mark.slow
def test_a_requirements_file_that_cannot_be_had_does_not_keep_the_project_out(
    prepare: Prepare, python: Run, notes: list[str]
) -> None:
    found = prepare(
        {
            "setup.py": "from setuptools import setup\nsetup(name='mine', py_modules=['mine'], install_requires=['testforge-alpha'])",
            "mine.py": "",
            "requirements.txt": "testforge-alpha==99\n",
        }
    )

    assert python(found, f"import mine; {LISTED}") == "testforge_alpha"
    assert any("`uv pip install -r requirements.txt` failed" in note for note in notes)
