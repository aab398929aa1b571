"""What a step gave, told as a person would: a value, an exception, and what changed in the objects that were given."""

from __future__ import annotations

import ast
import math
import re
from types import GeneratorType, ModuleType
from typing import Any

from . import telling, watching
from .comparing import items_of
from .contexts import INSIDE, looks_inside
from .evaluation import Texts
from .names import IMPORTS, Names
from .outcomes import Key, Then
from .patches import set_by
from .programs import Case

_REFUSAL = re.compile(r"'\S+' not supported between|unsupported operand type\(s\) for ")
_SMALL = (int, str, bytes, float, bool, type(None), tuple)
_LAZY = (GeneratorType, map, filter, zip, enumerate, reversed)


class Observer:
    """Tells what cases give.

    Attributes:
        iterating: Whether an iterator was being gone through when something was raised.
        views: By a class's name, the expressions that show the state of an object of it.
    """

    def __init__(
        self, names: Names, texts: Texts, record: watching.Record, path: str, tree: ast.Module
    ) -> None:
        self.names = names
        self.texts = texts
        self.record = record
        self.path = path
        self.raises = _raise_lines(tree)
        self.literals: dict[str, bool] = {}
        self.views: dict[str, list[str]] = {}
        self.iterating = False

    def adopt(self, module: ModuleType) -> None:
        """Tell values of this version of the module from now on."""
        self.module = module
        self.teller = telling.Teller(module, self.texts.evaluate)

    def is_refused(self, case: Case, error: Exception) -> bool:
        """Whether an operator of the module returned NotImplemented, so that Python refuses the operands."""
        op = case.when.op
        if (
            not isinstance(error, TypeError)
            or op is None
            or op.node is None
            or not op.form.startswith("{self} ")
        ):
            return False
        told = _REFUSAL.match(str(error)) is not None
        return told and any(op.first <= line <= op.last for line in self.record.hits)

    def tell_error(self, error: Exception) -> Then:
        """Tell an exception: type, message where it is stable, and whether the module raises it on purpose."""
        kind = type(error)
        name = kind.__name__
        if (
            kind.__module__ not in ("builtins", self.module.__name__)
            and getattr(self.module, name, None) is not kind
        ):
            name = f"{kind.__module__}.{name}"
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        deliberate = self._is_ours(kind.__module__) or (
            last is not None
            and last.tb_frame.f_code.co_filename == self.path
            and last.tb_lineno in self.raises
        )
        message = str(error) if deliberate or _REFUSAL.match(str(error)) else ""
        if telling.ADDRESS.search(message) or len(message) > 300 or not message.isprintable():
            message = ""
        then = Then("raises", "", name, message, error)
        then.deliberate = deliberate
        return then

    def _is_ours(self, module: str) -> bool:
        """Whether a module is of the same package as the one under test."""
        return module.partition(".")[0] == self.module.__name__.partition(".")[0]

    def tell(self, value: Any, space: dict[str, Any]) -> Then:
        """Tell a value as an expression, as its items, or by what holds of it."""
        kind = type(value)
        if (
            isinstance(value, _LAZY)
            or (kind.__module__ == "itertools" and hasattr(value, "__next__"))
            or (hasattr(value, "__next__") and "iterator" in kind.__name__)
        ):
            self.iterating = True
            items = items_of(value)
            self.iterating = False
            told = self._text(items) if items is not None else None
            if told is not None:
                return self._literal(Then("items", told, kind.__name__, value=items))
            return Then("holds", "", kind.__name__, value=value)
        own = [
            name
            for name in space
            if name not in self.names.defined and name not in IMPORTS and name != "result"
        ]
        for name in own:
            if space[name] is value and not isinstance(value, _SMALL) and not name.startswith("__"):
                return Then("holds", f"result is {name}", kind.__name__, value=value)
        if kind is float and math.isnan(value):
            return Then("holds", "math.isnan(result)", "float", value=value)
        told = self._text(value)
        if told is not None:
            return self._literal(
                Then("approx" if telling.has_long_float(value) else "value", told, kind.__name__, value=value)
            )
        return Then("holds", "", kind.__name__, value=value)

    def _text(self, value: Any) -> str | None:
        with self.record.aside():
            return self.teller.text(value)

    def _literal(self, then: Then) -> Then:
        known = self.literals.get(then.text)
        if known is None:
            try:
                ast.literal_eval(then.text)
                known = True
            except (ValueError, SyntaxError):
                known = False
            self.literals[then.text] = known
        then.literal = known
        return then

    def receivers(self, case: Case, space: dict[str, Any]) -> list[tuple[str, list[str]]]:
        """Return the names of what a case was given, each with the views by which it is looked at."""
        found = []
        for step in case.given:
            patched = set_by(step.text)
            if patched:
                found.append((patched, ["{self}"]))
            if step.target and step.target in space:
                views = self.views.get(type(space[step.target]).__name__)
                if views:
                    found.append((step.target, views))
        return found

    def before(self, case: Case, space: dict[str, Any]) -> dict[str, Key]:
        """Look at the objects that were given."""
        before = {}
        for name, views in self.receivers(case, space):
            for view in views:
                text = view.replace("{self}", name)
                then = self.look(text, space)
                if then is not None:
                    before[text] = then.key
        return before

    def checks(
        self,
        case: Case,
        space: dict[str, Any],
        then: Then | None,
        before: dict[str, Key],
    ) -> list[tuple[str, Then]]:
        """Look at the objects that were given: what changed, or for a statement without effect, the first view."""
        checks: list[tuple[str, Then]] = []
        inside = self.look(INSIDE, space) if looks_inside(case.when.text) else None
        if inside is not None:
            checks.append((INSIDE, inside))
        before = {text: key for text, key in before.items() if text != case.when.text}
        for text, key in before.items():
            after = self.look(text, space)
            if after is not None and (after.key != key or (case.unbound and _about(text, case.unbound))):
                checks.append((text, after))
        if not checks and then is None:
            for text in before:
                after = self.look(text, space)
                if after is not None:
                    checks.append((text, after))
                    break
        return checks[:7]

    def look(self, text: str, space: dict[str, Any]) -> Then | None:
        """Return what an expression gives; None if it gives nothing that can be told."""
        try:
            value = self.texts.value(text, space)
        except Exception:
            return None
        told = self._text(value)
        if told is None:
            return None
        return self._literal(
            Then(
                "approx" if telling.has_long_float(value) else "value",
                told,
                type(value).__name__,
                value=value,
            )
        )


def _about(text: str, name: str) -> bool:
    """Whether a view looks at the object of this name."""
    return re.search(rf"\b{name}\b", text) is not None


def _raise_lines(tree: ast.Module) -> frozenset[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(lines)
