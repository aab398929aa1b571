"""Tests that try to pass without passing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.measure.outcomes import run_tests
from bot.sandbox.docker import DockerSandbox

Opener = Callable[..., DockerSandbox]

WRONG = "import mod\n\n\ndef test_wrong():\n    assert mod.answer() == 42\n"
SOURCE = "def answer():\n    return 41\n"

REPLACE = """
import coverage, glob, os, pathlib, pytest

def test_a_replaces():
    shut = 0
    targets = [pytest.__file__, coverage.__file__, *glob.glob('/opt/testforge/guest/*.py'), *glob.glob('/opt/testforge/bin/*')]
    for path in targets:
        for change in (lambda: pathlib.Path(path).write_text('raise SystemExit(0)'), lambda: os.unlink(path), lambda: os.chmod(path, 0o777)):
            try:
                change()
            except OSError:
                shut += 1
    assert shut == 3 * len(targets) > 30
"""

APPEND = """
import glob, json, os

def test_wrong():
    assert False

def test_x_forges():
    journals = [
        path for path in glob.glob('/testforge/scratch/**', recursive=True)
        if os.path.isfile(path) and b'"event"' in open(path, 'rb').read()
    ]
    assert journals
    for path in journals:
        with open(path, 'a') as file:
            event = {'event': 'test', 'id': 'test_it.py::test_wrong', 'outcome': 'passed', 'duration': 0.0, 'message': '', 'detail': '', 'assertion': False}
            file.write(json.dumps(event) + chr(10))
"""

OUTLIVE = """
import atexit, os, threading, time

def go_on():
    time.sleep(0.2)
    os._exit(0)

def test_wrong():
    atexit.register(os._exit, 0)
    threading.Thread(target=time.sleep, args=(600,)).start()
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    assert False
"""


def outcomes(box: DockerSandbox, *selection: str) -> dict[str, str]:
    return {result.id.partition("::")[2]: str(result.outcome) for result in run_tests(box, selection).results}


def test_pytest_coverage_and_the_guest_cannot_be_replaced(container_of: Opener) -> None:
    box = container_of({"test_it.py": REPLACE, "test_wrong.py": WRONG, "mod.py": SOURCE})

    assert outcomes(box) == {"test_a_replaces": "passed", "test_wrong": "failed"}
    assert outcomes(box) == {"test_a_replaces": "passed", "test_wrong": "failed"}


def test_a_verdict_that_is_added_later_does_not_make_a_failing_test_pass(container_of: Opener) -> None:
    found = outcomes(container_of({"test_it.py": APPEND}))

    assert found == {"test_wrong": "failed", "test_x_forges": "passed"}


def test_what_outlives_its_test_neither_changes_nor_delays_the_result(container_of: Opener) -> None:
    box = container_of({"test_it.py": OUTLIVE})

    run = run_tests(box, timeout_s=60)

    assert [str(result.outcome) for result in run.results] == ["failed"]
    assert run.duration_s < 30


def test_a_conftest_that_edits_the_source_does_so_in_its_own_copy_only(container_of: Opener) -> None:
    edit = "import pathlib\npathlib.Path('mod.py').write_text('def answer():\\n    return 42\\n')\n"
    edited = container_of({"conftest.py": edit, "test_wrong.py": WRONG, "mod.py": SOURCE})

    assert outcomes(edited) == {"test_wrong": "passed"}
    assert edited.read("mod.py") != SOURCE.encode()  # as the host sees, too
    assert outcomes(container_of({"test_wrong.py": WRONG, "mod.py": SOURCE})) == {"test_wrong": "failed"}


@pytest.mark.parametrize("name", ["test_a\nb.py", "test_\x1b[31mred.py", "test_ü.py"])
def test_a_test_file_with_an_odd_name_is_no_other_file(container_of: Opener, name: str) -> None:
    found = outcomes(container_of({name: WRONG, "mod.py": SOURCE}), name)

    assert "passed" not in found.values()
