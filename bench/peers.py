"""Pynguin beside testforge: an environment of its own, one search, and the test file it leaves."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from bench.subjects import Subject, dependencies

PYNGUIN = "pynguin==0.48.*"
_PYTHON = "3.10"
_GRACE_S = 600
"""What it may take besides its search, in seconds: it runs mutants of its own to choose assertions."""


def pynguin_tests(subject: Subject, root: Path, work: Path, *, search_s: int, seed: int) -> Path | None:
    """Run Pynguin with its default assertions and return the test file it wrote; None if it wrote none.

    Args:
        root: The subject's repository, which is only read.
        work: Where its environment and its output go.
        search_s: Seconds of search; what Pynguin does besides comes on top.
    """
    python = _environment(subject, root, work)
    output = work / "pynguin" / subject.name
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    command = [
        str(python.parent / "pynguin"),
        f"--project-path={root}",
        f"--module-name={subject.module}",
        f"--output-path={output}",
        f"--maximum-search-time={search_s}",
        f"--seed={seed}",
    ]
    environment = {**os.environ, "PYNGUIN_DANGER_AWARE": "1", "PYTHONHASHSEED": "0"}
    with (output / "log.txt").open("wb") as log:
        done = subprocess.Popen(
            command, cwd=output, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            done.wait(search_s + _GRACE_S)
        except subprocess.TimeoutExpired:
            log.write(b"\nstopped: it did not end\n")
        finally:  # its workers outlive it
            with contextlib.suppress(ProcessLookupError):
                os.killpg(done.pid, signal.SIGKILL)
            done.wait()
    found = sorted(path for path in output.rglob("test_*.py") if "_failing" not in path.name)
    return found[0] if found else None


def _interpreter() -> str:
    """Return a Python that Pynguin runs on: one of pyenv's, one on the path, or a version for uv to download."""
    of_pyenv = sorted(
        Path.home().glob(f".pyenv/versions/{_PYTHON}.*/bin/python")
    )  # its shims may lead nowhere
    return str(of_pyenv[-1]) if of_pyenv else shutil.which(f"python{_PYTHON}") or _PYTHON


def _environment(subject: Subject, root: Path, work: Path) -> Path:
    """Return the interpreter of a virtual environment with Pynguin and what the subject needs."""
    home = work / "environments" / f"pynguin-{subject.name}"
    python = home / "bin" / "python"
    if not (home / "bin" / "pynguin").exists():
        uv = (
            shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
            or "uv"
        )
        subprocess.run([uv, "venv", "-q", "--clear", "--python", _interpreter(), str(home)], check=True)
        needs = dependencies(root)
        subprocess.run(
            [uv, "pip", "install", "-q", "--python", str(python), PYNGUIN, "pytest", *needs], check=True
        )
    return python
