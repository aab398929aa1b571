"""What commands in the Docker sandbox see, what comes back from them, and what becomes of the containers."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import dockers
import pytest

from bot.errors import SandboxError
from bot.measure.outcomes import run_tests
from bot.sandbox import Interpreter, Limits, engine
from bot.sandbox.docker import DockerSandbox, DockerSandboxes

Opener = Callable[..., DockerSandbox]


def containers_of(sandboxes: DockerSandboxes, identity: str) -> list[str]:
    with contextlib.closing(sandboxes.engine.client()) as client:
        return [row["Id"] for row in client.containers(all=True, filters={"id": identity})]


def test_a_command_runs_in_the_copy_of_the_tree(container_of: Opener) -> None:
    box = container_of({"pkg/mod.py": "X = 7\n"})

    done = box.run(["python", "-c", "import pkg.mod, os; print(pkg.mod.X, os.getcwd())"], timeout_s=20)

    assert (done.exit_code, done.stdout, done.stderr) == (0, f"7 {box.tree}\n", "")


def test_the_environment_is_clean_and_fixed(container: DockerSandbox) -> None:
    container.interpreter = replace(container.interpreter, import_roots=("src", "."))

    done = container.run(["env"], timeout_s=20)

    names = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert names.pop("PATH").startswith("/opt/testforge/bin:/environment/venv/bin:")
    assert names == {
        "HOME": f"{container.scratch}/home",
        "TMPDIR": f"{container.scratch}/tmp",
        "PYTHONPATH": f"{container.tree}/src{os.pathsep}{container.tree}",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }


@pytest.mark.parametrize("name", ["python", "python3"])
def test_python_is_the_interpreter_with_its_packages(container: DockerSandbox, name: str) -> None:
    done = container.run([name, "-c", "import sys, pytest, coverage; print(sys.prefix)"], timeout_s=20)

    assert done.stdout == "/environment/venv\n"


def test_given_variables_input_exit_codes_and_both_streams(container: DockerSandbox) -> None:
    script = "cat | wc -c; echo $MINE $PYTHONHASHSEED; echo err >&2; exit 3"

    done = container.run(
        ["sh", "-c", script],
        timeout_s=20,
        env={"MINE": "x", "PYTHONHASHSEED": "5"},
        stdin=b"x" * 1_000_000,
    )

    assert (done.exit_code, done.stdout, done.stderr) == (3, "1000000\nx 5\n", "err\n")


def test_a_command_that_does_not_exist_ends_with_127(container: DockerSandbox) -> None:
    done = container.run(["no-such-command"], timeout_s=20)

    assert done.exit_code == 127
    assert "no-such-command" in done.stderr


def test_a_signal_is_told_by_the_exit_code(container: DockerSandbox) -> None:
    assert container.run(["sh", "-c", "kill -SEGV $$"], timeout_s=20).exit_code == 128 + 11


def test_files_are_written_read_listed_and_removed(container_of: Opener) -> None:
    box = container_of({"a.py": "old", "sub/b.py": "b"})

    box.write("sub/deep/c.bin", b"\0\xff")
    box.write(f"{box.scratch}/job.json", b"{}")
    box.remove("a.py")
    box.remove("never/there")

    assert box.files() == ("sub/b.py", "sub/deep/c.bin")
    assert box.read("sub/deep/c.bin") == b"\0\xff"
    assert box.read(f"{box.scratch}/job.json") == b"{}"
    with pytest.raises(FileNotFoundError):
        box.read("a.py")


def test_links_modes_and_times_of_the_tree_are_kept(
    containers: DockerSandboxes, image_interpreter: Interpreter, tmp_path: Path
) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "run.sh").chmod(0o555)
    os.utime(tmp_path / "run.sh", (1_000_000_000, 1_000_000_000))
    (tmp_path / "inside").symlink_to("run.sh")
    (tmp_path / "outside").symlink_to("/etc/passwd")

    with containers.open(tmp_path, image_interpreter) as box:
        done = box.run(
            [
                "sh",
                "-c",
                "./inside; python -c \"import os; print(int(os.stat('run.sh').st_mtime))\"; echo more >> run.sh; echo *",
            ],
            timeout_s=20,
        )

    assert (done.stdout, done.stderr) == ("ran\n1000000000\ninside run.sh\n", "")


def test_a_read_only_file_is_written_over(container: DockerSandbox) -> None:
    container.run(["sh", "-c", "echo x > shut; chmod 400 shut; mkdir d; touch d/f; chmod 0 d"], timeout_s=20)

    container.write("shut", b"new")
    container.remove("d")

    assert container.read("shut") == b"new"
    assert container.files() == ("shut",)


def test_directories_that_a_command_deleted_are_there_again(container: DockerSandbox) -> None:
    container.run(["sh", "-c", "rm -rf $HOME $TMPDIR; ln -s /etc $TMPDIR"], timeout_s=20)

    done = container.run(["sh", "-c", "echo x > $HOME/x && echo x > $TMPDIR/x && echo fine"], timeout_s=20)

    assert done.stdout == "fine\n"


def test_servers_on_localhost_and_locks_between_processes_work(container: DockerSandbox) -> None:
    program = (
        "import socket, multiprocessing\n"
        "server = socket.create_server(('localhost', 0))\n"
        "socket.create_connection(server.getsockname()).close()\n"
        "multiprocessing.Lock().acquire()\n"
        "print('works')\n"
    )

    done = container.run(["python", "-c", program], timeout_s=20)

    assert (done.stdout, done.stderr) == ("works\n", "")


def test_tests_run_and_are_measured(container_of: Opener) -> None:
    box = container_of(
        {
            "mod.py": "def f(x):\n    if x:\n        return 1\n    return 2\n",
            "test_mod.py": "import mod\ndef test_one():\n    assert mod.f(1) == 1\ndef test_two():\n    assert mod.f(0) == 3\n",
        }
    )

    run = run_tests(box, cover=["mod.py"])

    assert [(result.id, str(result.outcome)) for result in run.results] == [
        ("test_mod.py::test_one", "passed"),
        ("test_mod.py::test_two", "failed"),
    ]
    assert run.coverage["mod.py"].lines(["test_mod.py::test_one"]) == {1, 2, 3}


def test_a_closed_sandbox_is_gone_and_says_so(containers: DockerSandboxes, container: DockerSandbox) -> None:
    container.close()
    container.close()

    assert containers_of(containers, container.container) == []
    with pytest.raises(SandboxError, match="closed"):
        container.run(["true"], timeout_s=1)


def test_a_container_that_is_removed_in_the_middle_is_told(
    containers: DockerSandboxes, container: DockerSandbox
) -> None:
    with contextlib.closing(containers.engine.client()) as client:
        client.remove_container(container.container, force=True)

    with pytest.raises(SandboxError, match="ended in the middle"):
        container.run(["true"], timeout_s=5)
    with pytest.raises(SandboxError, match="closed"):
        container.read("x")


def test_a_container_ends_with_the_testforge_that_made_it(
    image_interpreter: Interpreter, tmp_path: Path
) -> None:
    program = (
        "import sys, pathlib\n"
        "from bot.sandbox import Interpreter\n"
        "from bot.sandbox.docker import DockerSandboxes\n"
        f"box = DockerSandboxes().open(pathlib.Path({str(tmp_path)!r}), Interpreter({image_interpreter.command!r}, '', image={image_interpreter.image!r}))\n"
        "print(box.container, flush=True)\n"
        "box.run(['sleep', '600'], timeout_s=600)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    identity = child.stdout.readline().strip()
    sandboxes = dockers.sandboxes(None)
    assert containers_of(sandboxes, identity)

    child.send_signal(signal.SIGKILL)
    child.communicate()

    give_up = time.monotonic() + 30
    while containers_of(sandboxes, identity) and time.monotonic() < give_up:
        time.sleep(0.1)
    assert containers_of(sandboxes, identity) == []


def test_a_container_whose_run_is_gone_is_swept_away_and_others_are_not(
    container: DockerSandbox, containers: DockerSandboxes, image_interpreter: Interpreter
) -> None:
    assert image_interpreter.image is not None
    ended = subprocess.Popen(["true"])
    ended.wait()
    with contextlib.closing(containers.engine.client()) as client:
        marks = {
            "killed": engine.labels() | {engine.OWNER: f"{ended.pid}-1"},
            "old": engine.labels() | {engine.UNTIL: "1", engine.SCOPE: "elsewhere"},
            "elsewhere": engine.labels() | {engine.OWNER: "1-1", engine.SCOPE: "elsewhere"},
            "spent": engine.labels() | {engine.OWNER: "1-1", engine.SCOPE: "elsewhere"},
        }
        made = {
            name: client.create_container(image_interpreter.image, "true", labels=labels)["Id"]
            for name, labels in marks.items()
        }
        client.start(made["spent"])
        client.wait(made["spent"])
        try:
            gone = engine.remove_abandoned(client)
        finally:
            engine.remove(client, made["elsewhere"])

    assert {made["killed"], made["old"], made["spent"]} <= set(gone)
    assert made["elsewhere"] not in gone
    assert container.container not in gone


def test_a_missing_image_is_told_with_what_to_do(containers: DockerSandboxes, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"missing.*sandbox-images/build\.sh"):
        containers.open(tmp_path, Interpreter("/usr/bin/python3", "3.11", image="testforge-sandbox:none"))


def test_an_image_without_that_python_is_told(
    containers: DockerSandboxes, image_interpreter: Interpreter, tmp_path: Path
) -> None:
    wrong = Interpreter("/nowhere/python", "3.11", image=image_interpreter.image)

    with pytest.raises(SandboxError, match=r"no Python|ended in the middle|could not make"):
        containers.open(tmp_path, wrong)


def test_an_environment_of_the_host_is_refused(containers: DockerSandboxes, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="has no image"):
        containers.open(tmp_path, Interpreter(sys.executable, "3.11"))


def test_a_tree_that_does_not_fit_is_told(
    containers: DockerSandboxes, image_interpreter: Interpreter, tmp_path: Path
) -> None:
    (tmp_path / "large").write_bytes(b"x" * 20_000_000)

    with pytest.raises(SandboxError, match=r"19 MB of at most 8 MB.*No space left"):
        containers.open(tmp_path, image_interpreter, Limits(disk=8 * 1024**2))


class TestWithoutEngine:
    """What a person is told where there is no engine; needs none."""

    def test_docker_that_does_not_answer_is_told(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")

        with pytest.raises(SandboxError, match=r"No Docker engine answers at unix://.*--sandbox process"):
            DockerSandboxes()

    def test_something_else_that_answers_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.getsockname()[1]}")
            server.settimeout(0.1)
            monkeypatch.setattr(engine, "ANSWER_S", 0.5)

            with pytest.raises(SandboxError, match="No Docker engine answers"):
                DockerSandboxes()


def test_a_runtime_that_the_engine_lacks_is_told() -> None:
    with pytest.raises(SandboxError, match=r"no runtime 'kata' \(it has runc\)"):
        engine.Engine("1.41", 2, ("runc",)).choose_runtime("kata")


def test_files_that_a_command_deleted_are_there_again(container_of: Callable[..., DockerSandbox]) -> None:
    box = container_of({"pkg/mod.py": "X = 1\n", "a.txt": "one\n"})
    box.write("tests/test_mod.py", b"Y = 2\n")
    box.write("gone.txt", b"")
    box.remove("gone.txt")
    box.run(["sh", "-c", "rm -rf pkg tests a.txt; echo changed >b.txt"], timeout_s=20)

    done = box.run(["sh", "-c", "cat pkg/mod.py tests/test_mod.py a.txt b.txt; ls gone.txt"], timeout_s=20)

    assert done.stdout == "X = 1\nY = 2\none\nchanged\n"
