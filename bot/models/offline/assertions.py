"""Assertions as a person would write them, for plain pytest and for `unittest.TestCase`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Protocol, TypeGuard

from bot.models.offline.layout import WIDTH, assignment, flat, laid_out, quoted, statement, width
from bot.models.offline.scenario import Then

_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_LONGEST_MESSAGE = 72
_TELLING_LETTERS = 12
_CLAUSE_END = re.compile(r"[,;:]?\s*[.^$*+?{}\[\]\\|()]+|[,;:]\s")
_NAN = ("float('nan')", 'float("nan")', "math.nan")
_NEGATED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.In: ast.NotIn,
    ast.Is: ast.IsNot,
    ast.NotIn: ast.In,
    ast.IsNot: ast.Is,
}

_COMPARING: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "assertEqual",
    ast.NotEq: "assertNotEqual",
    ast.Lt: "assertLess",
    ast.LtE: "assertLessEqual",
    ast.Gt: "assertGreater",
    ast.GtE: "assertGreaterEqual",
    ast.In: "assertIn",
    ast.NotIn: "assertNotIn",
    ast.Is: "assertIs",
    ast.IsNot: "assertIsNot",
}


class Dialect(Protocol):
    """How a framework states that something holds or is raised."""

    quote: str

    def check(self, expression: str, then: Then, indent: int) -> list[str]:
        """Return the lines that evaluate an expression and hold it to what it gave (not `raises`)."""
        ...

    def raising(self, body: list[str], then: Then, indent: int) -> list[str]:
        """Return the lines that expect the exception from `body`, lines already indented one step further."""
        ...

    def warning(self, body: list[str], then: Then, indent: int) -> list[str]:
        """Return the lines that expect the warning from `body`, in the same way."""
        ...


def pattern_of(message: str, quote: str) -> str:
    """Return the expression for `match=`: plain where nothing needs escaping, `re.escape(...)` otherwise; or empty."""
    text = message.strip().partition("\n")[0]
    if len(text) > _LONGEST_MESSAGE or _SPECIAL.search(text.rstrip(".!")):
        first, *others = _CLAUSE_END.split(text)
        clauses = [first, *(re.sub(r"^\S+\s+", "", other) for other in others)]
        text = next((clause for clause in map(str.strip, clauses) if _is_telling(clause)), text)
    if len(text) > _LONGEST_MESSAGE:
        text = re.sub(r"\s+\S*$", "", text[:_LONGEST_MESSAGE]).rstrip(" ,:;('\"[{")
    text = text.rstrip(".!")
    if len(text.strip()) < 2:
        return ""
    if not _SPECIAL.search(text):
        return quoted(text, quote)
    return f"re.escape({quoted(text, quote)})"


def _is_telling(clause: str) -> bool:
    return len(clause) <= _LONGEST_MESSAGE and len(re.findall(r"[A-Za-z]", clause)) >= _TELLING_LETTERS


class PytestDialect:
    """Bare asserts and `pytest.raises`."""

    def __init__(self, quote: str) -> None:
        self.quote = quote

    def check(self, expression: str, then: Then, indent: int) -> list[str]:
        """Return the assertion's lines, with a variable for a side that is too long for one line."""
        node = ast.parse(expression, mode="eval").body
        if then.kind == "holds":
            return self._holds(node, then.text, indent)
        if then.kind == "value" and then.text in _NAN:
            return [" " * indent + f"assert math.isnan({flat(node, self.quote)})"]
        if then.kind == "value" and then.text == "False" and _compares_results(node):
            return self._compared(node.left, ast.NotEq(), node.comparators[0], indent)
        if then.kind == "value" and isinstance(node, ast.Compare) and _reads_plainly(node, then.text):
            whole = node if then.text == "True" else negated(node)
            if len(whole.ops) == 1:
                return self._compared(whole.left, whole.ops[0], whole.comparators[0], indent)
            return laid_out(whole, indent, self.quote, lead="assert ")
        if then.kind == "items":
            node = _called("list", node)
        right = ast.parse(then.text, mode="eval").body
        if then.kind == "approx":
            right = _called("pytest.approx", right)
        singleton = then.text in ("True", "False", "None") or then.type == "singleton"
        return self._compared(node, ast.Is() if singleton else ast.Eq(), right, indent)

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, indent: int) -> list[str]:
        line = self._line(left, operator, right, indent)
        if width(line) <= WIDTH:
            return [line]
        lines: list[str] = []
        if not isinstance(right, ast.Name) and len(flat(right)) > 20:
            lines += assignment("expected", right, indent, self.quote)
            right = ast.Name("expected", ast.Load())
        line = self._line(left, operator, right, indent)
        if width(line) > WIDTH:
            lines = assignment("result", left, indent, self.quote) + lines
            line = self._line(ast.Name("result", ast.Load()), operator, right, indent)
        return [*lines, line]

    def _line(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, indent: int) -> str:
        whole = ast.Compare(left, [operator], [right])
        return " " * indent + "assert " + flat(whole, self.quote)

    def _holds(self, node: ast.expr, condition: str, indent: int) -> list[str]:
        if not condition:
            return statement(flat(node, self.quote), indent, self.quote)
        what = ast.parse(condition, mode="eval").body
        uses_result = any(isinstance(n, ast.Name) and n.id == "result" for n in ast.walk(what))
        first = assignment("result", node, indent, self.quote) if uses_result else []
        if not uses_result and flat(node) != flat(what):
            first = statement(flat(node, self.quote), indent, self.quote)
        return [*first, *laid_out(what, indent, self.quote, lead="assert ")]

    def raising(self, body: list[str], then: Then, indent: int) -> list[str]:
        """Return a `with pytest.raises(...)` block."""
        return self._expecting("raises", then.type, then.message, indent, body)

    def warning(self, body: list[str], then: Then, indent: int) -> list[str]:
        """Return a `with pytest.warns(...)` block."""
        return self._expecting("warns", then.warning, then.warned, indent, body)

    def _expecting(self, what: str, kind: str, message: str, indent: int, body: list[str]) -> list[str]:
        pattern = pattern_of(message, self.quote)
        call = f"pytest.{what}({kind}, match={pattern})" if pattern else f"pytest.{what}({kind})"
        node = ast.parse(call, mode="eval").body
        return [*laid_out(node, indent, self.quote, lead="with ", trail=":"), *body]


class UnittestDialect:
    """The methods of `unittest.TestCase`."""

    def __init__(self, quote: str) -> None:
        self.quote = quote

    def check(self, expression: str, then: Then, indent: int) -> list[str]:
        """Return the assertion's lines."""
        node = ast.parse(expression, mode="eval").body
        if then.kind == "holds" and not then.text:
            return statement(flat(node, self.quote), indent, self.quote)
        if then.kind == "holds":
            what = ast.parse(then.text, mode="eval").body
            uses_result = any(isinstance(n, ast.Name) and n.id == "result" for n in ast.walk(what))
            first = assignment("result", node, indent, self.quote) if uses_result else []
            return [*first, *self._call("assertTrue", [what], indent)]
        if then.kind == "value" and then.text in _NAN:
            return self._call("assertTrue", [_called("math.isnan", node)], indent)
        if (
            then.kind == "value"
            and then.text == "True"
            and isinstance(node, ast.Compare)
            and len(node.ops) == 1
        ):
            return self._call(_COMPARING[type(node.ops[0])], [node.left, *node.comparators], indent)
        if then.kind == "value" and then.text in ("True", "False", "None"):
            name = {"True": "assertTrue", "False": "assertFalse", "None": "assertIsNone"}[then.text]
            return self._call(name, [node], indent)
        if then.kind == "items":
            node = _called("list", node)
        right = ast.parse(then.text, mode="eval").body
        name = "assertAlmostEqual" if then.kind == "approx" else "assertEqual"
        return self._call("assertIs" if then.type == "singleton" else name, [node, right], indent)

    def _call(self, name: str, arguments: list[ast.expr], indent: int) -> list[str]:
        function = ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load())
        return laid_out(ast.Call(function, arguments, []), indent, self.quote)

    def raising(self, body: list[str], then: Then, indent: int) -> list[str]:
        """Return a `with self.assertRaisesRegex(...)` block."""
        return self._expecting("assertRaises", then.type, then.message, indent, body)

    def warning(self, body: list[str], then: Then, indent: int) -> list[str]:
        """Return a `with self.assertWarnsRegex(...)` block."""
        return self._expecting("assertWarns", then.warning, then.warned, indent, body)

    def _expecting(self, what: str, kind: str, message: str, indent: int, body: list[str]) -> list[str]:
        pattern = pattern_of(message, self.quote)
        call = f"self.{what}Regex({kind}, {pattern})" if pattern else f"self.{what}({kind})"
        node = ast.parse(call, mode="eval").body
        return [*laid_out(node, indent, self.quote, lead="with ", trail=":"), *body]


def _compares_results(node: ast.expr) -> TypeGuard[ast.Compare]:
    """Whether a comparison is of what two calls gave, so that `!=` says the same as `not ==`."""
    return isinstance(node, ast.Compare) and isinstance(node.left, ast.Call) and type(node.ops[0]) is ast.Eq


def _reads_plainly(node: ast.Compare, outcome: str) -> bool:
    """Whether a comparison is asserted by itself; one that is false by `==` or `<` is `False`, not just nothing."""
    return outcome == "True" or (outcome == "False" and len(node.ops) == 1 and type(node.ops[0]) in _NEGATED)


def negated(node: ast.Compare) -> ast.Compare:
    """Return the opposite of a comparison by `in` or `is`."""
    return ast.Compare(node.left, [_NEGATED[type(node.ops[0])]()], node.comparators)


def _called(function: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.parse(function, mode="eval").body, [argument], [])
