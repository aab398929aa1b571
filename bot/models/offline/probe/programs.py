"""A case: a small program of given steps and one step that is looked at, kept as text that a test could hold."""

from __future__ import annotations

import ast
from typing import Any

MINED = ("mined", "varied")
"""Origins of cases that a program of the repository's tests or documents is, or was made from."""


class Param:
    """A parameter as the search sees it: its name, how it is passed and which texts to try for it."""

    __slots__ = ("annotation", "default", "keyword", "name", "pool", "spare", "star")

    def __init__(
        self,
        name: str,
        default: str | None,
        keyword: bool,
        star: str = "",
        annotation: ast.expr | None = None,
    ) -> None:
        self.name = name
        self.default = default
        self.keyword = keyword
        self.star = star
        self.annotation = annotation
        self.pool: list[str] = []
        self.spare: list[str] = []

    @property
    def required(self) -> bool:
        """Whether a call without it fails."""
        return self.default is None and not self.star


class Op:
    """Something that can be done: a call, a property, an operator. `{self}` is the receiver, `{*}` the arguments."""

    __slots__ = ("first", "form", "last", "node", "params", "public", "receiver", "statement", "subject")

    def __init__(
        self,
        subject: str,
        form: str,
        params: list[Param],
        node: Any = None,
        receiver: str = "",
        statement: bool = False,
        public: bool = True,
    ) -> None:
        self.subject = subject
        self.form = form
        self.params = params
        self.node = node
        self.receiver = receiver
        self.statement = statement
        self.public = public
        self.first = node.lineno if node is not None else 0
        self.last = (node.end_lineno or 0) if node is not None else 0


class Arg:
    """One argument of a step: the parameter it is for (None: not known), its text, and whether by keyword."""

    __slots__ = ("keyword", "param", "text")

    def __init__(self, param: Param | None, text: str, keyword: bool = False) -> None:
        self.param = param
        self.text = text
        self.keyword = keyword


class Step:
    """One statement or expression: a form filled with arguments, bound to `target` if it has one."""

    __slots__ = ("_text", "args", "form", "op", "receiver", "statement", "target")

    def __init__(
        self,
        form: str,
        args: tuple[Arg, ...] = (),
        op: Op | None = None,
        target: str = "",
        receiver: str = "",
        statement: bool = False,
    ) -> None:
        self.form = form
        self.args = args
        self.op = op
        self.target = target
        self.receiver = receiver
        self.statement = statement
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The step as Python source."""
        if self._text is None:
            self._text = self._render()
        return self._text

    def _render(self) -> str:
        text = self.form
        if "{*}" in text:
            told = [f"{a.param.name}={a.text}" if a.keyword and a.param else a.text for a in self.args]
            text = text.replace("{*}", ", ".join(told))
        elif self.args:
            for index, arg in enumerate(self.args):
                text = text.replace("{" + str(index) + "}", bracketed(arg.text))
        if self.receiver:
            text = text.replace("{self}", self.receiver)
        return f"{self.target} = {text}" if self.target else text

    def with_args(self, args: tuple[Arg, ...]) -> Step:
        """Return the step with other arguments."""
        return Step(self.form, args, self.op, self.target, self.receiver, self.statement)

    def bind_as(self, target: str) -> None:
        """Note which name a step that is already written out binds."""
        _ = self.text
        self.target = target

    def bound(self, target: str) -> Step:
        """Return the step with its value bound to a name."""
        return Step(self.form, self.args, self.op, target, self.receiver, self.statement)


class Case:
    """Steps given, the step looked at, and what the probe found out about it."""

    __slots__ = (
        "_size", "cost", "features", "given", "lines", "origin", "outcome", "steps", "subject", "unbound", "when"
    )  # fmt: skip

    def __init__(self, subject: str, given: tuple[Step, ...], when: Step, origin: str = "") -> None:
        self.subject = subject
        self.given = given
        self.when = when
        self.origin = origin
        self.outcome: Any = None
        self.features: frozenset[Any] = frozenset()
        self.lines: frozenset[int] = frozenset()
        self.steps = 0
        self.cost = 0.0
        self._size = 0
        self.unbound = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The program's text, by which two cases are the same."""
        return (*(step.text for step in self.given), self.when.text)

    @property
    def size(self) -> int:
        """How much there is to read, in characters, given steps weighing more."""
        if not self._size:
            self._size = len(self.when.text) + sum(12 + len(step.text) for step in self.given)
        return self._size


def bracketed(text: str) -> str:
    """Return an operand's text, in parentheses where an operator beside it would tear it apart."""
    if text.startswith("lambda") or " if " in text:
        return f"({text})"
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return text
    loose = (ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.NamedExpr)
    return f"({text})" if isinstance(node, loose) and not isinstance(node, ast.UnaryOp) else text
