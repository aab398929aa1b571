"""The module under test with counters woven into its syntax tree: lines, branches, comparisons and steps.

A woven module behaves as before; only its hooks (names that start with `__tf_`) are called on the way. The same
hooks bound the work of one case: past the limit of steps they raise `TooManySteps`, which no handler of
the code catches by accident, since it is not an `Exception`.
"""

from __future__ import annotations

import ast
import contextlib
import operator
from collections.abc import Callable, Iterator
from typing import Any

HOOK = "__tf_line__"
STEP_LIMIT = 60_000
_SIMPLE = (int, float, str, bytes, bool, type(None))
_OPERATORS: dict[type, tuple[int, Callable[[Any, Any], Any]]] = {
    ast.Eq: (0, operator.eq),
    ast.NotEq: (1, operator.ne),
    ast.Lt: (2, operator.lt),
    ast.LtE: (3, operator.le),
    ast.Gt: (4, operator.gt),
    ast.GtE: (5, operator.ge),
    ast.Is: (6, operator.is_),
    ast.IsNot: (7, operator.is_not),
    ast.In: (8, lambda a, b: a in b),
    ast.NotIn: (9, lambda a, b: a not in b),
}
_BY_NUMBER = dict(_OPERATORS.values())


class TooManySteps(BaseException):
    """A case ran longer than the limit of counted steps."""


class Record:
    """What the hooks saw since the last `clear`."""

    def __init__(self) -> None:
        self.hits: dict[int, int] = {}
        self.marks: set[Any] = set()
        self.operands: dict[int, list[tuple[Any, Any]]] = {}
        self.steps = 0
        self.limit = STEP_LIMIT
        self.total = 0

    def clear(self, limit: int = STEP_LIMIT) -> None:
        """Forget all and set the limit of steps for what comes."""
        self.total += self.steps
        self.hits.clear()
        self.marks.clear()
        self.steps = 0
        self.limit = limit

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Keep what runs inside, such as the telling of a value, out of the record."""
        kept = self.hits, self.marks
        self.hits, self.marks = {}, set()
        try:
            yield
        finally:
            self.hits, self.marks = kept

    def line(self, number: int) -> None:
        """Hook: a statement starts."""
        self.steps += 1
        if self.steps > self.limit:
            raise TooManySteps
        hits = self.hits
        hits[number] = hits.get(number, 0) + 1

    def tick(self) -> None:
        """Hook of a faulty function: a loop goes round, a function starts."""
        self.steps += 1
        if self.steps > self.limit:
            raise TooManySteps

    def test(self, number: int, value: Any) -> bool:
        """Hook: a condition was decided."""
        truth = bool(value)
        self.marks.add((number, truth))
        return truth

    def value(self, number: int, value: Any) -> Any:
        """Hook: an operand of `and` or `or`, returned as it is."""
        if type(value) in _SIMPLE or type(value) in (list, tuple, dict, set):
            self.marks.add((number, bool(value)))
        return value

    def compare(self, number: int, left: Any, which: int, right: Any) -> Any:
        """Hook: a comparison; notes on which side of its boundary it fell."""
        mark = self.marks.add
        if left is right:
            mark((number, "same"))
        elif type(left) in _SIMPLE and type(right) in _SIMPLE:
            try:
                side = "equal" if left == right else "less" if left < right else "more"
            except TypeError:
                side = "other"
            mark((number, side))
            seen = self.operands.setdefault(number, [])
            if len(seen) < 40 and (left, right) not in seen:
                seen.append((left, right))
        result = _BY_NUMBER[which](left, right)
        if which > 5 or type(result) is bool:
            mark((number, bool(result)))
        return result


class Weaver(ast.NodeTransformer):
    """Weaves hooks into a syntax tree; each condition and comparison gets a number of its own, from its place."""

    def __init__(self) -> None:
        self.depth = 0

    def _call(self, hook: str, *args: ast.expr) -> ast.Call:
        return ast.Call(func=ast.Name(id=hook, ctx=ast.Load()), args=list(args), keywords=[])

    @staticmethod
    def _number(node: Any) -> ast.Constant:
        return ast.Constant(value=node.lineno * 1000 + min(node.col_offset, 999))

    def _body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        woven: list[ast.stmt] = []
        for index, statement in enumerate(body):
            fixed = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            text = (
                index == 0
                and isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, str)
            )
            if not fixed and not text:
                hook = ast.Expr(self._call(HOOK, ast.Constant(value=statement.lineno)))
                woven.append(ast.copy_location(hook, statement))
            new = self.visit(statement)
            woven.extend(new if isinstance(new, list) else [new])
        return woven

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Weave statement lists, then everything below."""
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody") and isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    setattr(node, name, self._body(value))
                else:
                    setattr(node, name, [self.visit(item) for item in value])
            elif name in ("annotation", "returns", "decorator_list") and not self.depth:
                continue
            elif isinstance(value, list):
                setattr(node, name, [self.visit(v) if isinstance(v, ast.AST) else v for v in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        """Weave a function's body; annotations stay as they are."""
        node.body = self._body(node.body)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Weave the value only."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """Leave f-strings alone."""
        return node

    def visit_Match(self, node: Any) -> Any:
        """Weave the cases' bodies; patterns hold no code."""
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.body = self._body(case.body)
        return node

    def _test(self, node: Any) -> Any:
        number = self._number(node.test)
        self.generic_visit(node)
        node.test = ast.copy_location(self._call("__tf_test__", number, node.test), node.test)
        return node

    visit_If = visit_While = visit_IfExp = visit_Assert = _test  # noqa: N815

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        """Weave the conditions of a comprehension."""
        numbers = [self._number(test) for test in node.ifs]
        self.generic_visit(node)
        node.ifs = [
            ast.copy_location(self._call("__tf_test__", number, test), test)
            for number, test in zip(numbers, node.ifs)  # noqa: B905 - Python 3.9 has no strict
        ]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """Weave the operands of `and` and `or`."""
        numbers = [self._number(value) for value in node.values]
        self.generic_visit(node)
        node.values = [
            ast.copy_location(self._call("__tf_value__", number, value), value)
            for number, value in zip(numbers, node.values)  # noqa: B905 - Python 3.9 has no strict
        ]
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Weave a comparison of two operands; of chains, only what is inside."""
        number = self._number(node)
        self.generic_visit(node)
        if len(node.ops) != 1:
            return node
        which = ast.Constant(value=_OPERATORS[type(node.ops[0])][0])
        return ast.copy_location(
            self._call("__tf_compare__", number, node.left, which, node.comparators[0]), node
        )


def weave(tree: ast.Module) -> ast.Module:
    """Return the tree with hooks for lines, branches and comparisons (in place)."""
    tree.body = Weaver()._body(tree.body)
    return ast.fix_missing_locations(tree)


def tick(tree: ast.Module) -> ast.Module:
    """Return the tree with a counter of steps in loops and at function starts, after docstrings (in place).

    Done for every fault, so only statements are looked at and only the new nodes given places.
    """
    todo: list[Any] = list(tree.body)
    while todo:
        node = todo.pop()
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            todo.extend(getattr(node, name, ()))
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            node.body.insert(0, _tick_at(node.body[0]))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            node.body.insert(1 if text else 0, _tick_at(first))
    return tree


def _tick_at(place: Any) -> ast.Expr:
    at = {
        "lineno": place.lineno,
        "col_offset": place.col_offset,
        "end_lineno": place.end_lineno,
        "end_col_offset": place.end_col_offset,
    }
    return ast.Expr(ast.Call(ast.Name("__tf_tick__", ast.Load(), **at), [], [], **at), **at)


def hooks(record: Record) -> dict[str, Any]:
    """Return the names that woven code looks up, for the module's globals."""
    return {
        HOOK: record.line,
        "__tf_tick__": record.tick,
        "__tf_test__": record.test,
        "__tf_value__": record.value,
        "__tf_compare__": record.compare,
    }
