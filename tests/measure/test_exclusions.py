"""Mutants that a repository does not want: left out, and counted."""

from __future__ import annotations

import pytest

from bot.domain import SuiteRun, Target
from bot.measure.exclusions import LOGGING, REPR, excluded_lines
from bot.measure.mutants import generate
from bot.measure.mutation import judge

SOURCE = """\
import logging
_log = logging.getLogger(__name__)


class A:
    def __repr__(self):
        return "A" * 2

    def double(self, x):
        _log.debug("%d", x + 1)
        self.logger.info(
            "twice %d",
            x * 2,
        )
        found = log.warning(x - 3)
        return x * 4
"""


@pytest.mark.parametrize(
    ("kinds", "lines"),
    [((), set()), ((REPR,), {7}), ((LOGGING,), {10, 13}), ((REPR, LOGGING), {7, 10, 13})],
)
def test_code_that_is_configured_so_has_no_mutants_and_is_counted(
    kinds: tuple[str, ...], lines: set[int]
) -> None:
    every, rest = generate("a.py", SOURCE), generate("a.py", SOURCE, exclude=kinds)
    assert {mutant.first for mutant in every.mutants} - {mutant.first for mutant in rest.mutants} == lines
    assert rest.excluded == len(every.mutants) - len(rest.mutants)


def test_how_many_are_left_out_is_told_with_the_score() -> None:
    source = "def f(x):\n    log.info(x + 1)\n"
    target = Target("a.py", "a", source, frozenset(), whole_file=True)
    mutants = generate("a.py", source, exclude=(LOGGING,))
    assert mutants.excluded > 10
    # Nothing is left to run, so that no sandbox is needed.
    result = judge(None, target, mutants, SuiteRun())  # type: ignore[arg-type]
    assert result.notes == (f"Left out as configured: {mutants.excluded} mutants.",)
    assert result.score is None


def test_a_text_that_is_no_python_has_nothing_to_leave_out() -> None:
    assert excluded_lines("def f(:\n", (REPR, LOGGING)) == ()
