"""Environments made for a repository: what is in them, how they are kept, and what is said when they cannot be made."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import environment, repoconfig
from bot.errors import InstallationError
from bot.sandbox import Interpreter
from tests.environment.replacing import REPLACING

Prepare = Callable[..., Interpreter]
Run = Callable[[Interpreter, str], str]

PROJECT = """
    [build-system]
    requires = ["setuptools"]
    build-backend = "setuptools.build_meta"
    [project]
    name = "mine"
    version = "1.2"
    dependencies = ["testforge-alpha"]
    [project.optional-dependencies]
    test = ["testforge-beta; python_version >= '3'"]
    all = ["mine[test]"]
    [project.scripts]
    mine = "mine:main"
    [dependency-groups]
    dev = ["testforge-gamma"]
"""


def test_a_repository_that_declares_nothing_gets_pytest_and_coverage(prepare: Prepare, python: Run) -> None:
    found = prepare({"code.py": "X = 1"})

    assert python(found, "import pytest, coverage, code; print('ok')") == "ok"
    assert found.version == f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.mark.slow
def test_a_project_is_installed_with_metadata_extras_and_groups_for_tests(
    prepare: Prepare, python: Run, notes: list[str]
) -> None:
    found = prepare({"pyproject.toml": PROJECT, "mine/__init__.py": "main = print"})

    program = (
        "import importlib.metadata as m, testforge_alpha, testforge_beta, testforge_gamma, mine, shutil\n"
        "print(m.version('mine'), mine.__file__.startswith('/testforge/tree') or '/tree/' in mine.__file__, bool(shutil.which('mine')))"
    )
    assert python(found, program) == "1.2 True True"
    assert [note for note in notes if "not" in note] == []


def test_the_same_dependency_files_use_the_same_environment_without_installing(
    prepare: Prepare, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"requirements.txt": "testforge-alpha\n"}
    first = prepare(files)
    notes.clear()
    monkeypatch.setattr("uv.find_uv_bin", lambda: "/nowhere/uv")

    assert prepare({"code.py": "changed = 1"}) == first
    assert not any("Installing" in note for note in notes)


def test_changed_dependency_files_get_another_environment(prepare: Prepare, python: Run) -> None:
    first = prepare({"requirements.txt": "testforge-alpha\n"})
    second = prepare({"requirements.txt": "testforge-beta\n"})

    assert first.key != second.key
    assert python(second, "import testforge_beta; print('ok')") == "ok"


def test_the_repositorys_own_version_of_pytest_wins(prepare: Prepare, python: Run) -> None:
    found = prepare({"requirements-test.txt": "pytest<9\n"})

    assert python(found, "import pytest; print(pytest.__version__ < '9')") == "True"


@pytest.mark.slow
def test_a_project_that_cannot_be_built_still_gets_its_dependencies(
    prepare: Prepare, python: Run, notes: list[str]
) -> None:
    found = prepare(
        {
            "setup.py": "import not_there_at_all\nsetup(install_requires=['testforge-alpha'], extras_require={'test': ['testforge-beta']})"
        }
    )

    assert python(found, "import testforge_alpha, testforge_beta; print('ok')") == "ok"
    assert any("could not be built" in note and "not_there_at_all" in note for note in notes)


@pytest.mark.slow
def test_what_of_the_test_dependencies_can_be_had_is_installed(
    prepare: Prepare, python: Run, notes: list[str]
) -> None:
    found = prepare(
        {"requirements-test.txt": "testforge-alpha\n", "requirements-dev.txt": "testforge-alpha==99\n"}
    )

    assert python(found, "import testforge_alpha; print('ok')") == "ok"
    assert any("uv pip install -r requirements-dev.txt" in note for note in notes)


def test_dependencies_that_cannot_be_had_end_with_the_command_and_what_to_set(
    prepare: Prepare, cache_home: Path
) -> None:
    with pytest.raises(InstallationError) as caught:
        prepare({"requirements.txt": "testforge-alpha==99\n"})

    assert "`uv pip install -r requirements.txt` failed" in caught.value.message
    assert "`environment.setup`, in .github/testforge.yml" in caught.value.message
    assert "testforge-alpha==99" in caught.value.detail
    assert not any(
        path.is_dir() and not (path / "complete.json").exists()
        for path in (cache_home / "testforge" / "environments").iterdir()
    )


def test_no_network_is_said(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")

    with pytest.raises(InstallationError, match="package index could not be reached"):
        prepare({"requirements.txt": "testforge-never-heard-of\n"})


@pytest.mark.slow
def test_setup_commands_run_in_the_environment_and_their_files_are_kept(
    prepare: Prepare, python: Run
) -> None:
    found = prepare(
        {"requirements.txt": "testforge-alpha==99\n", "pkg/__init__.py": ""},
        config="environment:\n  setup:\n    - pip install testforge-beta\n    - python -c \"open('pkg/made.py', 'w').write('X = 5')\"\n",
    )

    assert python(found, "import testforge_beta, pkg.made; print(pkg.made.X)") == "5"


def test_a_setup_command_that_fails_is_named(prepare: Prepare) -> None:
    with pytest.raises(
        InstallationError, match=r"`environment.setup` in .github/testforge.yml failed: `exit 3`"
    ):
        prepare({}, config="environment:\n  setup: [exit 3]\n")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.slow
def test_compiled_modules_are_put_into_the_copy_of_the_tree(prepare: Prepare, python: Run) -> None:
    found = prepare(
        {
            "setup.py": (
                "from setuptools import setup, Extension\n"
                "setup(name='quick', packages=['quick'], ext_modules=[Extension('quick._fast', ['quick/_fast.c'])])\n"
            ),
            "quick/__init__.py": "",
            "quick/_fast.c": (
                "#include <Python.h>\n"
                'static struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "_fast", NULL, -1, NULL};\n'
                "PyMODINIT_FUNC PyInit__fast(void) { return PyModule_Create(&m); }\n"
            ),
        }
    )

    assert "tree/quick/_fast" in python(found, "from quick import _fast; print(_fast.__file__)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "text"),
    [
        ("hatchling.build", '[project]\nname = "mine"\nversion = "1"\ndependencies = ["testforge-alpha"]'),
        (
            "flit_core.buildapi",
            '[project]\nname = "mine"\nversion = "1"\ndescription = "x"\ndependencies = ["testforge-alpha"]',
        ),
        ("pdm.backend", '[project]\nname = "mine"\nversion = "1"\ndependencies = ["testforge-alpha"]'),
        (
            "poetry.core.masonry.api",
            '[tool.poetry]\nname = "mine"\nversion = "1"\ndescription = ""\nauthors = []\n[tool.poetry.dependencies]\ntestforge-alpha = "^1"\n'
            '[tool.poetry.group.test.dependencies]\ntestforge-beta = "*"',
        ),
    ],
    ids=["hatch", "flit", "pdm", "poetry"],
)
def test_each_backend_is_installed(
    prepare: Prepare, python: Run, notes: list[str], backend: str, text: str
) -> None:
    package = {
        "flit_core.buildapi": "flit_core",
        "hatchling.build": "hatchling",
        "pdm.backend": "pdm-backend",
    }.get(backend, "poetry-core")
    build = f'[build-system]\nrequires = ["{package}"]\nbuild-backend = "{backend}"\n'
    found = prepare({"pyproject.toml": build + text, "mine/__init__.py": ""})

    more = ", testforge_beta" if "poetry" in backend else ""
    assert (
        python(found, f"import importlib.metadata as m, testforge_alpha{more}; print(m.version('mine'))")
        == "1"
    )
    assert [note for note in notes if "not" in note] == []


@pytest.mark.slow
def test_a_version_that_git_would_tell_is_made_up(prepare: Prepare, python: Run) -> None:
    found = prepare(
        {
            "pyproject.toml": (
                '[build-system]\nrequires = ["setuptools", "setuptools_scm"]\n[project]\nname = "mine"\ndynamic = ["version"]\n'
                '[tool.setuptools_scm]\nversion_file = "src/mine/_version.py"\n'
            ),
            "PKG-INFO": "Metadata-Version: 2.1\nName: mine\nVersion: 4.5\n",
            "src/mine/__init__.py": "from mine._version import version",
        },
        roots=("src",),
    )

    assert python(found, "import mine; print(mine.version)") == "4.5"


def test_a_python_that_is_not_there_is_said(prepare: Prepare) -> None:
    with pytest.raises(
        InstallationError,
        match=r"needs Python >=3\.97, and none .* is on this machine .*`environment\.python`",
    ):
        prepare({"pyproject.toml": '[project]\nname = "a"\nversion = "1"\nrequires-python = ">=3.97"\n'})


def test_the_configured_python_wins(prepare: Prepare) -> None:
    with pytest.raises(InstallationError, match=r"needs Python 3\.97"):
        prepare({}, config='environment:\n  python: "3.97"\n')


def test_secrets_of_the_persons_environment_do_not_reach_an_installation(
    prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")

    prepare({}, config="environment:\n  setup: ['test -z \"$GITHUB_TOKEN\"', 'test ! -e ~/.ssh']\n")


def test_two_runs_at_once_install_once(prepare: Prepare, tree: Path, notes: list[str]) -> None:
    (tree / "requirements.txt").write_text("testforge-gamma\n")
    found: list[Interpreter] = []

    def run() -> None:
        found.append(environment.prepare(tree, tree, repoconfig.load(None), roots=(".",), note=notes.append))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found[0] == found[1]
    assert sum(note.startswith("Installing dependencies") for note in notes) == 1


def test_what_one_scope_has_made_is_not_used_in_another(
    prepare: Prepare, tree: Path, notes: list[str]
) -> None:
    def made(scope: str) -> str:
        config = repoconfig.load(None)
        return environment.prepare(tree, tree, config, roots=(".",), note=notes.append, scope=scope).key

    assert made("octo/parcels") == made("octo/parcels") != made("octo/parcels#7")
    assert sum(note.startswith("Installing dependencies") for note in notes) == 2


@pytest.mark.slow
def test_an_interrupted_installation_is_made_again(
    prepare: Prepare, python: Run, tree: Path, cache_home: Path
) -> None:
    (tree / "requirements.txt").write_text("testforge-beta\n# interrupted\n")
    program = (
        "import sys; from pathlib import Path; from bot import environment, repoconfig\n"
        "environment.prepare(Path(sys.argv[1]), Path(sys.argv[1]), repoconfig.load(None), roots=('.',), note=print)"
    )
    installing = subprocess.Popen(
        [sys.executable, "-c", program, str(tree)],
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        stdout=subprocess.DEVNULL,
    )

    def half_made() -> list[Path]:
        begun = (cache_home / "testforge" / "environments").glob("*/venv/bin/python")
        return [path for path in begun if not (path.parents[2] / "complete.json").exists()]

    while not half_made():
        assert installing.poll() is None
        time.sleep(0.005)
    installing.send_signal(signal.SIGKILL)
    installing.wait()
    assert half_made()

    found = prepare()

    assert python(found, "import testforge_beta, pytest; print('ok')") == "ok"
    assert not half_made()


def test_an_old_pytest_that_the_repository_pins_is_told(prepare: Prepare) -> None:
    with pytest.raises(
        InstallationError,
        match=r"has pytest 5\.4\.3, and testforge works with 6 or newer\. Allow a newer one",
    ):
        prepare({"requirements-test.txt": "pytest==5.4.3\n"})


def test_an_installation_that_hangs_is_ended_and_told(
    prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.environment.installer.STEP_S", 5)

    with pytest.raises(InstallationError, match=r"`sleep 1000`: it did not end within 5 s"):
        prepare({}, config="environment:\n  setup: [sleep 1000]\n")


def test_an_installation_that_takes_too_much_room_is_told(
    prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTFORGE_SANDBOX_IMAGES_GB", "0.001")

    with pytest.raises(
        InstallationError, match=r"took more than 0\.001 GB of disk.*TESTFORGE_SANDBOX_IMAGES_GB"
    ):
        prepare({"requirements.txt": "# too much\n"})


def test_system_packages_are_named_and_not_installed(prepare: Prepare, notes: list[str]) -> None:
    prepare({}, config="environment:\n  setup: [apt-get install -y testforge-none]\n")

    assert any("does not install system packages: testforge-none must be" in note for note in notes)


def test_an_installation_that_replaces_its_python_is_refused(prepare: Prepare) -> None:
    with pytest.raises(InstallationError, match="replaced the Python"):
        prepare({}, config=f"environment:\n  setup: ['{REPLACING['executable']}']\n")
