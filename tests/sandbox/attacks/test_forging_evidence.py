"""Code that changes what makes the evidence, pytest and coverage, in the process where both run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.domain import Target
from bot.errors import MeasureError
from bot.measure.baseline import take
from bot.measure.hollow import hollow_tests
from bot.measure.mutants import generate
from bot.measure.mutation import judge
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox

Opener = Callable[..., Sandbox]

SOURCE = "def sign(x):\n    if x > 0:\n        return 1\n    return -1\n"
WRONG = "from mod import sign\ndef test_wrong():\n    assert sign(3) == 5\ndef test_right():\n    assert sign(3) == 1\n"
WEAK = "from mod import sign\ndef test_weak():\n    assert sign(3) in (1, -1)\n"
TARGET = Target("mod.py", "mod", SOURCE, frozenset(), whole_file=True)

A_REPORT_IS_CHANGED = """
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
    call.excinfo = None
"""

PASSING = {
    "a test function is called in vain": """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return True
""",
    "exceptions vanish in the runner": """
from _pytest import runner
original = runner.CallInfo.from_call.__func__
def from_call(cls, func, *args, **kwargs):
    def quiet():
        try:
            return func()
        except Exception:
            pass
    return original(cls, quiet, *args, **kwargs)
runner.CallInfo.from_call = classmethod(from_call)
""",
    "items do not run": """
import pytest
pytest.Function.runtest = lambda self: None
""",
    "the protocol is another one": """
import pytest
from _pytest import runner
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    for when in ("setup", "call", "teardown"):
        call = runner.CallInfo.from_call(lambda: None, when)
        item.ihook.pytest_runtest_logreport(report=item.ihook.pytest_runtest_makereport(item=item, call=call))
    return True
""",
}

COVERING = {
    "arcs are added": """
from coverage.sqldata import CoverageData
original = CoverageData.arcs
def arcs(self, filename):
    lines = range(1, len(open(filename).readlines()) + 1)
    return [*(original(self, filename) or []), *((-1, line) for line in lines)]
CoverageData.arcs = arcs
""",
    "lines are translated to all": """
from coverage.python import PythonFileReporter
PythonFileReporter.translate_lines = lambda self, lines: self.lines()
""",
}

FAILING_AS_A_MUTANT = """
import os, pytest
@pytest.fixture(autouse=True)
def kill():
    place = os.environ.get("TMPDIR", "")
    assert "/engine/" not in place or "-null-" in place
"""

FAILING_WHEN_EMPTIED = """
import os, pytest
@pytest.fixture(autouse=True)
def kill():
    assert "hollow-" not in os.environ.get("TMPDIR", "")
"""

POSTING_A_KILL = """
import gc, sys
from mod import sign

def test_weak():
    senders = [x for x in gc.get_objects() if type(x).__name__ == "Sender"]
    for sender in senders:
        sender.post(b'{"mutant": 0, "outcome": "killed", "test": 0}\\n')
    assert sign(3) in (1, -1)
"""


def test_a_changed_report_does_not_hide_that_a_test_raised(open_box: Opener) -> None:
    run = run_tests(open_box({"conftest.py": A_REPORT_IS_CHANGED, "test_it.py": WRONG, "mod.py": SOURCE}))

    assert run.passed == ("test_it.py::test_right",)
    assert run.red == ("test_it.py::test_wrong",)


@pytest.mark.parametrize("attack", PASSING)
def test_nothing_passes_where_everything_would(open_box: Opener, attack: str) -> None:
    box = open_box({"conftest.py": PASSING[attack], "test_it.py": WRONG, "mod.py": SOURCE})
    run = run_tests(box)

    assert "something makes tests pass" in run.unsafe
    assert not run.passed


@pytest.mark.parametrize("attack", COVERING)
def test_nothing_is_covered_where_everything_would_be(open_box: Opener, attack: str) -> None:
    box = open_box({"conftest.py": COVERING[attack], "test_it.py": WEAK, "mod.py": SOURCE})
    run = run_tests(box, cover=["mod.py"])

    assert run.unsafe == "a line that never runs is said to be covered"
    assert not run.coverage


def test_a_run_that_is_not_believed_is_inconclusive(open_box: Opener) -> None:
    box = open_box({"conftest.py": PASSING["items do not run"], "test_it.py": WRONG, "mod.py": SOURCE})

    with pytest.raises(MeasureError, match=r"not believed: a test that must fail passed .*conftest\.py"):
        take(box, [TARGET], timeout_s=60)


def test_a_test_that_fails_wherever_a_mutant_is_kills_none(open_box: Opener) -> None:
    box = open_box({"conftest.py": FAILING_AS_A_MUTANT, "test_it.py": WEAK, "mod.py": SOURCE})
    run = run_tests(box, cover=["mod.py"])

    with pytest.raises(MeasureError, match="kills a mutant that changes nothing"):
        judge(box, TARGET, generate("mod.py", SOURCE), run)


def test_a_test_that_fails_wherever_functions_are_emptied_is_not_believed(open_box: Opener) -> None:
    box = open_box({"conftest.py": FAILING_WHEN_EMPTIED, "test_it.py": WEAK, "mod.py": SOURCE})
    run = run_tests(box, cover=["mod.py"])

    with pytest.raises(MeasureError, match="does not pass there even with nothing emptied"):
        hollow_tests(box, TARGET, run, run.passed)


def test_a_test_cannot_say_that_it_has_killed_a_mutant(open_box: Opener) -> None:
    run = run_tests(open_box({"test_it.py": WEAK, "mod.py": SOURCE}), cover=["mod.py"])
    mutants = generate("mod.py", SOURCE)

    honest = judge(open_box({"test_it.py": WEAK, "mod.py": SOURCE}), TARGET, mutants, run)
    forged = judge(open_box({"test_it.py": POSTING_A_KILL, "mod.py": SOURCE}), TARGET, mutants, run)

    assert [verdict.outcome for verdict in forged.verdicts] == [v.outcome for v in honest.verdicts]
