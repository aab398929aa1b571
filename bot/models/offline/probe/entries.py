"""Ways into the module through its package: programs of the repository's own tests, and public functions that take text.

Whether one leads to what was changed shows when it is run.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from typing import Any

from .examples import Harvest, matched
from .mining import Mine, Program
from .names import Names
from .programs import Arg, Case, Op, Step
from .signatures import params_of

_MOST_ENTRIES = 24
_MOST_TEXTS = 80
_LONGEST_TEXT = 600
_SHORT_TEXT = 120


class Entries:
    """Turns what was mined into cases and operations of the search.

    The import lines of the names that its cases use are noted in `names.imported`.
    """

    def __init__(self, mine: Mine, harvest: Harvest, package: str, names: Names) -> None:
        self.mine = mine
        self.harvest = harvest
        self.package = package
        self.names = names
        self.imports = names.imported
        self.ops: dict[str, Op] = {}
        self.own: dict[str, bool] = {}

    def cases(self) -> list[Case]:
        """Return the mined programs as cases; a program that gives a name another meaning than one before is left out."""
        found: list[Case] = []
        for program in self.mine.programs.values():
            if all(self._agrees(name, line) for name, line in program.imports.items()):
                for name, line in program.imports.items():
                    if name not in self.names.defined:
                        self.imports.setdefault(name, line)
                found.append(self._case(program))
        return found

    def _agrees(self, name: str, line: str) -> bool:
        """Whether a program means by a name what the module, or a program before, means by it."""
        if name not in self.names.defined and self.imports.get(name, line) == line:
            return True
        space: dict[str, Any] = {}
        try:
            exec(line, space)
            return space[name] is self._value(name)
        except Exception:
            return False

    def _value(self, text: str) -> Any:
        return eval(text, self.names.space([text]))

    def _case(self, program: Program) -> Case:
        given = tuple(self._given(name, text) for name, text in program.given)
        when = self._step(self._rooted(program.when), dict(program.given))
        return Case(self._subject(program, when, given), given, when, "mined")

    def _given(self, name: str, text: str) -> Step:
        if not name:
            tree = ast.parse(text)
            return Step(ast.unparse(self._rooted(tree)), statement=True)
        return self._step(self._rooted(ast.parse(text, mode="eval").body)).bound(name)

    def _rooted(self, tree: Any) -> Any:
        """Return code in which what the module defines is called by its name: `mi.take` becomes `take`."""
        owner = self

        class Roots(ast.NodeTransformer):
            def visit_Attribute(self, node: ast.Attribute) -> Any:
                self.generic_visit(node)
                return ast.Name(node.attr, node.ctx) if owner._is_own(node) else node

        return ast.fix_missing_locations(Roots().visit(tree))

    def _is_own(self, node: ast.Attribute) -> bool:
        path = ast.unparse(node)
        if node.attr not in self.names.defined or path.partition(".")[0] not in self.imports:
            return False
        if path not in self.own:
            try:
                self.own[path] = self._value(path) is getattr(self.names.module, node.attr)
            except Exception:
                self.own[path] = False
        return self.own[path]

    def _step(self, value: ast.expr, given: Mapping[str, str] | None = None) -> Step:
        """Return an expression as a step; a call of a function of the package knows its parameters.

        Args:
            given: What names were bound to before, as text.
        """
        step = self.harvest.as_step(value, given)
        if step.op is not None or not isinstance(value, ast.Call) or isinstance(value.func, ast.Call):
            return step
        op = self._op(ast.unparse(value.func))
        args = matched(op, value) if op is not None else None
        if op is None or args is None or any(isinstance(a, ast.Starred) for a in value.args):
            return step
        for arg in args:
            if arg.param is not None and _is_text(arg.text) and len(arg.param.pool) < _MOST_TEXTS:
                arg.param.pool.append(arg.text)
        return Step(op.form, args, op)

    def _op(self, path: str) -> Op | None:
        """Return the operation that calls a function or class of the package by this path; None if it is none."""
        if path not in self.ops and path.replace(".", "").isidentifier():
            try:
                value = self._value(path)
            except Exception:
                return None
            home = str(getattr(value, "__module__", ""))
            if not callable(value) or home.partition(".")[0] != self.package:
                return None
            params = params_of(value, None, bound=False)
            if params is not None:
                self.ops[path] = Op(path.rpartition(".")[2], path + "({*})", params)
        return self.ops.get(path)

    def _subject(self, program: Program, when: Step, given: tuple[Step, ...]) -> str:
        """Return what a program is about: the last thing of the package that it calls."""
        for step in (when, *reversed(given)):
            if step.op is not None:
                return step.op.subject
        calls = [ast.unparse(n.func) for n in ast.walk(program.when) if isinstance(n, ast.Call)]
        known = [call for call in calls if call.partition(".")[0] in program.imports]
        return (known or calls or ["module"])[0].rpartition(".")[2]

    def on_texts(self) -> list[Case]:
        """Return calls with texts of the tests of the public functions that take one text."""
        self._exported()
        texts = self._texts() | {repr(text) for text in self.mine.texts if len(text) <= _LONGEST_TEXT}
        told = sorted(texts, key=lambda text: (len(text), text))
        told = told[:: 1 + len(told) // _MOST_TEXTS]
        found: list[Case] = []
        for op in list(self.ops.values())[:_MOST_ENTRIES]:
            first = op.params[0] if op.params else None
            if first is None or first.star or sum(p.required for p in op.params) != 1 or not first.required:
                continue
            found += [Case(op.subject, (), Step(op.form, (Arg(first, text),), op), "mined") for text in told]
        return found

    def _texts(self) -> set[str]:
        return {t for op in self.ops.values() for p in op.params for t in p.pool if _is_text(t)}

    def short_texts(self) -> list[str]:
        """Return the strings of the tests that are not long, the shortest first."""
        texts = [ast.literal_eval(text) for text in self._texts() if len(text) <= _SHORT_TEXT]
        return sorted(texts, key=lambda text: (len(text), text))[-_MOST_TEXTS:]

    def _exported(self) -> None:
        """Take up the public functions of the package itself."""
        module = sys.modules.get(self.package)
        if module is None or module.__name__ != self.package:
            return
        alias = next(
            (n for n, line in self.imports.items() if line.startswith(f"import {self.package}")), self.package
        )
        if (
            self.imports.setdefault(alias, f"import {self.package}").partition(" as ")[0]
            != f"import {self.package}"
        ):
            return
        names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        for name in names:
            value = getattr(module, name, None)
            if inspect.isfunction(value) and value.__module__.partition(".")[0] == self.package:
                params = params_of(value, None, bound=False)
                if params is not None:
                    self.ops.setdefault(f"{alias}.{name}", Op(name, f"{alias}.{name}({{*}})", params))


def _is_text(text: str) -> bool:
    """Whether an argument is a string written out, and not too long a one."""
    if text[:1] not in "'\"" or len(text) > _LONGEST_TEXT:
        return False
    return isinstance(ast.parse(text, mode="eval").body, ast.Constant)
