"""Tests that try to pass without passing."""

from __future__ import annotations

from collections.abc import Callable

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


def test_what_outlives_its_test_neither_changes_nor_delays_the_result(container_of: Opener) -> None:
    box = container_of({"test_it.py": OUTLIVE})

    run = run_tests(box, timeout_s=60)

    assert [str(result.outcome) for result in run.results] == ["failed"]
    assert run.duration_s < 30


def test_a_conftest_that_edits_the_source_makes_no_test_pass(container_of: Opener) -> None:
    edit = "import pathlib\npathlib.Path('mod.py').write_text('def answer():\\n    return 42\\n')\n"
    edited = container_of({"conftest.py": edit, "test_wrong.py": WRONG, "mod.py": SOURCE})

    run = run_tests(edited, cover=["mod.py"])

    assert [str(result.outcome) for result in run.results] == ["error"]
    assert run.unsafe == "the tests changed mod.py while they ran"
    assert outcomes(container_of({"test_wrong.py": WRONG, "mod.py": SOURCE})) == {"test_wrong": "failed"}


def test_a_test_file_with_an_odd_name_is_no_other_file(container_of: Opener) -> None:
    names = ("test_a\nb.py", "test_\x1b[31mred.py", "test_ü.py")
    box = container_of({**dict.fromkeys(names, WRONG), "mod.py": SOURCE})

    assert "passed" not in outcomes(box, *names).values()
