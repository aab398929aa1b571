"""The assertions that an author approved, as a test file a person would write."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from bot.programs.assertions import Assertion
from bot.programs.functions import Subject


def as_test(subject: Subject, module: str, approved: Sequence[Assertion]) -> str:
    """Return a test file: one table for calls of one shape with the value they give, and a test each for the rest.

    Args:
        subject: The function.
        module: The dotted name of its module.
        approved: At least one assertion about it.
    """
    rows = [(one, row) for one in approved if (row := _row(one)) is not None]
    width = len(rows[0][1]) if rows else 0
    table = [row for _, row in rows if len(row) == width]
    if len(table) < 2 or width - 1 > len(subject.parameters):
        table = []
    in_table = {one for one, row in rows if len(row) == width} if table else set()
    rest = [one for one in approved if one not in in_table]
    parts = []
    if table:
        names = [*subject.parameters[: width - 1], "expected"]
        shown = ", ".join(f'"{name}"' for name in names)
        cases = "\n".join(f"        ({', '.join(row)})," for row in table)
        call = f"{subject.name}({', '.join(names[:-1])})"
        parts.append(
            f"@pytest.mark.parametrize(\n    ({shown}),\n    [\n{cases}\n    ],\n)\n"
            f"def test_{subject.name}({', '.join(names)}):\n    assert {call} == expected\n"
        )
    for number, one in enumerate(rest):
        suffix = f"_case_{number + 1}" if table or len(rest) > 1 else ""
        parts.append(f"def test_{subject.name}{suffix}():\n    {one.text}\n")
    imports = ("import pytest\n\n" if table else "") + f"from {module} import {subject.name}\n"
    return "\n\n".join([imports, *parts])


def _row(assertion: Assertion) -> tuple[str, ...] | None:
    """Return the arguments of a call and its value; None if it is no plain equality over positional arguments."""
    call = ast.parse(assertion.call, mode="eval").body
    if (
        assertion.expected is None
        or assertion.predicate.startswith("_ is ")
        or not isinstance(call, ast.Call)
    ):
        return None
    if call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    return (*(ast.unparse(one) for one in call.args), assertion.expected)
