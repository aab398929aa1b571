"""Statements of tests: what they bind and need, what they look at, and tables and loops written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

MOST_ROWS = 12
Rows = Sequence[dict[str, ast.expr]]


def plain(tree: ast.Module) -> ast.Module:
    """Return the tree with its strings told without the old `u` before them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None
    return tree


def is_fixture(node: ast.FunctionDef) -> bool:
    """Whether a function is a fixture that depends on nothing and is one way only."""
    plain = [
        d
        for d in node.decorator_list
        if ast.unparse(d).startswith("pytest.fixture") and "params" not in ast.unparse(d)
    ]
    return bool(plain) and not node.args.args


def made_by(fixture: ast.FunctionDef) -> list[ast.stmt]:
    """Return what a fixture does, with its result bound to its name."""
    last = fixture.body[-1]
    value = last.value if isinstance(last, (ast.Return, ast.Expr)) else None
    if isinstance(value, ast.Yield):
        value = value.value
    if value is None:
        return []
    bound = ast.Assign([ast.Name(fixture.name, ast.Store())], value, lineno=last.lineno, col_offset=0)
    return [*fixture.body[:-1], bound]


def looked_at(statement: ast.stmt) -> list[ast.expr]:
    """Return the expressions whose value a statement of a test is about."""
    if isinstance(statement, ast.Assert):
        test = statement.test
        if isinstance(test, ast.UnaryOp):
            test = test.operand
        sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        name = ast.unparse(call.func).rpartition(".")[2]
        sides = list(call.args[:2]) if name.lower().startswith(("assert", "print")) else [call]
    elif isinstance(statement, ast.Assign):
        sides = [statement.value]
    else:
        return []
    return [
        side
        for side in sides
        if not isinstance(side, ast.Lambda)
        and any(isinstance(n, (ast.Call, ast.Attribute)) for n in ast.walk(side))
    ]


def unrolled(loop: ast.For) -> Rows:
    """Return what a loop over a written-out table binds in each round."""
    names = [loop.target] if isinstance(loop.target, ast.Name) else getattr(loop.target, "elts", [])
    if not isinstance(loop.iter, (ast.List, ast.Tuple)) or not all(isinstance(n, ast.Name) for n in names):
        return [{}]
    rows = []
    for item in loop.iter.elts[:MOST_ROWS]:
        cells = [item] if isinstance(loop.target, ast.Name) else list(getattr(item, "elts", []))
        if len(cells) == len(names):
            rows.append({name.id: cell for name, cell in zip(names, cells)})  # noqa: B905 - Python 3.9 has no strict
    return rows


def inlined(steps: list[ast.stmt], expression: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    """Put short constants that are bound to a name and used once where they are used."""
    uses: dict[str, int] = {}
    for node in [*steps, expression]:
        for n in ast.walk(node):
            if isinstance(n, ast.Name):
                uses[n.id] = uses.get(n.id, 0) + 1
    values: dict[str, ast.expr] = {}
    left: list[ast.stmt] = []
    functions = {step.targets[0].id: step.value for step in steps if _is_lambda(step)}  # type: ignore[attr-defined]
    steps = [_applied(step, functions) for step in steps if not _is_lambda(step)]
    expression = _applied(ast.Expr(expression), functions).value
    for step in steps:
        names = bound_by(step)
        if isinstance(step, ast.Assign) and len(names) == 1 and uses[names[0]] == 2 and is_short(step):
            values[names[0]] = step.value
        else:
            left.append(substituted(step, values))
    return left, substituted(ast.Expr(expression), values).value


def _is_lambda(step: ast.stmt) -> bool:
    """Whether a statement gives a name to a function of plain arguments."""
    if not isinstance(step, ast.Assign) or not isinstance(step.value, ast.Lambda):
        return False
    args = step.value.args
    plain_args = not (args.defaults or args.kwonlyargs or args.vararg or args.kwarg)
    return plain_args and len(step.targets) == 1 and isinstance(step.targets[0], ast.Name)


def _applied(statement: Any, functions: dict[str, Any]) -> Any:
    """Return a statement with the calls of these lambdas replaced by what they do."""
    if not functions:
        return statement

    class Apply(ast.NodeTransformer):
        def visit_Call(self, call: ast.Call) -> Any:
            self.generic_visit(call)
            made = functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
            names = [a.arg for a in made.args.args] if made is not None else []
            if made is None or call.keywords or len(names) != len(call.args):
                return call
            return substituted(ast.Expr(made.body), dict(zip(names, call.args))).value  # noqa: B905

    copy = ast.parse(ast.unparse(statement)).body[0]
    return ast.fix_missing_locations(Apply().visit(copy))


def is_short(step: ast.Assign) -> bool:
    try:
        ast.literal_eval(step.value)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return False
    return len(ast.unparse(step.value)) <= 200


def bound_by(statement: ast.stmt) -> list[str]:
    names = [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    defined = isinstance(statement, (ast.FunctionDef, ast.ClassDef))
    return [*names, statement.name] if defined else names  # type: ignore[attr-defined]


def as_pair(statement: ast.stmt) -> tuple[str, str]:
    """Return a statement as the one name that it binds and the expression, or as a text without a name."""
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    ):
        return statement.targets[0].id, ast.unparse(statement.value)
    return "", ast.unparse(statement)


def needed(before: Sequence[ast.stmt], value: ast.AST) -> list[ast.stmt]:
    """Return the statements before that a value depends on, in order."""
    local = {name for statement in before for name in bound_by(statement)}
    wanted = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} & local
    kept: list[ast.stmt] = []
    for statement in reversed(before):
        binds = set(bound_by(statement))
        names = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
        reads = {
            n.id for n in names if isinstance(n.ctx, ast.Load) or isinstance(statement, ast.AugAssign)
        } & local
        effect = not binds and bool(reads & wanted) and not _is_idle(statement)
        if binds & wanted or effect:
            kept.append(statement)
            if isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
                wanted -= binds  # what was bound to these names before does not matter
            wanted |= reads
    return kept[::-1]


def _is_idle(statement: ast.stmt) -> bool:
    """Whether a statement only names, prints or calculates something."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    call = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    return call == "print" or isinstance(value, (ast.Name, ast.Constant, ast.Compare, ast.Subscript))


def parametrised(node: Any) -> Iterator[dict[str, ast.expr]]:
    """Yield what each row of a test's `parametrize` tables binds, one table after another."""
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call) or not ast.unparse(decorator.func).endswith("parametrize"):
            continue
        if len(decorator.args) < 2 or not isinstance(decorator.args[1], (ast.List, ast.Tuple)):
            continue
        first = decorator.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            names = [name.strip() for name in first.value.split(",")]
        elif isinstance(first, (ast.List, ast.Tuple)):
            names = [str(e.value) for e in first.elts if isinstance(e, ast.Constant)]
        else:
            continue
        for row in decorator.args[1].elts:
            if isinstance(row, ast.Call) and ast.unparse(row.func).endswith("param"):
                cells = list(row.args)
            elif len(names) == 1:
                cells = [row]
            elif isinstance(row, (ast.Tuple, ast.List)):
                cells = list(row.elts)
            else:
                continue
            if len(cells) == len(names):
                yield dict(zip(names, cells))  # noqa: B905 - Python 3.9 has no strict


def substituted(node: Any, row: dict[str, ast.expr]) -> Any:
    """Return a copy of a statement or expression with the names of a row replaced by what they stand for."""
    if not row:
        return node

    class Fill(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> Any:
            return row.get(name.id, name) if isinstance(name.ctx, ast.Load) else name

    copy = ast.parse(ast.unparse(node)).body[0]
    filled = ast.fix_missing_locations(Fill().visit(copy))
    return filled if isinstance(node, ast.stmt) else filled.value
