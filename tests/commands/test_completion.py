"""Completion in the shell: installed as a user installs it, and asked by a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli import app

BIN = Path(sys.executable).parent
ASK = """
. ~/.bashrc
complete -p testforge
COMP_WORDS=(testforge "$1") COMP_CWORD=1 COMP_LINE="testforge $1" COMP_POINT=${#COMP_LINE}
_testforge_completion testforge "$1" testforge
printf '%s\\n' "${COMPREPLY[@]}"
"""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash on this machine")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which completion has been installed."""
    _bash(tmp_path, "testforge --install-completion; exit $?")
    return tmp_path


def test_bash_completes_the_name_of_a_command(home: Path) -> None:
    said = _bash(home, ASK, "rev").splitlines()

    assert said == ["complete -o default -F _testforge_completion testforge", "review"]


def test_bash_offers_every_command(home: Path) -> None:
    known = {command.name or command.callback.__name__ for command in app.registered_commands}

    assert set(_bash(home, ASK, "").splitlines()[1:]) == known


def _bash(home: Path, script: str, *arguments: str) -> str:
    """Return what bash prints when it runs a script in a home."""
    environment = {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}", "SHELL": "/bin/bash"}
    done = subprocess.run(
        ["bash", "-c", script, "bash", *arguments],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
