"""`testforge init`: what it writes is valid, and says what it saw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bot import repoconfig, starter

COMMAND = [sys.executable, "-c", "from bot.entry import main; main()"]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "init", *arguments], cwd=root, capture_output=True, text=True, timeout=60
    )


def test_a_plain_repository_gets_the_defaults_as_comments(repo: Path) -> None:
    done = run(repo)
    assert done.returncode == 0, done.stderr
    text = (repo / ".github/testforge.yml").read_text()
    assert repoconfig.load(text) == repoconfig.RepoConfig()
    assert "# model: openai/gpt-4o" in text


def test_the_example_workflow_is_the_one_that_is_written(repo: Path) -> None:
    run(repo)
    written = yaml.safe_load((repo / ".github/workflows/testforge.yml").read_text())
    example = Path(__file__).parents[1] / "examples/workflows/review.yml"
    assert written == yaml.safe_load(example.read_text())


def test_what_the_repository_shows_is_set(repo: Path) -> None:
    files = {f"tests/unit/test_{n}.py": "class TestA:\n    def test_a(self): pass\n" for n in range(4)}
    write(repo, {**files, "tests/test_z.py": "class TestZ: pass\n", "scripts/release.py": "", "pkg/a.py": ""})
    run(repo)
    config = repoconfig.load((repo / ".github/testforge.yml").read_text())
    assert config.tests.directory == "tests/unit"
    assert config.tests.style == "classes"
    assert config.paths.exclude == ("scripts/**",)


@pytest.mark.parametrize("tests", ["", "tests"])
@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("odd", [(), ("docs/**",)])
def test_every_look_gives_a_configuration_that_is_read(
    tests: str, classes: bool, odd: tuple[str, ...]
) -> None:
    config = repoconfig.load(starter.configuration(starter.Look(tests, classes, odd)))
    assert config.tests.directory == (tests or None)
    assert config.tests.style == ("classes" if classes else "auto")
    assert config.paths.exclude == odd


def test_files_that_are_there_stay_without_force(repo: Path) -> None:
    write(repo, {".github/testforge.yml": "max_iterations: 3\n"})
    done = run(repo)
    assert done.returncode == 0, done.stderr
    assert "kept .github/testforge.yml" in done.stdout
    assert (repo / ".github/testforge.yml").read_text() == "max_iterations: 3\n"
    assert (repo / ".github/workflows/testforge.yml").exists()
    again = run(repo)
    assert again.returncode == 2
    assert "are there already. --force writes over them." in again.stderr
    assert run(repo, "--force").returncode == 0
    assert (repo / ".github/testforge.yml").read_text() != "max_iterations: 3\n"


def test_another_workflow_of_the_name_is_told(repo: Path) -> None:
    write(repo, {".github/workflows/testforge.yml": "name: mine\n"})
    done = run(repo)
    assert "does not use testforge: rename it" in done.stdout
    assert (repo / ".github/workflows/testforge.yml").read_text() == "name: mine\n"


def test_the_branch_that_is_named_is_the_repositorys_own(repo: Path) -> None:
    subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/trunk"], cwd=repo, check=True)
    assert "`testforge review --base trunk`" in run(repo).stdout


def test_a_repository_without_python_is_told(repo: Path) -> None:
    assert "There is no Python here yet" in run(repo).stdout


def test_a_place_that_cannot_be_written_is_told(repo: Path) -> None:
    write(repo, {".github": "a file"})
    done = run(repo)
    assert done.returncode == 2
    assert "cannot be written:" in done.stderr
