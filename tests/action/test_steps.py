"""The shell steps of action.yml, run as a runner runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The Action's own directory, with the environment that its first step makes."""
    place = tmp_path / "action"
    (place / "sandbox-images").mkdir(parents=True)
    (place / "sandbox-images/build.sh").write_text('echo "building $1"\n')
    (place / ".venv/bin").mkdir(parents=True)
    (place / ".venv/bin/python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (place / ".venv/bin/python").chmod(0o755)
    return place


def run_step(name: str, here: Path, workspace: Path, docker: str) -> subprocess.CompletedProcess[str]:
    """Run the step of this name in a checkout, with a `docker` that is this shell script."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    (step,) = [step for step in steps if step["name"] == name]
    tools = here.parent / "tools"
    tools.mkdir()
    (tools / "docker").write_text(f"#!/bin/sh\n{docker}\n")
    (tools / "docker").chmod(0o755)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=workspace,
        env={"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "HERE": str(here)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_code_of_the_checkout_is_not_run_outside_the_sandbox(here: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "bot/action").mkdir(parents=True)
    for name in ("bot/__init__.py", "bot/action/__init__.py", "bot/action/versions.py"):
        (workspace / name).write_text("print('code of the checkout ran')\n")
    done = run_step("Make the sandbox's image", here, workspace, '[ "$1" = version ]')
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.partition(" ")[0] for line in done.stdout.splitlines()] == ["building"]


def test_a_failure_to_find_the_versions_fails_the_step(here: Path, tmp_path: Path) -> None:
    (here / ".venv/bin/python").write_text("#!/bin/sh\nexit 3\n")
    assert run_step("Make the sandbox's image", here, tmp_path, "exit 0").returncode == 3


def test_an_image_that_cannot_be_built_is_one_annotation(here: Path, tmp_path: Path) -> None:
    (here / "sandbox-images/build.sh").write_text("echo no space left\nexit 1\n")
    done = run_step("Make the sandbox's image", here, tmp_path, '[ "$1" = version ]')
    assert done.returncode == 3
    (annotation,) = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert annotation.startswith("::error::The sandbox's image for Python 3.12 could not be built")


def test_without_docker_the_step_leaves_the_word_to_the_next(here: Path, tmp_path: Path) -> None:
    done = run_step("Make the sandbox's image", here, tmp_path, "exit 1")
    assert (done.returncode, done.stdout) == (0, "")
