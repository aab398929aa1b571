"""Code that hangs, forks, daemonises, prints without end, eats memory or deletes everything: nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.sandbox import Limits
from bot.sandbox.process import ProcessSandbox

Opener = Callable[..., ProcessSandbox]

DAEMON = """
    import os, signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open('started', 'w').close()
            time.sleep(600)
        os._exit(0)
    while not os.path.exists('started'):
        time.sleep(0.005)
"""


def program(text: str) -> list[str]:
    return ["python", "-c", textwrap.dedent(text)]


def processes_in(directory: Path) -> list[int]:
    """Return the processes that have to do with a directory of this host, seen from outside any walls."""
    name = str(directory)
    found = []
    for path in Path("/proc").iterdir():
        try:
            if path.name.isdigit() and (
                name in (path / "mountinfo").read_text()
                or name.encode() in (path / "environ").read_bytes()
                or name in str((path / "cwd").readlink())
            ):
                found.append(int(path.name))
        except OSError:
            continue
    return found


def processes_of(box: ProcessSandbox) -> list[int]:
    """Return the processes of a sandbox, and children and zombies of this test's own process."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return processes_in(box.host_tree.parent) + [int(pid) for pid in children]


def test_a_process_of_a_sandbox_would_be_seen(box: ProcessSandbox) -> None:
    with ThreadPoolExecutor() as pool:
        running = pool.submit(box.run, ["sh", "-c", "touch started; sleep 1"], timeout_s=20)
        until((box.host_tree / "started").exists)

        assert len(processes_of(box)) >= 2
        running.result()


def test_a_command_that_hangs_is_killed_at_its_time_limit(box: ProcessSandbox) -> None:
    done = box.run(["sleep", "600"], timeout_s=0.3)

    assert (done.exit_code, done.timed_out) == (None, True)
    assert 0.3 <= done.duration_s < 5
    assert processes_of(box) == []


def test_what_was_printed_before_the_time_limit_is_kept(box: ProcessSandbox) -> None:
    done = box.run(["sh", "-c", "echo early; sleep 600"], timeout_s=2)

    assert done.stdout == "early\n"


def test_ignoring_signals_does_not_help(box: ProcessSandbox) -> None:
    done = box.run(["sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done"], timeout_s=0.3)

    assert done.timed_out
    assert processes_of(box) == []


def test_children_left_running_are_ended_with_the_command(box: ProcessSandbox) -> None:
    done = box.run(["sh", "-c", "sleep 600 & echo done"], timeout_s=20)

    assert (done.exit_code, done.stdout) == (0, "done\n")
    assert done.duration_s < 10
    assert processes_of(box) == []


def test_a_daemon_in_its_own_session_is_ended_with_the_command(box: ProcessSandbox) -> None:
    done = box.run(program(DAEMON), timeout_s=20)

    assert (done.exit_code, done.timed_out) == (0, False)
    assert processes_of(box) == []


def test_a_daemon_is_ended_at_the_time_limit(box: ProcessSandbox) -> None:
    done = box.run(program(DAEMON + "\n    time.sleep(600)"), timeout_s=2)

    assert done.timed_out
    assert processes_of(box) == []


def test_a_fork_bomb_is_stopped(box_of: Opener) -> None:
    box = box_of(limits=Limits(processes=40))

    done = box.run(program("import os, time\nwhile True:\n    os.fork()\n    time.sleep(0.1)"), timeout_s=20)

    assert "more than 40 processes" in done.stderr
    assert not done.timed_out
    assert processes_of(box) == []


def test_endless_output_is_cut_in_its_middle(box_of: Opener) -> None:
    box = box_of(limits=Limits(output=10_000))

    done = box.run(["sh", "-c", "echo first; yes"], timeout_s=0.5)

    assert done.timed_out
    assert done.stdout.startswith("first\ny\n")
    assert " bytes cut ...]\n" in done.stdout
    assert len(done.stdout) < 10_100


def test_output_within_the_limit_is_whole(box_of: Opener) -> None:
    box = box_of(limits=Limits(output=10_000))

    done = box.run(["python", "-c", "print('x' * 9_998)"], timeout_s=20)

    assert done.stdout == "x" * 9_998 + "\n"


def test_the_end_of_long_output_is_kept(box_of: Opener) -> None:
    box = box_of(limits=Limits(output=1000))

    done = box.run(["sh", "-c", "seq 100000"], timeout_s=20)

    assert done.stdout.startswith("1\n2\n")
    assert done.stdout.endswith("\n99999\n100000\n")


def test_a_command_that_closes_its_output_is_still_waited_for(box: ProcessSandbox) -> None:
    done = box.run(["sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 5"], timeout_s=20)

    assert done.exit_code == 5


def test_a_file_that_grows_too_large_is_stopped(box_of: Opener) -> None:
    box = box_of(limits=Limits(file_size=100_000))

    box.run(["sh", "-c", "yes > big"], timeout_s=20)

    assert (box.host_tree / "big").stat().st_size <= 100_000


def test_eating_memory_raises_in_the_process_that_does(box_of: Opener) -> None:
    box = box_of(limits=Limits(memory=512 * 1024**2))

    done = box.run(program("x = bytearray(2 * 1024**3)"), timeout_s=20)

    assert "MemoryError" in done.stderr


def test_eating_memory_in_many_processes_is_stopped(box_of: Opener) -> None:
    box = box_of(limits=Limits(memory=256 * 1024**2))

    done = box.run(
        program(
            """
            import os, time
            for _ in range(4):
                if os.fork() == 0:
                    x = bytearray(b'x') * (100 * 1024**2)
                    time.sleep(600)
            time.sleep(600)
            """
        ),
        timeout_s=20,
    )

    assert "more than 256 MB" in done.stderr
    assert processes_of(box) == []


def test_a_deleted_tree_and_scratch_do_no_harm_to_the_next_command(box: ProcessSandbox) -> None:
    box.run(
        program(
            "import shutil, os\nfor p in (os.getcwd(), os.path.dirname(os.environ['HOME'])): shutil.rmtree(p, True)"
        ),
        timeout_s=20,
    )

    assert box.files() == ()
    assert (
        box.run(["sh", "-c", "pwd; touch $HOME/x $TMPDIR/x && echo ok"], timeout_s=20).stdout
        == f"{box.tree}\nok\n"
    )


def test_a_directory_made_unreadable_is_deleted_at_the_end(box: ProcessSandbox) -> None:
    box.run(["sh", "-c", "mkdir -p a/b/c && touch a/b/c/x && chmod 0 a/b/c a/b a"], timeout_s=20)

    box.close()

    assert not box.host_tree.parent.exists()


def test_directories_within_each_other_without_end_are_neither_met_nor_left(box: ProcessSandbox) -> None:
    box.run(program("import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')"), timeout_s=60)

    assert box.files() == ()
    box.remove("d")
    assert list(box.host_tree.iterdir()) == []


def test_exiting_at_once_many_times_leaves_no_descriptors(box: ProcessSandbox) -> None:
    box.run(["true"], timeout_s=20)
    before = len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(5):
        box.run(["true"], timeout_s=20)

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_killing_the_watcher_is_noticed_and_the_rest_is_ended(box_of: Opener) -> None:
    box = box_of()
    text = """
        import os, signal, time
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        parent = os.getppid()
        if parent > 2:  # within walls it is nobody's number
            os.kill(parent, signal.SIGKILL)
        time.sleep(600)
    """

    done = box.run(program(text), timeout_s=2)

    assert done.timed_out or "killed what watched over it" in done.stderr
    assert processes_of(box) == []


SESSION = """
import sys
from pathlib import Path
from bot.sandbox import Interpreter
from bot.sandbox.process import ProcessSandboxes

python = Interpreter(sys.executable, "3.11", mounts=(Path(sys.prefix), Path(sys.base_prefix)))
with ProcessSandboxes(sys.argv[2] == "True").open(Path(sys.argv[1]), python) as box:
    box.run(["sh", "-c", "setsid sleep 600 & touch started; sleep 600"], timeout_s=600)
"""


@pytest.fixture
def session(walls: bool, tmp_path: Path) -> subprocess.Popen[bytes]:
    """A process of its own that is in the middle of a command, with TMPDIR below `tmp_path`."""
    for name in ("tree", "temp"):
        (tmp_path / name).mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-c", SESSION, str(tmp_path / "tree"), str(walls)],
        env={"TMPDIR": str(tmp_path / "temp"), "PATH": os.environ["PATH"], "PYTHONPATH": str(Path.cwd())},
        stderr=subprocess.DEVNULL,
    )
    until(lambda: any((tmp_path / "temp").glob("*/tree/started")))
    return process


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_ctrl_c_leaves_no_children_and_no_directories(
    session: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert processes_in(tmp_path / "temp")

    session.send_signal(signal.SIGINT)
    session.wait(20)

    assert processes_in(tmp_path / "temp") == []
    assert list((tmp_path / "temp").iterdir()) == []


def test_a_killed_testforge_leaves_no_children(session: subprocess.Popen[bytes], tmp_path: Path) -> None:
    session.kill()
    session.wait(20)

    until(lambda: processes_in(tmp_path / "temp") == [])
