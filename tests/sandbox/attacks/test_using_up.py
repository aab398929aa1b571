"""Code in a container that uses up what there is: processes, memory, disk, output, time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import dockers
import pytest

from bot.errors import SandboxError
from bot.sandbox import Completed, Limits
from bot.sandbox.docker import DockerSandbox, DockerSandboxes

Opener = Callable[..., DockerSandbox]
MB = 1024**2

FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""

MEMORY_BOMB = """
import os
while True:
    try:
        if os.fork() == 0:
            hold = bytearray(100 * 2**20)
            hold[::4096] = b'x' * len(hold[::4096])
            while True:
                os.sched_yield()
    except OSError:
        pass
"""

ENDLESS = """
import atexit, os, signal, sys, threading, time

def ignores():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(600)

def daemon():
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)

def at_exit():
    atexit.register(time.sleep, 600)

def thread():
    threading.Thread(target=time.sleep, args=(600,)).start()

def busy():
    while True:
        pass

for way in (ignores, daemon, at_exit, thread, busy):
    if os.fork() == 0:
        way()
        sys.exit()
at_exit()
thread()
"""


def attempt(box: DockerSandbox, program: str) -> Completed | None:
    """Run a program for a few seconds; None if the container did not survive it, as gVisor's does not."""
    try:
        return box.run(["python", "-I", "-S", "-c", program], timeout_s=3)
    except SandboxError as problem:
        assert "out of memory" in problem.message or "does not answer" in problem.message  # noqa: PT017
        return None


def works(box: DockerSandbox) -> bool:
    return box.run(["echo", "on"], timeout_s=30).stdout == "on\n"


def test_a_fork_bomb_ends_with_its_time(container_of: Opener, containers: DockerSandboxes) -> None:
    bystander = container_of()
    box = container_of(limits=Limits(processes=64))

    done = attempt(box, FORK_BOMB)

    if containers.runtime == "runc":
        assert done is not None
        assert done.timed_out
        assert works(box)
    assert works(bystander)


def test_a_container_has_its_share_of_cores_and_no_memory_beyond_its_limit(container: DockerSandbox) -> None:
    with contextlib.closing(dockers.opened("runc").engine.client()) as client:
        host = client.inspect_container(container.container)["HostConfig"]
    assert host["MemorySwap"] == host["Memory"] > 0  # swap would come on top otherwise
    assert 0 < host["NanoCpus"] <= 2e9


def test_too_much_memory_in_one_process_is_an_error_in_it(container_of: Opener) -> None:
    box = container_of(limits=Limits(memory=512 * MB))

    done = box.run(["python", "-c", "bytearray(1 << 30)"], timeout_s=30)

    assert "MemoryError" in done.stderr
    assert works(box)


def test_a_memory_bomb_hits_only_its_container(container_of: Opener) -> None:
    bystander = container_of()
    box = container_of(limits=Limits(memory=256 * MB, disk=64 * MB, processes=32))

    done = attempt(box, MEMORY_BOMB)

    assert done is None or done.timed_out or done.exit_code == 137
    assert works(bystander)


def test_a_full_disk_is_only_the_containers(container_of: Opener) -> None:
    box = container_of(limits=Limits(disk=64 * MB))
    program = (
        "for place in ('.', '/tmp', '/dev/shm'):\n"
        "    written = 0\n"
        "    try:\n"
        "        with open(place + '/full', 'wb', 0) as file:\n"
        "            while written < 2**30:\n"
        "                written += file.write(b'x' * 2**20)\n"
        "    except OSError as problem:\n"
        "        print(place, problem.strerror, written <= 300 * 2**20)\n"
    )

    done = box.run(["python", "-I", "-S", "-c", program], timeout_s=60)

    assert done.stdout.count("No space left on device True") == 3 or done.stdout.count("True") >= 2, done
    with pytest.raises(SandboxError, match="No space left"):
        box.write("more", b"x" * 2**20)
    box.remove("full")
    box.write("more", b"x" * 2**20)


def test_a_file_may_be_so_large_and_no_larger(container_of: Opener) -> None:
    box = container_of(limits=Limits(file_size=8 * MB))

    done = box.run(["sh", "-c", "head -c 20000000 /dev/zero > big"], timeout_s=30)

    assert done.exit_code != 0
    assert len(box.read("big")) <= 8 * MB


def test_endless_output_is_cut_and_ended(container_of: Opener) -> None:
    box = container_of(limits=Limits(output=100_000))

    done = box.run(["sh", "-c", "yes & yes >&2"], timeout_s=2)

    assert done.timed_out
    assert "bytes cut" in done.stdout
    assert len(done.stdout) < 101_000
    assert len(done.stderr) < 101_000


def test_ten_thousand_files_and_directories_without_end_are_listed_and_deleted(
    container: DockerSandbox,
) -> None:
    program = (
        "import os\nfor n in range(10000):\n    open(f'f{n}', 'w').close()\n"
        "os.makedirs('closed/in')\nopen('closed/in/f', 'w').close()\nos.chmod('closed/in', 0)\nos.chmod('closed', 0o500)\n"
        "for _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\n"
    )
    container.run(["python", "-I", "-S", "-c", program], timeout_s=120)

    assert len(container.files()) == 10_000
    container.remove(".")
    assert container.files() == ()


def test_what_does_not_end_is_ended(container: DockerSandbox) -> None:
    done = container.run(["python", "-I", "-S", "-c", ENDLESS], timeout_s=3)

    assert (done.exit_code, done.timed_out) == (None, True)
    assert len(container.run(["sh", "-c", "ls -d /proc/[0-9]*"], timeout_s=20).stdout.split()) < 6


def test_what_is_left_behind_is_ended_with_its_command(container: DockerSandbox) -> None:
    leave = "(trap '' TERM HUP; setsid sh -c 'while :; do echo x >> seen; sleep 0.05; done') >/dev/null 2>&1 & sleep 0.3"
    container.run(["sh", "-c", leave], timeout_s=20)

    size = len(container.read("seen"))
    container.run(["sleep", "0.3"], timeout_s=20)

    assert len(container.read("seen")) == size


def test_several_threads_may_use_one_container(container: DockerSandbox) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(container.run(["echo", "x"], timeout_s=30).stdout))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == ["x\n"] * 4
