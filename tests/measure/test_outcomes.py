"""Outcomes of real pytest runs in a real sandbox, and what is left of them when tests misbehave."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.domain import Outcome, SuiteRun
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox

OpenBox = Callable[..., Sandbox]


def outcomes(run: SuiteRun) -> dict[str, str]:
    """Results by the test's name after the file."""
    return {result.id.partition("::")[2]: result.outcome.value for result in run.results}


def run_file(
    open_box: OpenBox, source: str, *, files: dict[str, str] | None = None, **how: object
) -> SuiteRun:
    """Run one test file, tests/test_it.py."""
    box = open_box({"tests/test_it.py": source, **(files or {})})
    return run_tests(box, ["tests/test_it.py"], **how)  # type: ignore[arg-type]


KINDS = """
import sys
import unittest
import pytest

def test_pass(): pass
def test_assert(): assert 1 + 1 == 3
def test_raise(): {}["key"]
def test_fail(): pytest.fail("no good")
def test_not_raised():
    with pytest.raises(ValueError):
        pass
def test_exit(): sys.exit(3)
@pytest.fixture
def broken(): raise OSError("no disk")
def test_setup(broken): pass
@pytest.fixture
def untidy():
    yield
    raise OSError("still open")
def test_teardown(untidy): pass
@pytest.mark.skip(reason="not today")
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert False
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.xfail(strict=True)
def test_xpass_strict(): pass
class TestCase(unittest.TestCase):
    def test_unit(self): self.assertEqual(1, 2)
    @unittest.expectedFailure
    def test_expected(self): self.assertEqual(1, 2)
"""


def test_each_kind_of_ending_has_its_outcome(open_box: OpenBox) -> None:
    run = run_file(open_box, KINDS)

    assert outcomes(run) == {
        "test_pass": "passed",
        "test_assert": "failed",
        "test_raise": "failed",
        "test_fail": "failed",
        "test_not_raised": "failed",
        "test_exit": "failed",
        "test_setup": "error",
        "test_teardown": "error",
        "test_skip": "skipped",
        "test_xfail": "xfailed",
        "test_xpass": "xfailed",
        "test_xpass_strict": "failed",
        "TestCase::test_unit": "failed",
        "TestCase::test_expected": "xfailed",
    }
    asserted = {result.id.rpartition("::")[2] for result in run.results if result.assertion}
    assert asserted == {"test_assert", "test_fail", "test_not_raised", "test_unit"}
    assert run.crash == ""


def test_a_failure_is_told_with_its_place_and_the_asserted_values(open_box: OpenBox) -> None:
    run = run_file(
        open_box, "def double(x):\n    return x + x\n\ndef test_it():\n    assert double(2) == 5\n"
    )

    (result,) = run.results
    assert result.message == "AssertionError: assert 4 == 5"
    assert result.detail.splitlines() == [
        "tests/test_it.py:5: in test_it",
        "    assert double(2) == 5",
        "E   assert 4 == 5",
        "E    +  where 4 = double(2)",
    ]


def test_a_fixture_that_there_is_not_is_named(open_box: OpenBox) -> None:
    run = run_file(open_box, "def test_it(database): pass\n")

    assert [(r.outcome.value, r.message) for r in run.results] == [("error", "fixture 'database' not found")]


def test_a_parametrised_case_has_its_function_and_the_index_of_each_argument(open_box: OpenBox) -> None:
    source = """
import pytest
class TestIt:
    @pytest.mark.parametrize("a, b", [(1, 2), (3, 4)])
    @pytest.mark.parametrize("c", ["x::y", "z/[w]"])
    def test_it(self, a, b, c): pass
"""
    run = run_file(open_box, source)

    assert [(result.function, dict(result.case)) for result in run.results] == [
        ("TestIt::test_it", {"a": 0, "b": 0, "c": 0}),
        ("TestIt::test_it", {"a": 1, "b": 1, "c": 0}),
        ("TestIt::test_it", {"a": 0, "b": 0, "c": 1}),
        ("TestIt::test_it", {"a": 1, "b": 1, "c": 1}),
    ]
    again = run_tests(open_box({"tests/test_it.py": source}), [run.results[2].id])
    assert [result.id for result in again.results] == ["tests/test_it.py::TestIt::test_it[z/[w]-1-2]"]


def test_a_selected_test_brings_no_other_along_whose_name_starts_the_same(open_box: OpenBox) -> None:
    box = open_box({"test_it.py": "def test_x(): pass\ndef test_x_ok(): pass\n"})

    assert run_tests(box, ["test_it.py::test_x"]).passed == ("test_it.py::test_x",)


def test_nothing_selected_is_the_repositorys_own_collection(open_box: OpenBox) -> None:
    box = open_box(
        {
            "pytest.ini": "[pytest]\ntestpaths = checks\npython_files = check_*.py\n",
            "checks/check_a.py": "def test_a(): pass\n",
            "tests/test_b.py": "def test_b(): pass\n",
        }
    )

    assert run_tests(box).passed == ("checks/check_a.py::test_a",)


def test_ids_are_relative_to_the_tree_when_pytest_is_configured_in_a_directory_below(
    open_box: OpenBox,
) -> None:
    box = open_box({"python/pytest.ini": "[pytest]\n", "python/tests/test_a.py": "def test_a(): pass\n"})

    run = run_tests(box, ["python/tests/test_a.py"])

    assert run.passed == ("python/tests/test_a.py::test_a",)
    assert run_tests(box, run.passed).passed == run.passed


ENDINGS = """
import os, signal, sys, pytest
def test_first(): pass
def test_exits(): os._exit(0)
def test_is_killed(): os.kill(os.getpid(), signal.SIGKILL)
def test_leaves_pytest(): pytest.exit("enough")
def test_interrupts(): raise KeyboardInterrupt
def test_last(): pass
"""


@pytest.mark.slow
def test_a_test_that_ends_the_interpreter_is_an_error_and_the_others_still_run(open_box: OpenBox) -> None:
    run = run_file(open_box, ENDINGS)

    assert outcomes(run) == {
        "test_first": "passed",
        "test_exits": "error",
        "test_is_killed": "error",
        "test_leaves_pytest": "error",
        "test_interrupts": "error",
        "test_last": "passed",
    }
    assert [result.message for result in run.results if result.outcome is Outcome.ERROR] == [
        "exited the interpreter: the process exited with code 0",
        "exited the interpreter: the process was killed by signal 9",
        "exited the interpreter: Exit: enough",
        "exited the interpreter: KeyboardInterrupt",
    ]
    assert run.results[1].function == "test_exits"
    assert run.crash == ""


@pytest.mark.slow
def test_a_test_that_hangs_is_timed_out_and_the_others_still_run(open_box: OpenBox) -> None:
    source = "import time\ndef test_a(): pass\ndef test_b():\n    while True: pass\ndef test_c(): pass\n"
    run = run_file(open_box, source, test_timeout_s=6)

    assert outcomes(run) == {"test_a": "passed", "test_b": "timed out", "test_c": "passed"}
    assert run.results[1].message == "timed out after 6 s"


@pytest.mark.slow
def test_a_run_past_its_limit_keeps_what_it_found_and_says_so(open_box: OpenBox) -> None:
    source = "import time\ndef test_a(): pass\ndef test_b(): time.sleep(60)\ndef test_c(): pass\n"
    run = run_file(open_box, source, timeout_s=12)

    assert outcomes(run) == {"test_a": "passed", "test_b": "timed out"}
    assert run.crash == "timed out after 12 s"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise RuntimeError('broken')\n", "RuntimeError: broken"),
        ("import nothing_of_this_name\n", "No module named 'nothing_of_this_name'"),
        ("def test_x(:\n", "SyntaxError"),
        ("import os\nos._exit(3)\n", "exited the interpreter: the process exited with code 3"),
        ("import sys\nsys.exit(3)\n", "exited the interpreter"),
        pytest.param("while True: pass\n", "timed out after 6 s", marks=pytest.mark.slow),
    ],
    ids=["raises", "missing module", "syntax", "os._exit", "sys.exit", "hangs"],
)
def test_a_file_that_cannot_be_imported_is_told_and_the_other_files_run(
    open_box: OpenBox, source: str, message: str
) -> None:
    box = open_box(
        {"test_a.py": "def test_a(): pass\n", "test_bad.py": source, "test_z.py": "def test_z(): pass\n"}
    )

    run = run_tests(box, test_timeout_s=6)

    assert run.passed == ("test_a.py::test_a", "test_z.py::test_z")
    assert [error.path for error in run.collection_errors] == ["test_bad.py"]
    assert message in run.collection_errors[0].message


def test_a_file_that_is_not_there_is_told_and_the_others_run(open_box: OpenBox) -> None:
    box = open_box({"test_a.py": "def test_a(): pass\n"})

    run = run_tests(box, ["test_gone.py", "test_a.py"])

    assert run.passed == ("test_a.py::test_a",)
    assert [(error.path, error.message) for error in run.collection_errors] == [
        ("test_gone.py", "there is no such file")
    ]


def test_a_conftest_that_raises_is_the_reason_why_pytest_did_not_start(open_box: OpenBox) -> None:
    box = open_box({"conftest.py": "import nothing_of_this_name\n", "test_a.py": "def test_a(): pass\n"})

    run = run_tests(box)

    assert run.results == ()
    assert run.crash == (
        "pytest could not start: conftest.py: ModuleNotFoundError: No module named 'nothing_of_this_name'"
    )


def test_an_option_that_pytest_does_not_know_is_the_reason_why_it_did_not_start(open_box: OpenBox) -> None:
    box = open_box(
        {"pytest.ini": "[pytest]\naddopts = --no-such-option\n", "test_a.py": "def test_a(): pass\n"}
    )

    assert run_tests(box).crash == "pytest could not start: unrecognized arguments: --no-such-option"


MISCHIEF = """
import os, shutil, subprocess, sys, threading, time
def test_closes_its_output(): os.close(1); os.close(2)
def test_goes_elsewhere(): os.chdir("/")
def test_forks():
    if os.fork() == 0: return
def test_leaves_a_thread(): threading.Thread(target=time.sleep, args=(600,)).start()
def test_leaves_a_child(): subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
def test_deletes_its_directory(): shutil.rmtree(os.path.dirname(__file__))
def test_last(): pass
"""


def test_what_tests_break_around_them_loses_no_result(open_box: OpenBox) -> None:
    run = run_file(open_box, MISCHIEF)

    assert set(outcomes(run).values()) == {"passed"}
    assert len(run.results) == 7
    assert run.crash == ""
    assert run.duration_s < 60


@pytest.mark.parametrize("harm", ["sys.stdout.close()", "os.closerange(3, 200)"])
def test_a_test_that_breaks_pytests_capture_spoils_no_other(open_box: OpenBox, harm: str) -> None:
    run = run_file(open_box, f"import os, sys\ndef test_a(): {harm}\ndef test_b(): print('b')\n")

    assert outcomes(run) == {"test_a": "failed", "test_b": "passed"}


def test_a_runner_that_is_killed_does_not_pass_for_a_run_that_ended(open_box: OpenBox) -> None:
    run = run_file(
        open_box,
        "import os\ndef test_a(): pass\ndef test_b(): os.kill(os.getppid(), 9)\ndef test_c(): pass\n",
    )

    # What the runner had not taken in yet is lost with it.
    assert outcomes(run).get("test_a") in ("passed", "error", None)
    assert run.crash.startswith("the test runner exited with")


def test_an_order_seed_shuffles_the_same_way_each_time(open_box: OpenBox) -> None:
    box = open_box({"test_it.py": "".join(f"def test_{name}(): pass\n" for name in "abcdefgh")})

    plain = run_tests(box).passed
    shuffled = run_tests(box, order_seed=1).passed

    assert list(plain) == sorted(plain)
    assert sorted(shuffled) == sorted(plain)
    assert shuffled != plain
    assert run_tests(box, order_seed=1).passed == shuffled


def test_the_hash_seed_reaches_the_tests(open_box: OpenBox) -> None:
    source = "import os\ndef test_it(): assert os.environ['PYTHONHASHSEED'] == '7'\n"

    assert outcomes(run_file(open_box, source, hash_seed=7)) == {"test_it": "passed"}


def test_modules_of_the_repository_may_have_the_names_of_the_guests(open_box: OpenBox) -> None:
    names = ["session", "plugin", "results", "worker", "run", "options", "journal", "boot"]
    files = {f"{name}.py": f"NAME = {name!r}\n" for name in names}
    source = (
        "".join(f"import {name}\n" for name in names)
        + "def test_it():\n"
        + "".join(f"    assert {name}.NAME == {name!r}\n" for name in names)
    )

    assert outcomes(run_file(open_box, source, files=files)) == {"test_it": "passed"}


MACHINE = """
import os, platform, socket, sysconfig

def test_processor(): assert platform.machine() == os.uname().machine == {machine!r}
def test_platform(): assert sysconfig.get_platform() == {platform!r}
def test_host(): assert socket.gethostname() == {host!r}
def test_kept(monkeypatch):
    monkeypatch.setattr(platform, "uname", lambda: "mine")
    assert platform.uname() == "mine"
def test_system(): assert platform.system() == {system!r}
"""


def test_a_test_that_says_what_this_machine_is_fails_elsewhere(open_box: OpenBox) -> None:
    import platform
    import socket
    import sysconfig

    here = MACHINE.format(
        machine=platform.machine(),
        platform=sysconfig.get_platform(),
        host=socket.gethostname(),
        system=platform.system(),
    )
    found = outcomes(run_file(open_box, here, elsewhere=True))
    assert found == {
        "test_processor": "failed",
        "test_platform": "failed",
        "test_host": "failed",
        "test_kept": "passed",
        "test_system": "passed",
    }


def test_the_machine_is_the_real_one_again_for_fixtures_and_the_next_test(open_box: OpenBox) -> None:
    source = """
import platform, pytest
REAL = platform.machine()

@pytest.fixture
def before():
    assert platform.machine() == REAL
    yield
    assert platform.machine() == REAL

def test_a(before): assert platform.machine() != REAL
def test_b(before, monkeypatch):
    monkeypatch.setattr(platform, "uname", lambda: "mine")
def test_c(before): assert platform.uname().machine != REAL
"""
    assert set(outcomes(run_file(open_box, source, elsewhere=True)).values()) == {"passed"}
    assert outcomes(run_file(open_box, source)) == {
        "test_a": "failed",
        "test_b": "passed",
        "test_c": "failed",
    }


def test_a_session_that_is_stopped_early_loses_no_result(open_box: OpenBox) -> None:
    stop = "def pytest_runtest_teardown(item):\n    item.session.shouldstop = 'enough'\n"
    run = run_file(
        open_box, "def test_a(): pass\ndef test_b(): assert False\n", files={"tests/conftest.py": stop}
    )
    assert (outcomes(run), run.unsafe) == ({"test_a": "passed", "test_b": "failed"}, "")


def test_hooks_that_count_on_a_fixture_of_each_test_are_no_reason_to_doubt(open_box: OpenBox) -> None:
    hooks = (
        "import pytest\n@pytest.fixture(autouse=True)\ndef page():\n    return 1\n"
        "def pytest_runtest_makereport(item, call):\n    if call.when == 'call':\n        assert item.funcargs['page']\n"
    )
    run = run_file(
        open_box, "def test_a(): pass\ndef test_b(): assert False\n", files={"tests/conftest.py": hooks}
    )
    assert (outcomes(run), run.unsafe) == ({"test_a": "passed", "test_b": "failed"}, "")
