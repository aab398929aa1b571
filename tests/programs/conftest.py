"""Tables of small programs, run in a real sandbox."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.programs.assertions import Assertion, split
from bot.programs.table import Problem, Table, tabulate
from bot.sandbox import Sandbox

Tabulate = Callable[..., Table]


@pytest.fixture
def table_of(open_box: Callable[..., Sandbox]) -> Tabulate:
    """Run programs against assertions: `table_of(["def f(x): ..."], "assert f(1) == 2")`."""

    def run(programs: list[str], tests: str | list[Assertion], **how: object) -> Table:
        assertions = split(tests, "f") if isinstance(tests, str) else tuple(tests)
        problem = Problem(tuple(programs), tuple(assertions))
        return tabulate(open_box({}), [problem], **how)[0]  # type: ignore[arg-type]

    return run
