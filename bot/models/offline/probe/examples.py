"""Cases and argument texts from docstrings and from the repository's own tests."""

from __future__ import annotations

import ast
import builtins
import doctest
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .programs import Arg, Case, Op, Step
from .statements import needed, parametrised, plain, substituted
from .surface import Surface

_MOST_CASES = 250
_BUILTINS = frozenset(vars(builtins))


class Harvest:
    """Reads programs written by people; gives cases, and puts their argument texts first in the pools."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.module_names = frozenset(n for n in vars(surface.module) if not n.startswith("__"))
        self.by_name: dict[str, list[Op]] = {}
        for op in surface.functions:
            self.by_name.setdefault(op.subject.rsplit(".", 1)[-1], []).append(op)
        for owner in surface.owners:
            for op in [*owner.ops, *owner.makers]:
                self.by_name.setdefault(op.subject.rsplit(".", 1)[-1], []).append(op)
        self.cases: list[Case] = []

    def docstrings(self) -> None:
        """Read the `>>>` examples of every docstring of the module, and quoted words of its prose."""
        for subject, node in [("", self.surface.tree), *self.surface.nodes.items()]:
            text = ast.get_docstring(node)
            if not text:
                continue
            self._doctest(subject, text)
            self._prose(subject, text)

    def tests(self, texts: Sequence[tuple[str, str]]) -> None:
        """Read calls in the repository's own tests: their arguments, parametrised tables included."""
        for _, text in texts:
            try:
                tree = ast.parse(text)
            except (SyntaxError, ValueError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    rows = list(parametrised(node)) or [{}]
                    for row in rows[:60]:
                        for call in ast.walk(node):
                            if isinstance(call, ast.Call):
                                self._call(substituted(call, row))

    # ------------------------------------------------------------ docstrings

    def _doctest(self, subject: str, text: str) -> None:
        try:
            examples = doctest.DocTestParser().get_examples(text)
        except ValueError:
            return
        before: list[ast.stmt] = []
        for example in examples:
            if example.source.lstrip().startswith("@"):
                continue
            try:
                body = plain(ast.parse(example.source)).body
            except SyntaxError:
                continue
            for statement in body:
                statement = self._rooted(statement)
                if isinstance(statement, (ast.Import, ast.ImportFrom)):
                    continue
                for call in ast.walk(statement):
                    if isinstance(call, ast.Call):
                        self._call(call)
                if isinstance(statement, ast.Expr):
                    self._example(subject, before, statement.value)
                else:
                    before.append(statement)

    def _rooted(self, statement: ast.stmt) -> ast.stmt:
        module_names = self.module_names

        class Roots(ast.NodeTransformer):
            def visit_Attribute(self, node: ast.Attribute) -> Any:
                self.generic_visit(node)
                root = ast.unparse(node.value)
                if (
                    re.fullmatch(r"[a-z_][\w.]*", root)
                    and root.split(".")[0] not in module_names
                    and node.attr in module_names
                ):
                    return ast.copy_location(ast.Name(id=node.attr, ctx=node.ctx), node)
                return node

        done: ast.stmt = ast.fix_missing_locations(Roots().visit(statement))
        return done

    def _example(self, subject: str, before: list[ast.stmt], value: ast.expr) -> None:
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in ("print", "help", "repr")
        ):
            if len(value.args) != 1 or value.func.id != "print":
                return
            value = value.args[0]
        wanted = needed(before, value)
        if len(self.cases) >= _MOST_CASES:
            return
        given = tuple(Step(ast.unparse(s), statement=True) for s in wanted)
        step = self.as_step(value)
        case_subject = step.op.subject if step.op is not None else subject or self._subject_of(value)
        self.cases.append(Case(case_subject, given, step, "example"))

    def _subject_of(self, value: ast.expr) -> str:
        for node in ast.walk(value):
            if isinstance(node, ast.Name) and node.id in self.module_names:
                return node.id
        return "module"

    def _prose(self, subject: str, text: str) -> None:
        """Put short quoted words of a docstring into the string pools of its function."""
        words = re.findall(r"[`'\"]([^`'\"\n]{1,24})[`'\"]", text)
        texts = [repr(word) for word in words if word.isprintable() and not word.startswith(":")]
        for op in self.by_name.get(subject.rsplit(".", 1)[-1], []):
            for param in op.params:
                param.spare.extend(texts[:12])

    # ------------------------------------------------------------ calls

    def _call(self, call: ast.Call) -> None:
        step = self.as_step(self._rooted(ast.Expr(call)).value)  # type: ignore[attr-defined]
        if step.op is None:
            return
        for arg in step.args:
            if arg.param is not None and self._constant(arg.text) and len(arg.text) <= 60:
                arg.param.pool.append(arg.text)
        told = all(self._constant(arg.text) for arg in step.args)
        if told and not step.op.receiver and len(self.cases) < _MOST_CASES:
            self.cases.append(Case(step.op.subject, (), step, "example"))

    def _constant(self, text: str) -> bool:
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError:
            return False
        bound = {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in n.args}
        free = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - bound
        return all(name in self.module_names or name in _BUILTINS for name in free)

    def as_step(self, value: ast.expr, given: Mapping[str, str] | None = None) -> Step:
        """Return an expression as a step, its arguments matched to parameters where the callable is known.

        Args:
            given: What names were bound to before, as text: it says whose method is called.
        """
        plain = Step(ast.unparse(value))
        if not isinstance(value, ast.Call) or any(isinstance(a, ast.Starred) for a in value.args):
            return plain
        func = value.func
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        full = ast.unparse(func)
        ops = self.by_name.get(name, [])
        exact = [op for op in ops if not op.receiver and op.form == full + "({*})"]
        methods = (
            [op for op in ops if op.receiver and "({*})" in op.form]
            if isinstance(func, ast.Attribute)
            else []
        )
        maker = _maker(func, given or {})
        own = [op for op in methods if op.receiver == maker]
        op = next(iter(exact or own or methods), None)
        if op is None:
            return plain
        args = matched(op, value)
        if args is None:
            return plain
        if op.receiver:
            return Step(full + "({*})", args, op)
        return Step(op.form, args, op)


def _maker(func: ast.expr, given: Mapping[str, str]) -> str:
    """Return the name of the class or function that made the object whose method is called; empty if nobody says."""
    owner: Any = func.value if isinstance(func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id in given:
        owner = ast.parse(given[owner.id], mode="eval").body
    made = owner.func if isinstance(owner, ast.Call) else None
    return ast.unparse(made).rpartition(".")[2] if isinstance(made, (ast.Name, ast.Attribute)) else ""


def matched(op: Op, call: ast.Call) -> tuple[Arg, ...] | None:
    args: list[Arg] = []
    positional = [p for p in op.params if p.star != "**"]
    for index, value in enumerate(call.args):
        if index < len(positional):
            param = positional[index]
        elif positional and positional[-1].star == "*":
            param = positional[-1]
        else:
            return None
        args.append(Arg(param, ast.unparse(value)))
    by_name = {p.name: p for p in op.params if not p.star}
    rest = next((p for p in op.params if p.star == "**"), None)
    for word in call.keywords:
        text = ast.unparse(word.value)
        if word.arg in by_name:
            args.append(Arg(by_name[word.arg], text, True))
        elif word.arg is not None and rest is not None:
            args.append(Arg(rest, f"{word.arg}={text}"))
        else:
            return None
    return tuple(args)
