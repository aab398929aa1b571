"""The commands as a user calls them: real git, the real pipeline, the built-in model."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SOURCE = '''\
def grade(points):
    """Return the grade for a number of points."""
    if points < 0:
        raise ValueError("points must not be negative")
    if points >= 90:
        return "A"
    if points >= 70:
        return "B"
    return "C"
'''
TESTFORGE = [sys.executable, "-c", "from bot.cli import main; main()"]


@pytest.fixture
def repo(tmp_path, monkeypatch):
    """A repository whose working tree has a change, and whose dependencies are those of the running Python."""
    root = tmp_path / "repo"
    root.mkdir()
    (root / "school.py").write_text("")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    (root / "school.py").write_text(SOURCE)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.delenv("TESTFORGE_MODEL", raising=False)
    return root


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_change_gets_tests_that_pass_and_are_applied(repo, tmp_path):
    out = tmp_path / "out.json"
    command = [*TESTFORGE, "review", "--base", "main", "--json", str(out), "--apply", "--max-iterations", "4"]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    data = json.loads(out.read_text())
    (target,) = data["targets"]
    assert (data["status"], target["status"], target["path"]) == ("proposed", "proposed", "school.py")
    assert target["coverage"]["changed"]["after"] == 1.0
    suite = repo / target["suite"]["path"]
    assert suite.read_text() == target["suite"]["content"]
    passed = subprocess.run([sys.executable, "-m", "pytest", "-q", suite.name], cwd=suite.parent, env={**os.environ, "PYTHONPATH": str(repo)}, check=False)  # fmt: skip
    assert passed.returncode == 0


def test_a_suite_is_scored(repo, tmp_path):
    (repo / "test_school.py").write_text(
        "import pytest\nfrom school import grade\n\n\ndef test_grades():\n    assert grade(95) == 'A'\n\n\n"
        "def test_imports():\n    assert grade is not None\n\n\ndef test_wrong():\n    assert grade(1) == 'A'\n"
    )
    command = [*TESTFORGE, "score", "school.py", "test_school.py", "--json", "-", "--quiet"]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert (data["outcomes"]["passed"], data["outcomes"]["failed"]) == (2, 1)
    assert data["hollow"] == ["test_school.py::test_imports"]
    assert 0 < data["mutation"]["score"] < 1
    assert "1 test hollow" in done.stderr


@pytest.fixture
def orphans():
    """Adopt the orphans of every process started here; gives the process ids of those that are alive."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1)

    def children() -> set[str]:
        files = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        return {pid for file in files for pid in file.read_text().split()}

    others = children()  # such as a server that tests of another file share

    def alive() -> list[str]:
        found = sorted(children() - others)
        return [pid for pid in found if Path(f"/proc/{pid}/cmdline").read_bytes()]  # a zombie has none

    yield alive
    ctypes.CDLL(None).prctl(set_child_subreaper, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_reports_and_leaves_everything_as_it_was(repo, tmp_path, orphans, number):
    before = snapshot(repo)
    out = tmp_path / "out.json"
    command = [*TESTFORGE, "review", "--base", "main", "--json", str(out), "--apply"]
    with subprocess.Popen(
        command, cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        for line in process.stderr:
            if "refine" in line:
                break
        process.send_signal(number)
        report = process.stdout.read()
        process.stderr.read()
        watchdog.cancel()
    assert process.returncode == 1
    assert report.startswith("Cancelled")
    assert json.loads(out.read_text())["status"] == "cancelled"
    assert snapshot(repo) == before
    assert orphans() == []
