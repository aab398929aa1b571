"""Bad input, through the public command: each case has its own sentence and exit code, no traceback, and loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from bot.entry import main; main()"]
ADD = "def add(a, b):\n    return a + b\n"
SIGN = "\n\ndef sign(n):\n    if n < 0:\n        return -1\n    return 1\n"
GOOD = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
REVIEW = ("review", "--base", "HEAD", "--max-iterations", "1")
SCORE = ("score", "calc.py", "test_calc.py", "--max-mutants", "2")


@dataclass(frozen=True)
class Done:
    """How a command ended, with what it printed, lines joined."""

    code: int
    out: str
    err: str


class Place:
    """A repository and an empty temporary directory, to run the command in."""

    def __init__(self, root: Path, temp: Path, environment: Mapping[str, str]) -> None:
        self.root, self.temp = root, temp
        self.environment = {**environment, "TMPDIR": str(temp), "VIRTUAL_ENV": sys.prefix, "COLUMNS": "500"}

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def commit(self, files: Mapping[str, str]) -> None:
        self.write(files)
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "one", "--allow-empty"]):
            subprocess.run(["git", *command], cwd=self.root, check=True)

    def start(self, *arguments: str, temp: Path | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.root,
            env={**self.environment, **({"TMPDIR": str(temp)} if temp else {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def run(self, *arguments: str, temp: Path | None = None) -> Done:
        return self.finish(self.start(*arguments, temp=temp))

    def finish(self, process: subprocess.Popen[bytes]) -> Done:
        """Wait for the end; there is no traceback, nothing is left of the run, and the user's files are as before."""
        out, err = (text.decode() for text in process.communicate(timeout=200))
        assert "Traceback" not in out + err
        assert "inside testforge" not in err
        assert list(self.temp.iterdir()) == []
        return Done(process.returncode, out, err)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("repo", "temp", "cache"):
        (tmp_path / name).mkdir()
    names = ("PATH", "HOME", "LANG")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    return Place(
        tmp_path / "repo", tmp_path / "temp", {**environment, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    )


# ---------------------------------------------------------------- what cannot be reviewed or measured at all


def test_a_directory_without_git_is_told(place: Place) -> None:
    place.write({"calc.py": ADD})
    done = place.run(*REVIEW)
    assert (done.code, "is not in a git repository" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("change", "arguments", "code", "said"),
    [
        ({}, REVIEW, 0, "No Python source file changed."),
        ({"README.md": "hello"}, REVIEW, 0, "No Python source file changed."),
        ({"calc.py": "def add(a:\n"}, REVIEW, 0, "calc.py does not parse: line 1: '(' was never closed."),
        ({}, ("review", "--base", "nowhere"), 2, "There is no commit, branch or tag 'nowhere'"),
        ({"bad.py": "def add(a:\n"}, ("generate", "bad.py"), 2, "bad.py does not parse: line 1"),
        ({"notes.txt": "text"}, ("generate", "notes.txt"), 2, "'notes.txt' is no Python module"),
        ({"empty.py": ""}, ("generate", "empty.py"), 0, "empty.py holds no code."),
        ({"empty.py": "", "t.py": ""}, ("score", "empty.py", "t.py"), 2, "There is nothing to score: empty"),
    ],
    ids=["no change", "no Python", "syntax", "ref", "generate syntax", "text", "empty", "score empty"],
)
def test_what_holds_nothing_to_test_is_told_with_its_exit_code(
    place: Place, change: dict[str, str], arguments: tuple[str, ...], code: int, said: str
) -> None:
    place.commit({"calc.py": ADD})
    place.write(change)
    done = place.run(*arguments)
    assert (done.code, said in done.out + done.err) == (code, True), done


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"calc.py": "import absent\n" + ADD + SIGN},
            "calc.py cannot be imported: ModuleNotFoundError: No module",
        ),
        ({"calc.py": "import sys\nsys.exit(4)\n" + ADD}, "calc.py cannot be imported: SystemExit: 4."),
        (
            {"calc.py": ADD + SIGN, "conftest.py": "import absent\n"},
            "pytest does not start in this repository: conftest.py: ModuleNotFoundError",
        ),
    ],
    ids=["missing module", "exits", "conftest"],
)
def test_code_that_no_test_can_import_is_inconclusive(
    place: Place, change: dict[str, str], said: str
) -> None:
    place.commit({"calc.py": ADD})
    place.write(change)
    done = place.run(*REVIEW)
    assert (done.code, said in done.out) == (3, True), done


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk can be mounted by root only")
def test_a_full_disk_is_inconclusive_and_leaves_nothing(place: Place, tmp_path: Path) -> None:
    place.commit({"calc.py": ADD, "blob": "x" * 3_000_000})
    place.write({"calc.py": ADD + SIGN})
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], check=False)
    if mount.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        done = place.run(*REVIEW, temp=disk)
        left = list(disk.iterdir())
    finally:
        subprocess.run(["umount", disk], check=True)
    assert (done.code, "No space left on device" in done.out, left) == (3, True, []), done


# ---------------------------------------------------------------- tests that misbehave

HOSTILE = (
    GOOD
    + """
import atexit, os, shutil, subprocess, threading, time
atexit.register(time.sleep, 1000)
def test_forks(): os.fork()
def test_exits(): os._exit(0)
def test_leaves_a_thread(): threading.Thread(target=time.sleep, args=(1000,)).start()
def test_leaves_a_child(): subprocess.Popen(["sleep", "1000"])
def test_deletes(): shutil.rmtree(os.getcwd(), ignore_errors=True)
"""
)


@pytest.mark.slow
def test_tests_that_delete_fork_exit_and_leave_things_running_are_measured(place: Place) -> None:
    place.commit({"calc.py": ADD, "test_calc.py": HOSTILE})
    done = place.run(*SCORE)
    assert done.code == 0, done
    assert "5 passed, 1 error" in done.out
    assert "test_calc.py::test_exits: exited the interpreter: the process exited with code 0" in done.out
    assert "mutants" in done.out


@pytest.mark.slow
def test_a_test_that_ends_everything_around_it_is_still_reported(place: Place) -> None:
    kill = "\nimport os\ndef test_kills():\n    os.kill(os.getppid(), 9)\n    os.kill(os.getpid(), 9)\n"
    place.commit({"calc.py": ADD, "test_calc.py": GOOD + kill})
    done = place.run(*SCORE)
    assert (done.code, "1 passed, 1 error" in done.out) == (0, True), done
    assert "test_calc.py::test_kills: the test runner exited with 137" in done.out


@pytest.mark.slow
def test_a_test_file_that_does_not_parse_is_told_in_one_line(place: Place) -> None:
    place.commit({"calc.py": ADD, "test_calc.py": "def test_x(:\n"})
    done = place.run(*SCORE)
    told = [line for line in done.out.splitlines() if "could not be collected" in line]
    assert (done.code, told) == (0, ["test_calc.py could not be collected: SyntaxError: invalid syntax"])


@pytest.mark.slow
def test_a_test_file_that_cannot_be_imported_is_not_extended(place: Place) -> None:
    place.commit({"calc.py": ADD, "tests/test_calc.py": GOOD + "\nraise SystemExit(1)\n"})
    place.write({"calc.py": ADD + SIGN})
    done = place.run(*REVIEW)
    assert done.code == 0, done
    assert "proposed for 1 changed file" in done.out
    assert "new file tests/test_calc_" in done.out


# ---------------------------------------------------------------- stopped from outside


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)])
def test_a_run_that_is_stopped_says_so_and_leaves_nothing(place: Place, numbers: tuple[int, ...]) -> None:
    place.commit({"calc.py": ADD, "tests/test_calc.py": GOOD})
    place.write({"calc.py": ADD + SIGN})
    process = place.start(*REVIEW, "--apply")
    assert process.stderr is not None
    for line in process.stderr:
        if b"baseline" in line:
            break
    for number in numbers:
        process.send_signal(number)
    done = place.finish(process)
    assert done.code == 1, done
    assert "stopped before it was done" in done.out
    assert (place.root / "tests/test_calc.py").read_text() == GOOD


STOPPED_AT_AN_IMPORT = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


def test_a_run_that_is_stopped_in_its_first_moment_says_so(place: Place, tmp_path: Path) -> None:
    place.commit({"calc.py": ADD})
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(STOPPED_AT_AN_IMPORT)
    place.environment["PYTHONPATH"] = str(tmp_path / "site")
    done = place.run("review", "--base", "HEAD")
    assert (done.code, done.err) == (1, "testforge: Stopped before anything was found.\n")
