"""Suspected bugs: tests that fail on head by assertion although they expect what the documentation says."""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Iterator, Mapping

from bot.domain import SuspectedBug, Target
from bot.sandbox import Sandbox
from bot.select.documentation import Example, examples
from bot.select.nodes import Spot
from bot.select.tables import outline

_TIMEOUT_S = 20.0
_LONGEST = 500
"""Characters of a result that are reported."""

_PROBE = """
import importlib, json, sys
job = json.load(sys.stdin)
found = None
try:
    space = dict(vars(importlib.import_module(job["module"])))
    for line in job["setup"]:
        exec(compile(line, "<example>", "single"), space)
    found = repr(eval(job["call"], space))
except BaseException as error:
    found = "raises " + type(error).__name__ + (": " + str(error) if str(error) else "")
print("\\n" + json.dumps(found))
"""


def suspected(source: str, target: Target, failing: Mapping[str, Spot]) -> Mapping[str, Example]:
    """Return the failing tests whose expectation stands in the target's documentation, with that example.

    Args:
        source: The test file.
        target: The file whose docstrings are read.
        failing: Tests that fail by assertion in every run, by node id.
    """
    try:
        promised = {(_key(e.call), _key(e.expected)): e for e in examples(target.source)}
    except (SyntaxError, ValueError):
        return {}
    if not promised or not failing:
        return {}
    shape = outline(source)
    bodies = {name: shape.module.code_for_node(node) for name, node in shape.functions.items()}
    found: dict[str, Example] = {}
    for test, spot in failing.items():
        values: dict[str, str] = {}
        tables = shape.tables_of(spot.function)
        if len(tables) == len(spot.rows):
            for table, row in zip(tables, spot.rows, strict=True):
                values.update(_given(table.argnames, (table.rows or ("",) * (row + 1))[row]))
        text = bodies.get(shape.definition(spot.function) or "", "")
        for call, expected in _expectations(text, values):
            example = promised.get((_key(call), _key(expected)))
            if example is not None:
                found[test] = example
                break
    return found


def report(box: Sandbox, target: Target, found: Mapping[str, Example]) -> tuple[SuspectedBug, ...]:
    """Return each suspected bug with what the code really gives, asked in the sandbox."""
    return tuple(
        SuspectedBug(
            test, example.function, f"{example.call} == {example.expected}", _observed(box, target, example)
        )
        for test, example in found.items()
    )


def _observed(box: Sandbox, target: Target, example: Example) -> str:
    job = {"module": target.module, "setup": example.setup, "call": example.call}
    done = box.run(
        [box.interpreter.command, "-c", _PROBE], timeout_s=_TIMEOUT_S, stdin=json.dumps(job).encode()
    )
    if done.timed_out:
        return "it does not end"
    try:
        return str(json.loads(done.stdout.splitlines()[-1]))[:_LONGEST]
    except (IndexError, ValueError):
        return "it ends the interpreter"


def _given(argnames: tuple[str, ...], row: str) -> dict[str, str]:
    """Return the values a case gives to its names, as text."""
    try:
        node = ast.parse(row.strip(), mode="eval").body
    except SyntaxError:
        return {}
    parts: list[ast.expr] = [node]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("param"):
        parts = node.args
    elif len(argnames) > 1 and isinstance(node, (ast.Tuple, ast.List)):
        parts = node.elts
    return dict(zip(argnames, map(ast.unparse, parts), strict=False))


def _expectations(body: str, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (call, expected) for each `assert call == expected` of a test, its names replaced by their values."""
    try:
        tree = ast.parse(textwrap.dedent(body.lstrip("\n")))
    except SyntaxError:
        return
    known = {name: ast.parse(text, mode="eval").body for name, text in values.items()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            known.setdefault(node.targets[0].id, _Replace(dict(known)).visit(node.value))
    for node in ast.walk(tree):
        if (
            not isinstance(node, ast.Assert)
            or not isinstance(node.test, ast.Compare)
            or len(node.test.ops) != 1
        ):
            continue
        if not isinstance(node.test.ops[0], (ast.Eq, ast.Is)):
            continue
        sides = [_Replace(known).visit(side) for side in (node.test.left, node.test.comparators[0])]
        left, right = (ast.unparse(side) for side in sides)
        yield left, right
        yield right, left


class _Replace(ast.NodeTransformer):
    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._known.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def _key(text: str) -> str:
    """Return an expression's meaning as text: layout, quotes and the module in front of a name do not count."""
    node = _Bare().visit(ast.parse(text.strip(), mode="eval").body)
    try:
        return repr(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return ast.unparse(node)


class _Bare(ast.NodeTransformer):
    """Turns the function of `module.function(...)` into `function(...)`; methods of values stay what they are."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        func = node.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id.islower():
            node.func = ast.Name(func.attr, ast.Load())
        return node
