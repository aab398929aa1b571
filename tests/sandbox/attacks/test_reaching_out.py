"""Code in a container that looks for the host: its files, environment, network, other processes, and rights."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.sandbox.docker import DockerSandbox, DockerSandboxes

Opener = Callable[..., DockerSandbox]

WALK = """
import os
for top, names, files in os.walk('/'):
    names[:] = [name for name in names if os.path.join(top, name) not in ('/proc', '/sys', '/dev')]
    for name in files:
        try:
            with open(os.path.join(top, name), 'rb') as file:
                if b'host-' b'secret-4711' in file.read(4096):
                    print('found', top, name)
        except OSError:
            pass
"""


def test_no_file_of_the_host_is_there(container: DockerSandbox, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("host-secret-4711")

    done = container.run(["python", "-c", WALK], timeout_s=120)

    assert (done.exit_code, done.stdout) == (0, "")


def test_no_variable_of_the_host_is_there(monkeypatch: pytest.MonkeyPatch, container_of: Opener) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "host-secret-4711")
    box = container_of()

    done = box.run(["sh", "-c", "env; cat /proc/*/environ"], timeout_s=20)

    assert "host-secret" not in done.stdout
    assert "TOKEN" not in done.stdout


def test_the_engines_socket_is_not_there(shared_container: DockerSandbox) -> None:
    done = shared_container.run(
        ["sh", "-c", "ls /var/run/docker.sock /run/docker.sock /run/containerd"], timeout_s=20
    )

    assert done.stdout == ""


def test_services_on_the_hosts_loopback_are_not_reached(shared_container: DockerSandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"
        done = shared_container.run(["python", "-c", program], timeout_s=30)

    assert "ConnectionRefusedError" in done.stderr


def test_no_address_is_reached(shared_container: DockerSandbox) -> None:
    program = (
        "import socket\n"
        "for address in ('169.254.169.254', '172.17.0.1', '10.0.0.1', '8.8.8.8'):\n"
        "    try:\n"
        "        socket.create_connection((address, 80), 5)\n"
        "    except OSError as problem:\n"
        "        print(problem.strerror)\n"
    )

    told = shared_container.run(["python", "-c", program], timeout_s=60).stdout.splitlines()

    assert len(told) == 4
    assert all("unreachable" in line or "No route to host" in line for line in told)


def test_no_name_is_resolved(shared_container: DockerSandbox) -> None:
    program = "import socket; print(socket.getaddrinfo('example.com', 80))"

    done = shared_container.run(["python", "-c", program], timeout_s=60)

    assert done.stdout == ""
    assert "gaierror" in done.stderr


def test_there_is_no_network_but_loopback(shared_container: DockerSandbox) -> None:
    done = shared_container.run(
        ["python", "-c", "import socket; print([n for _, n in socket.if_nameindex()])"], timeout_s=20
    )

    # A kernel with tunnels built in shows their templates everywhere; they lead nowhere and cannot be brought up.
    assert "eth0" not in done.stdout
    assert "lo" in done.stdout


def test_two_containers_do_not_reach_each_other(container_of: Opener) -> None:
    one, other = container_of(), container_of()
    one.write(f"{one.scratch}/mine", b"x")
    other.run(
        ["sh", "-c", "echo theirs > left; echo theirs > /tmp/left; echo theirs > /dev/shm/left"], timeout_s=20
    )

    done = one.run(["sh", "-c", "ls . /tmp /dev/shm"], timeout_s=20)

    assert "left" not in done.stdout
    listing = ["python", "-c", f"import os; print(sorted(os.listdir({other.scratch!r})))"]
    assert other.run(listing, timeout_s=20).stdout == "['home', 'tmp']\n"


def test_processes_of_the_host_are_not_seen(shared_container: DockerSandbox) -> None:
    done = shared_container.run(["sh", "-c", "ls -d /proc/[0-9]*"], timeout_s=20)

    assert len(done.stdout.split()) < 6
    assert f"/proc/{os.getpid()}\n" not in done.stdout


def test_code_has_no_rights_and_cannot_get_any(shared_container: DockerSandbox) -> None:
    done = shared_container.run(
        ["sh", "-c", "id -u; grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status"], timeout_s=20
    )

    uid, *lines = done.stdout.splitlines()
    values = dict(line.split() for line in lines)
    assert uid == "1000"
    assert {values.get(f"Cap{kind}:") for kind in ("Inh", "Prm", "Eff", "Bnd")} == {"0000000000000000"}
    assert values.get("NoNewPrivs:", "1") == "1"


def test_system_calls_are_filtered(container: DockerSandbox, containers: DockerSandboxes) -> None:
    program = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for name, call in (('mount', lambda: libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)),\n"
        "                   ('unshare', lambda: libc.unshare(0x10000000)),\n"
        "                   ('reboot', lambda: libc.reboot(0x1234567))):\n"
        "    print(name, call())\n"
    )

    done = container.run(["python", "-c", program], timeout_s=20)

    said = done.stdout
    if (
        containers.runtime == "runsc"
    ):  # a user namespace there is gVisor's own, and gives no right on the host
        said = said.replace("unshare 0", "unshare -1")
    assert said == "mount -1\nunshare -1\nreboot -1\n"


def test_a_device_is_of_no_use(container: DockerSandbox) -> None:
    program = (
        "import os, stat\n"
        "for kind, numbers in ((stat.S_IFBLK, (254, 0)), (stat.S_IFCHR, (1, 1))):\n"
        "    try:\n"
        "        os.mknod('device', 0o600 | kind, os.makedev(*numbers))\n"
        "        print(os.open('device', os.O_RDONLY))\n"
        "    except OSError as problem:\n"
        "        print('shut')\n"
    )

    done = container.run(["python", "-c", program], timeout_s=20)

    assert done.stdout == "shut\nshut\n"
    assert container.files() == ()


def test_a_setuid_program_gives_nothing(container: DockerSandbox) -> None:
    script = (
        "cp $(readlink -f $(which python)) ./own && chmod 4755 ./own && ./own -I -S -c 'import os; print(os.geteuid())';"
        "find / -xdev -perm /6000 -type f 2>/dev/null"
    )

    done = container.run(["sh", "-c", script], timeout_s=60)

    assert done.stdout in ("1000\n", "1000\n/testforge/tree/own\n")


def test_nothing_outside_the_work_tree_can_be_written(shared_container: DockerSandbox) -> None:
    program = (
        "for place in ('/', '/usr/bin', '/etc', '/environment/venv', '/opt/testforge/guest', '/sys', '/proc'):\n"
        "    try:\n"
        "        open(place + '/planted', 'w')\n"
        "    except OSError as problem:\n"
        "        print(problem.strerror)\n"
    )

    told = shared_container.run(["python", "-c", program], timeout_s=60).stdout.splitlines()

    assert len(told) == 7
    assert all(any(word in line for word in ("Read-only", "Permission", "No such file")) for line in told)


def test_hidden_parts_of_proc_stay_hidden(shared_container: DockerSandbox) -> None:
    done = shared_container.run(
        [
            "sh",
            "-c",
            "cat /proc/kcore /proc/keys /proc/timer_list /proc/sysrq-trigger | wc -c; echo b > /proc/sysrq-trigger",
        ],
        timeout_s=20,
    )

    assert done.stdout == "0\n"
    assert done.stderr != ""


def test_the_first_process_is_closed_to_the_code(container: DockerSandbox) -> None:
    program = (
        "import os, signal\n"
        "for path in ('/proc/1/mem', '/proc/1/fd/0', '/proc/1/fd/1'):\n"
        "    try:\n"
        "        print(path, os.open(path, os.O_RDONLY))\n"
        "    except OSError as problem:\n"
        "        print('shut')\n"
        "import ctypes\n"
        "print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))\n"
        "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP, signal.SIGKILL):\n"
        "    try:\n"
        "        os.kill(1, number)\n"
        "    except PermissionError:\n"
        "        pass\n"
    )

    done = container.run(["python", "-c", program], timeout_s=20)

    assert done.stdout == "shut\nshut\nshut\n-1\n"
    assert container.run(["echo", "on"], timeout_s=20).stdout == "on\n"
