"""Tests that an author approved join a proposed suite: they say what the code should do, so they need no other proof.

Those that the code does not pass are bugs that the author confirmed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bot.domain import Approved, Judgement, Suite, SuspectedBug, Target
from bot.errors import UsageError
from bot.measure.outcomes import run_tests
from bot.programs.assertions import Assertion
from bot.programs.functions import Subject, find
from bot.programs.test_files import as_test
from bot.sandbox import Sandbox
from bot.select.behaviour import delivered
from bot.select.merging import merge
from bot.select.placement import Placement
from bot.select.tables import outline

_ORDERS = (None, 1)
"""Seeds of the orders in which a file with approved tests has to pass."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A suite with approved tests in it; None where there is none with or without them.

    Attributes:
        ledger: A row for each approved test that was added.
        bugs: What the code does not do though it was approved.
    """

    suite: Suite | None
    ledger: tuple[Judgement, ...] = ()
    bugs: tuple[SuspectedBug, ...] = ()


def join(
    open_box: Callable[[], AbstractContextManager[Sandbox]],
    approved: Sequence[Approved],
    target: Target,
    placement: Placement,
    suite: Suite | None,
) -> Joined:
    """Return a suite with what an author approved of a target's functions.

    Args:
        open_box: Opens a pristine sandbox of the head commit.
        approved: About any functions; those of other files, and those that are gone, do not count.
        placement: Where the target's tests go.
        suite: What is proposed without them.

    Raises:
        SandboxError: A sandbox could not be opened.
        MeasureError: The tests could not be started at all.
    """
    by_function = _by_function(approved, target)
    if not by_function:
        return Joined(suite)
    with open_box() as box:
        holding, bugs = _tried(box, by_function, target, placement.suite_path)
        present = _text(box, placement.final_path) if placement.extends else ""
    base = suite.content if suite is not None else present
    path = suite.path if suite is not None else placement.final_path
    content, names = _merged(base, holding, target)
    if not names:
        return Joined(suite, bugs=bugs)
    with open_box() as box:
        rows = _verified(box, path, base, content, names)
    if not rows:
        return Joined(suite, bugs=bugs)
    is_new = suite.is_new if suite is not None else not placement.extends
    return Joined(Suite(path, content, is_new), rows, bugs)


def _by_function(approved: Sequence[Approved], target: Target) -> list[tuple[Subject, list[Approved]]]:
    """Return what was approved of a target's functions as they stand, function by function."""
    found: list[tuple[Subject, list[Approved]]] = []
    for name in dict.fromkeys(one.function for one in approved if one.path == target.path):
        try:
            subject = find(target.source, name)
        except UsageError:
            continue
        found.append((subject, [one for one in approved if (one.path, one.function) == (target.path, name)]))
    return found


def _tried(
    box: Sandbox, by_function: Sequence[tuple[Subject, list[Approved]]], target: Target, path: str
) -> tuple[list[tuple[Subject, list[Approved]]], tuple[SuspectedBug, ...]]:
    """Run each assertion as a test; return those that hold, and a bug for each other one."""
    rows = [(subject, one) for subject, those in by_function for one in those]
    imported = ", ".join(dict.fromkeys(subject.name for subject, _ in rows))
    tests = [f"def test_{number}():\n    {_assertion(one).text}\n" for number, (_, one) in enumerate(rows)]
    box.write(path, "\n\n".join([f"from {target.module} import {imported}\n", *tests]).encode())
    run = run_tests(box, [path])
    failed = {result.function: result for result in run.results if result.outcome.is_red}
    passed = {result.function for result in run.results if result.id in run.passed}
    holding = [
        (
            subject,
            [one for number, (_, one) in enumerate(rows) if one in those and f"test_{number}" in passed],
        )
        for subject, those in by_function
    ]
    bugs = tuple(
        SuspectedBug(
            _assertion(one).text.removeprefix("assert "),
            one.function,
            _assertion(one).expected or _assertion(one).text.removeprefix("assert "),
            failed[f"test_{number}"].message,
            confirmed_by=one.actor,
            repair=one.repair if subject.text == one.asked else "",
        )
        for number, (subject, one) in enumerate(rows)
        if f"test_{number}" in failed
    )
    return [(subject, those) for subject, those in holding if those], bugs


def _merged(
    base: str, holding: Sequence[tuple[Subject, list[Approved]]], target: Target
) -> tuple[str, dict[str, str]]:
    """Return a file with tests for what holds and is not said in it yet, and who approved each new test function."""
    content, names = base, dict[str, str]()
    for subject, those in holding:
        new = [one for one in those if not _is_said(base, subject, _assertion(one))]
        if not new:
            continue
        before = set(_functions(content))
        addition = as_test(subject, target.module, [_assertion(one) for one in new])
        merged = merge(content, addition) if content else None
        if content and merged is None:
            continue
        content = addition if merged is None else merged.content
        who = ", ".join(dict.fromkeys(one.actor for one in new))
        names |= {name: who for name in _functions(content) if name not in before}
    return content, names


def _verified(
    box: Sandbox, path: str, base: str, content: str, names: dict[str, str]
) -> tuple[Judgement, ...]:
    """Return a row for each new test of a file, if all of them pass and none of the others is worse off."""
    fine: set[str] = set()
    if base:
        box.write(path, base.encode())
        fine = set(run_tests(box, [path]).passed)
    box.write(path, content.encode())
    runs = [run_tests(box, [path], order_seed=seed) for seed in _ORDERS]
    own = [result for result in runs[0].results if result.function in names]
    wanted = fine | {result.id for result in own}
    if not own or any(not wanted <= set(run.passed) for run in runs):
        return ()
    said = delivered(content, path, runs[0].results)
    return tuple(
        Judgement(
            result.id,
            None,
            f"approved by {names[result.function]}",
            runs=len(runs),
            duration_s=result.duration_s,
            behaviours=tuple(filter(None, [said.get(result.id)])),
        )
        for result in own
    )


def _is_said(base: str, subject: Subject, one: Assertion) -> bool:
    """Whether a file holds an assertion already, by itself or as a row of a table about the function."""
    if subject.name not in base:
        return False
    try:
        text = ast.unparse(ast.parse(base.removeprefix("\ufeff")))
    except SyntaxError:
        return False
    if one.text in text:
        return True
    call = ast.parse(one.call, mode="eval").body
    if one.expected is None or not isinstance(call, ast.Call) or call.keywords:
        return False
    return f"({', '.join([*map(ast.unparse, call.args), one.expected])})" in text


def _functions(content: str) -> tuple[str, ...]:
    return tuple(outline(content.removeprefix("\ufeff")).tests) if content else ()


def _assertion(one: Approved) -> Assertion:
    return Assertion(one.call, one.predicate)


def _text(box: Sandbox, path: str) -> str:
    return box.read(path).decode("utf-8")
