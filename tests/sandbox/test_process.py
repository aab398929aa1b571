"""What commands in the process sandbox see, and what comes back from them."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import SandboxError
from bot.sandbox import Interpreter, Limits, bubblewrap
from bot.sandbox.process import ProcessSandbox, ProcessSandboxes

Opener = Callable[..., ProcessSandbox]


def prefix(box: ProcessSandbox) -> Path:
    """Return the directory of the virtual environment that a box runs."""
    return Path(box.interpreter.command).parent.parent


def test_a_command_runs_in_the_copy_of_the_tree(box_of: Opener) -> None:
    box = box_of({"pkg/mod.py": "X = 7\n"})

    done = box.run(
        ["python", "-c", "import pkg.mod, os, sys; print(pkg.mod.X, os.getcwd(), sys.prefix)"], timeout_s=20
    )

    assert (done.exit_code, done.stdout, done.stderr) == (0, f"7 {box.tree} {prefix(box)}\n", "")


@pytest.mark.parametrize("name", ["python", "python3"])
def test_python_on_the_path_is_the_interpreter_with_its_packages(box: ProcessSandbox, name: str) -> None:
    done = box.run([name, "-c", "import sys, pytest, coverage; print(sys.prefix)"], timeout_s=20)

    assert done.stdout == f"{prefix(box)}\n"


def test_python_outside_a_virtual_environment_is_found_too(walls: bool, tmp_path: Path) -> None:
    base = os.path.realpath(sys.executable)

    with ProcessSandboxes(walls).open(tmp_path, Interpreter(base, "3.11")) as box:
        done = box.run(["python3", "-c", "import sys, json; print(sys.prefix)"], timeout_s=20)

    assert done.stdout == f"{sys.base_prefix}\n"


def test_a_virtual_environment_without_python3_is_kept_all_the_same(
    walls: bool, interpreter: Interpreter, tmp_path: Path
) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python3.11").symlink_to(os.path.realpath(sys.executable))
    (venv / "pyvenv.cfg").write_text(f"home = {Path(os.path.realpath(sys.executable)).parent}\n")
    (tmp_path / "tree").mkdir()

    with ProcessSandboxes(walls).open(
        tmp_path / "tree", Interpreter(str(venv / "bin" / "python3.11"), "3.11", mounts=(venv,))
    ) as box:
        done = box.run(["python", "-c", "import sys; print(sys.prefix)"], timeout_s=20)

    assert (done.stdout, done.stderr) == (f"{venv}\n", "")


def test_the_environment_is_clean_and_fixed(box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    box.interpreter = replace(box.interpreter, import_roots=("src", "."))

    done = box.run(["env"], timeout_s=20)

    names = dict(line.split("=", 1) for line in done.stdout.splitlines())
    names.pop("PWD", None)
    assert names.pop("PATH").split(os.pathsep)[0] == f"{prefix(box)}/bin"
    assert names == {
        "HOME": f"{box.scratch}/home",
        "TMPDIR": f"{box.scratch}/tmp",
        "PYTHONPATH": f"{box.tree}/src{os.pathsep}{box.tree}",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }


def test_given_variables_win(box: ProcessSandbox) -> None:
    done = box.run(
        ["sh", "-c", "echo $PYTHONHASHSEED $MINE"], timeout_s=20, env={"PYTHONHASHSEED": "3", "MINE": "x"}
    )

    assert done.stdout == "3 x\n"


def test_extra_paths_come_last_for_every_python(
    walls: bool, interpreter: Interpreter, tmp_path: Path
) -> None:
    for name in ("overlay", "tree"):
        (tmp_path / name).mkdir()
    (tmp_path / "overlay" / "only_there.py").write_text("X = 1\n")
    (tmp_path / "overlay" / "pytest.py").write_text("raise SystemExit('the wrong pytest')\n")

    with ProcessSandboxes(walls).open(
        tmp_path / "tree", replace(interpreter, extra_path=(str(tmp_path / "overlay"),))
    ) as box:
        done = box.run(
            ["sh", "-c", "python -c 'import only_there, pytest; print(only_there.X)'"], timeout_s=20
        )

    assert (done.stdout, done.stderr) == ("1\n", "")


def test_standard_input_is_given_whole(box: ProcessSandbox) -> None:
    done = box.run(["wc", "-c"], timeout_s=20, stdin=b"x" * 1_000_000)

    assert done.stdout.strip() == "1000000"


def test_exit_codes_and_both_streams_come_back(box: ProcessSandbox) -> None:
    done = box.run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout_s=20)

    assert (done.exit_code, done.stdout, done.stderr, done.timed_out) == (3, "out\n", "err\n", False)


def test_a_command_that_does_not_exist_ends_with_127(box: ProcessSandbox) -> None:
    done = box.run(["no-such-command"], timeout_s=20)

    assert done.exit_code == 127
    assert "no-such-command" in done.stderr


def test_a_signal_is_told_by_the_exit_code(box: ProcessSandbox) -> None:
    done = box.run(["sh", "-c", "kill -SEGV $$"], timeout_s=20)

    assert done.exit_code == 128 + 11


def test_output_that_is_not_text_is_decoded_with_marks(box: ProcessSandbox) -> None:
    done = box.run(["printf", r"a\377b"], timeout_s=20)

    assert done.stdout == "a\ufffdb"


def test_the_source_tree_is_never_written_to(box_of: Opener, tmp_path: Path) -> None:
    box = box_of({"a.py": "old"})

    box.run(["sh", "-c", "echo new > a.py; echo new > b.py"], timeout_s=20)

    assert box.read("a.py") == b"new\n"
    assert (tmp_path / "tree" / "a.py").read_text() == "old"
    assert not (tmp_path / "tree" / "b.py").exists()


def test_what_one_command_leaves_in_the_tree_the_next_one_sees(box: ProcessSandbox) -> None:
    box.run(["sh", "-c", "echo 1 > left; echo 2 > /tmp/left"], timeout_s=20)

    assert box.run(["cat", "left"], timeout_s=20).stdout == "1\n"


def test_scratch_can_be_written_from_both_sides(box: ProcessSandbox) -> None:
    box.write(f"{box.scratch}/job.json", b"{}")

    done = box.run(
        ["sh", "-c", f"cat {box.scratch}/job.json; echo done > {box.scratch}/result"], timeout_s=20
    )

    assert done.stdout == "{}"
    assert box.read(f"{box.scratch}/result") == b"done\n"


def test_servers_on_localhost_and_locks_between_processes_work(box: ProcessSandbox) -> None:
    program = (
        "import socket, multiprocessing\n"
        "server = socket.create_server(('localhost', 0))\n"
        "socket.create_connection(server.getsockname()).close()\n"
        "multiprocessing.Lock().acquire()\n"
        "print('works')\n"
    )

    done = box.run(["python", "-c", program], timeout_s=20)

    assert (done.stdout, done.stderr) == ("works\n", "")


def test_a_closed_sandbox_is_gone_and_says_so(box: ProcessSandbox) -> None:
    place = box.host_tree.parent
    box.close()
    box.close()

    assert not place.exists()
    with pytest.raises(SandboxError, match="closed"):
        box.run(["true"], timeout_s=1)


@pytest.mark.skipif(not bubblewrap.works(), reason="bubblewrap does not work here")
class TestWalls:
    @pytest.fixture
    def walls(self) -> bool:
        return True

    def test_the_system_cannot_be_written_to(self, box: ProcessSandbox) -> None:
        done = box.run(["sh", "-c", "touch /usr/x; touch /etc/x; touch /x; touch /testforge/x"], timeout_s=20)

        assert done.stderr.count("Read-only file system") == 4

    def test_the_home_and_other_directories_of_the_host_are_not_there(
        self, box: ProcessSandbox, tmp_path: Path
    ) -> None:
        (tmp_path / "secret").write_text("x")

        done = box.run(["sh", "-c", f"ls -A {Path.home()} {tmp_path} /var /etc/shadow /tmp"], timeout_s=20)

        assert "secret" not in done.stdout
        assert ".ssh" not in done.stdout
        assert "shadow" in done.stderr

    def test_the_interpreter_cannot_be_written_to(self, box: ProcessSandbox) -> None:
        done = box.run(["touch", f"{prefix(box)}/x"], timeout_s=20)

        assert "Read-only file system" in done.stderr

    def test_the_network_cannot_be_reached(self, box: ProcessSandbox) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            program = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
            done = box.run(["python", "-c", program], timeout_s=20)

        assert "ConnectionRefusedError" in done.stderr

    def test_processes_of_the_host_are_not_seen(self, box: ProcessSandbox) -> None:
        done = box.run(["sh", "-c", "ls -d /proc/[0-9]* | wc -l"], timeout_s=20)

        assert int(done.stdout) < 10

    def test_code_does_not_run_as_root(self, box: ProcessSandbox) -> None:
        program = "import os, getpass; os.mkdir('shut', 0o500); print(os.getuid(), getpass.getuser()); open('shut/x', 'w')"

        done = box.run(["python", "-c", program], timeout_s=20)

        assert done.stdout == "1000 tester\n"
        assert "PermissionError" in done.stderr

    def test_paths_are_the_same_in_every_sandbox(self, box_of: Opener) -> None:
        assert box_of().tree == box_of().tree == "/testforge/tree"


def test_the_network_and_directories_can_be_given(
    walls: bool, interpreter: Interpreter, tmp_path: Path
) -> None:
    for name in ("cache", "tree"):
        (tmp_path / name).mkdir()
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        ProcessSandboxes(walls).open(
            tmp_path / "tree", interpreter, Limits(), network=True, writable=(tmp_path / "cache",)
        ) as box,
    ):
        program = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        done = box.run(["sh", "-c", f'python -c "{program}" && echo x > {tmp_path}/cache/x'], timeout_s=20)

    assert done.stderr == ""
    assert (tmp_path / "cache" / "x").read_text() == "x\n"
