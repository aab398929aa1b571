"""How hard a function is: the estimated chance that a sample for it is right (CodeRM, section 3.3).

The paper reads a model's hidden states; here the inputs are what anybody can see of a function, and how far a few first
samples agree. The weights come from `python -m bench.scaling --train`, which says on what they were trained.
"""

from __future__ import annotations

import ast
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from bot.programs.grid import Cell
from bot.scaling.network import Network

NAMES = (
    "lines",
    "parameters",
    "annotated",
    "branches",
    "loops",
    "depth",
    "calls",
    "names",
    "returns",
    "documentation words",
    "documentation numbers",
    "agreement",
    "raising",
)
_BRANCHES = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.Match)
_LOOPS = (ast.For, ast.While, ast.AsyncFor, ast.comprehension)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a few samples agree: the mean share of the commonest outcome of a call, and the share that raises."""

    same: float
    raising: float


def agreement(cells: Sequence[Sequence[Cell]]) -> Agreement | None:
    """Return how far programs agree on the calls that they were run on; None if there are none.

    Args:
        cells: By program what each call gave.
    """
    columns = [column for column in zip(*cells, strict=True) if column]
    if not columns:
        return None
    shares = [
        Counter((cell.kind, cell.text) for cell in column).most_common(1)[0][1] / len(column)
        for column in columns
    ]
    raising = [sum(cell.kind != "value" for cell in column) / len(column) for column in columns]
    return Agreement(sum(shares) / len(shares), sum(raising) / len(raising))


def features(source: str, function: str, agreed: Agreement | None = None) -> tuple[float, ...]:
    """Return what the estimate is made from, in the order of `NAMES`; counts as logarithms.

    Args:
        source: A module, or a function alone, that parses.
        function: The function's name; the last one of that name counts.
        agreed: How far first samples agree; without it, what is usual.

    Raises:
        ValueError: There is no such function.
    """
    found = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function
    ]
    if not found:
        raise ValueError(f"there is no function {function!r}")
    node = found[-1]
    inside = list(ast.walk(node))
    documentation = ast.get_docstring(node) or ""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    counts = (
        (node.end_lineno or node.lineno) - node.lineno - documentation.count("\n"),
        len(arguments),
        sum(argument.annotation is not None for argument in arguments),
        sum(isinstance(one, _BRANCHES) for one in inside),
        sum(isinstance(one, _LOOPS) for one in inside),
        _depth(node),
        sum(isinstance(one, ast.Call) for one in inside),
        len({one.id for one in inside if isinstance(one, ast.Name)}),
        sum(isinstance(one, ast.Return | ast.Yield) for one in inside),
        len(documentation.split()),
        sum(character.isdigit() for character in documentation),
    )
    usual = agreed or Agreement(_USUAL.same, _USUAL.raising)
    return (*(math.log1p(max(0, count)) for count in counts), usual.same, usual.raising)


def estimate(source: str, function: str, agreed: Agreement | None = None) -> float:
    """Return the estimated chance, 0..1, that a sample for a function is right; arguments as for `features`."""
    return _network().predict(features(source, function, agreed))


_USUAL = Agreement(0.5, 0.25)
"""About what samples of a small model show."""


def _depth(node: ast.AST) -> int:
    """Return how deep compound statements stand inside each other."""
    deepest, stack = 0, [(node, 0)]
    while stack:
        inner, depth = stack.pop()
        deepest = max(deepest, depth)
        for child in ast.iter_child_nodes(inner):
            opens = isinstance(child, ast.stmt) and hasattr(child, "body")
            stack.append((child, depth + opens))
    return deepest


@cache
def _network() -> Network:
    """Return the shipped network."""
    text = resources.files("bot.scaling").joinpath("difficulty.json").read_text("utf-8")
    shipped = json.loads(text)
    return Network(
        tuple(shipped["mean"]),
        tuple(shipped["deviation"]),
        tuple(map(tuple, shipped["hidden"])),
        tuple(shipped["output"]),
    )
