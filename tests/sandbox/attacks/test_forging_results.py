"""Code that writes results itself, from anywhere but the test runner: no kind of sandbox takes them in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.domain import SuiteRun
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox

Opener = Callable[..., Sandbox]

FORGER = '''
"""Writes what the test runner would write, with all that it can find of it."""
import gc, glob, json, os, sys

def letter(outcome):
    event = {"event": "test", "id": "test_it.py::test_wrong", "outcome": outcome, "duration": 0.0, "message": "",
             "detail": "", "assertion": False}
    return json.dumps(event).encode() + b"\\n"

def forge(outcome="passed"):
    letterbox = sys.modules["testforge_guest.letterbox"]
    for thing in gc.get_objects():
        if type(thing) is letterbox.Sender:
            thing.post(letter(outcome))
'''

FROM_A_CHILD = """
import os, subprocess, sys
from forger import forge

def test_wrong():
    child = os.fork()
    if child == 0:
        forge()
        os._exit(0)
    os.waitpid(child, 0)
    assert False
"""

FROM_A_PROCESS_THAT_STAYS = """
import os, time
from forger import forge

def test_wrong():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                try:
                    forge()
                except OSError:
                    pass
                time.sleep(0.01)
        os._exit(0)
    assert False
"""

AT_EXIT = """
import atexit
from forger import forge

def test_wrong():
    atexit.register(forge)
    assert False
"""

IN_THE_FILE = """
import glob, os
from forger import letter

def test_wrong():
    assert False

def test_x_forges():
    files = glob.glob(os.environ['HOME'].replace('/home', '') + '/job-*/results.jsonl')
    assert files
    for path in files:
        with open(path, 'r+b') as file:
            content = b''
            while b'"failed"' not in content:
                file.seek(0)
                content = file.read()
            file.seek(0)
            file.write(CHANGE)
            file.truncate()
"""

LOOKING_FOR_THE_KEY = """
import ctypes, os, pytest

def clerk():
    return os.getppid()

def test_memory():
    with pytest.raises(PermissionError):
        open(f'/proc/{clerk()}/mem', 'rb').read(1)

def test_input():
    for process in (1, clerk()):
        try:
            assert open(f'/proc/{process}/fd/0', 'rb', buffering=0).read(16) in (b'', None)
        except OSError:
            pass

def test_tracing():
    assert ctypes.CDLL(None).ptrace(16, clerk(), 0, 0) == -1

def test_own_memory():
    import gc
    assert not [thing for thing in gc.get_objects() if type(thing).__name__ in ('Seal', 'Clerk')]
"""

AND_LEAVES = """
import os
from forger import forge

def test_wrong():
    forge()
    os._exit(0)
"""

FROM_A_THREAD = """
import threading
from forger import forge

def test_wrong():
    thread = threading.Thread(target=forge)
    thread.start()
    thread.join()
    assert False
"""

LATER = """
from forger import forge

def test_wrong():
    assert False

def test_x():
    forge()
"""


def seen(run: SuiteRun) -> dict[str, str]:
    return {result.id.partition("::")[2]: str(result.outcome) for result in run.results}


def test_what_another_process_than_the_runner_writes_is_no_result(closed_box_of: Opener) -> None:
    attacks = {"child": FROM_A_CHILD, "stays": FROM_A_PROCESS_THAT_STAYS, "exit": AT_EXIT}
    box = closed_box_of({"forger.py": FORGER})

    for name, attack in attacks.items():
        box.write("test_it.py", attack.encode())
        run = run_tests(box, timeout_s=60)

        assert seen(run) == {"test_wrong": "failed"}, name
        assert not run.unsafe, name


CHANGES = ("content + letter('passed')", "content.replace(b'failed', b'passed')", "b''", "content[:200]")


def test_no_test_passes_where_the_file_of_results_was_changed(closed_box_of: Opener) -> None:
    box = closed_box_of({"forger.py": FORGER})

    for change in CHANGES:
        box.write("test_it.py", IN_THE_FILE.replace("CHANGE", change).encode())
        run = run_tests(box, timeout_s=60)

        assert "something else than the test runner" in run.unsafe, change
        assert not run.passed, change


def test_the_key_of_the_seals_is_out_of_reach(closed_box_of: Opener) -> None:
    run = run_tests(closed_box_of({"test_it.py": LOOKING_FOR_THE_KEY}), timeout_s=60)

    assert not run.red, run.results
    assert len(run.passed) == 4


@pytest.mark.parametrize("attack", [FROM_A_THREAD, LATER], ids=["thread", "later"])
def test_a_second_result_of_a_test_makes_all_of_them_worthless(open_box: Opener, attack: str) -> None:
    run = run_tests(open_box({"forger.py": FORGER, "test_it.py": attack}), timeout_s=60)

    assert run.unsafe == "a result of test_it.py::test_wrong was written while that test was not running"
    assert not run.passed


def test_a_result_before_the_process_ends_itself_does_not_count(open_box: Opener) -> None:
    run = run_tests(open_box({"forger.py": FORGER, "test_it.py": AND_LEAVES}), timeout_s=60)

    assert seen(run) == {"test_wrong": "error"}
