"""A scenario with its literals taken out: the shape it shares with others, and the texts that fill it again."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.models.offline.layout import flat
from bot.models.offline.outline import Outline
from bot.models.offline.scenario import Scenario, Then
from bot.models.offline.words import snake

_SLOT = re.compile(r"__slot_(\d+)__")
_ONE_SHOT = frozenset(
    {"iter", "map", "filter", "zip", "enumerate", "reversed", "open", "next", "object", "super"}
)
_STANDARD_METHODS = {
    "get": ("key", "default"),
    "pop": ("key", "default"),
    "setdefault": ("key", "default"),
    "update": ("other",),
    "append": ("item",),
    "add": ("item",),
    "remove": ("item",),
}


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A scenario's statements with `__slot_N__` for each literal.

    Attributes:
        then: What `when` gave, as text, if it is built with names of the module under test, which must not be used
            in a table; empty otherwise.
        texts: The literals, by slot.
        hints: A name for each slot, from the parameter, key or variable that it stands for.
        argument_slots: The slots that are inputs of `when`.
        names_used, names_bound: Names its code reads, and variables its given statements make.
        bindings: Slots that are the whole value of a variable, by slot.
    """

    scenario: Scenario
    outline: Outline
    given: tuple[str, ...]
    when: str
    checks: tuple[str, ...]
    then: str
    texts: tuple[str, ...]
    hints: tuple[str, ...]
    argument_slots: frozenset[int]
    names_used: frozenset[str]
    names_bound: frozenset[str]
    bindings: Mapping[int, str]

    @property
    def arity(self) -> int:
        """How many slots there are."""
        return len(self.texts)

    def fill(self, text: str, names: Mapping[int, str]) -> str:
        """Put back the literals into one of its texts, or `names` where they are given for a slot."""
        return _SLOT.sub(lambda found: names.get(int(found[1]), self.texts[int(found[1])]), text)

    def binds(self, slot: int, name: str) -> bool:
        """Whether the slot is the value that a given statement binds to `name`."""
        return self.bindings.get(slot) == name


def skeleton_of(scenario: Scenario, outline: Outline, quote: str) -> Skeleton | None:
    """Return a scenario's skeleton; None if its texts are not Python."""
    try:
        given = [_parse(text) for text in scenario.given]
        when = _parse(scenario.when)
        checks = [_parse(check.expression) for check in scenario.checks]
        then = _parse(_shortened(scenario.then, outline)) if scenario.then and scenario.then.text else None
        for outcome in (scenario.then, *(check.then for check in scenario.checks)):
            if outcome is not None:
                ast.parse(outcome.type if outcome.kind == "raises" else outcome.text or "None", mode="eval")
    except (SyntaxError, ValueError):
        return None
    maker = _Maker(scenario, outline, quote, [*given, when, *checks])
    maker.called = _call_of_subject(when, scenario)
    given_texts = tuple(maker.text_of(tree) for tree in given)
    maker.inside_when = True
    when_text = maker.text_of(when)
    maker.inside_when = False
    checks_texts = tuple(maker.text_of(tree) for tree in checks)
    then_text = ""
    if then is not None and not maker.is_free_of_module(then):
        then_text = maker.text_of(then, place="expected_")
    return Skeleton(
        scenario=scenario,
        outline=outline,
        given=given_texts,
        when=when_text,
        checks=checks_texts,
        then=then_text,
        texts=tuple(maker.texts),
        hints=tuple(maker.hints),
        argument_slots=frozenset(maker.argument_slots),
        names_used=frozenset(maker.names),
        names_bound=frozenset(maker.bound),
        bindings=dict(maker.bindings),
    )


def _parse(text: str) -> ast.Module:
    return ast.parse(text.strip())


@dataclass
class _Maker:
    """Walks the statements of one scenario and numbers its literals."""

    scenario: Scenario
    outline: Outline
    quote: str
    trees: list[ast.Module]
    inside_when: bool = False
    called: ast.Call | None = None
    place: str = ""
    texts: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    argument_slots: set[int] = field(default_factory=set)
    bindings: dict[int, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    classes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for tree in self.trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.Name):
                    (self.bound if isinstance(node.ctx, ast.Store) else self.names).add(node.id)
        self.arguments = [(name, _normal(text)) for name, text in self.scenario.args]

    def text_of(self, tree: ast.Module, place: str = "") -> str:
        """Return the text of statements, their literals numbered on from those before."""
        self.place = place
        called = self.called if self.inside_when else None
        if called is not None:
            tree, self.called = copy.deepcopy((tree, called))
        else:
            tree = copy.deepcopy(tree)
        statements = [self._statement(node) for node in tree.body]
        return "\n".join(flat(node, self.quote) for node in statements)

    def _statement(self, node: ast.stmt) -> ast.stmt:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                self._remember_class(target.id, node.value)
                node.value = self._expression(node.value, target.id, binds=target.id)
            else:
                node.targets = [self._expression(target, "key")]
                node.value = self._expression(node.value, "value")
            return node
        if isinstance(node, ast.Expr):
            node.value = self._expression(node.value, "value")
        elif isinstance(node, ast.Delete):
            node.targets = [self._expression(target, "key") for target in node.targets]
        elif isinstance(node, ast.AugAssign):
            node.value = self._expression(node.value, "other")
        return node

    def _remember_class(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Call):
            self.classes[name] = ast.unparse(value.func)

    def _expression(self, node: ast.expr, hint: str, binds: str = "", *, direct: bool = False) -> ast.expr:
        argument = self._as_argument(node) if direct or self.called is None else ""
        if argument or self._is_literal(node):
            return self._slot(node, argument or hint, binds, is_argument=bool(argument))
        if isinstance(node, ast.Call):
            self._call(node)
        elif isinstance(node, ast.Subscript):
            node.value = self._expression(node.value, "items")
            if not isinstance(node.slice, ast.Slice):
                node.slice = self._expression(node.slice, "key")
        elif isinstance(node, ast.Attribute):
            node.value = self._expression(node.value, "value")
        elif isinstance(node, ast.Compare):
            node.left = self._expression(node.left, "item")
            node.comparators = [self._expression(right, "other") for right in node.comparators]
        elif isinstance(node, ast.BinOp):
            node.left = self._expression(node.left, "left")
            node.right = self._expression(node.right, "other")
        elif isinstance(node, ast.UnaryOp):
            node.operand = self._expression(node.operand, hint)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            node.elts = [self._expression(item, "item") for item in node.elts]
        elif isinstance(node, ast.Starred):
            node.value = self._expression(node.value, hint)
        return node

    def _call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(node.func, ast.Attribute):
            node.func.value = self._expression(node.func.value, "value")
        parameters = self.outline.parameters_of_call(self._called(node.func))
        names = [
            parameter.name for parameter in parameters if not parameter.keyword_only and not parameter.starred
        ]
        if not names and isinstance(node.func, ast.Attribute):
            names = list(_STANDARD_METHODS.get(node.func.attr, ()))
        for place, argument in enumerate(node.args):
            hint = names[place] if place < len(names) else _kind_word(argument)
            node.args[place] = self._expression(argument, hint, direct=node is self.called)
        for keyword in node.keywords:
            hint = keyword.arg or "options"
            keyword.value = self._expression(keyword.value, hint, direct=node is self.called)
        if isinstance(function, ast.Name) and function.id == self.scenario.subject.partition(".")[0]:
            self._class(node, function.id)

    def _class(self, node: ast.Call, name: str) -> None:
        """Make a class a slot, so that what several classes of one family do alike can be one table."""
        entry = self.outline.find(name)
        if entry is not None and entry.is_class:
            hint = f"{snake(self.outline.root(name))}_class"
            node.func = self._slot(node.func, hint, "", is_argument=False)

    def _called(self, function: ast.expr) -> str:
        text = ast.unparse(function)
        owner, _, name = text.rpartition(".")
        return f"{self.classes[owner]}.{name}" if owner in self.classes else text

    def _slot(self, node: ast.expr, hint: str, binds: str, *, is_argument: bool) -> ast.expr:
        number = len(self.texts)
        self.texts.append(flat(node, self.quote))
        self.hints.append(self.place + (hint.strip("_") or "value"))
        if is_argument or self.inside_when:
            self.argument_slots.add(number)
        if binds:
            self.bindings[number] = binds
        return ast.Name(f"__slot_{number}__", ast.Load())

    def _as_argument(self, node: ast.expr) -> str:
        """Return the parameter's name if the node is the next input of `when` and can stand in a table."""
        if not self.inside_when:
            return ""
        for place, (name, text) in enumerate(self.arguments):
            if ast.unparse(node) == text:
                del self.arguments[: place + 1]
                return name if self._is_pure(node) else ""
        return ""

    def _is_literal(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return node.value is not Ellipsis
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub | ast.UAdd) and self._is_literal(node.operand)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return all(self._is_literal(item) for item in node.elts)
        if isinstance(node, ast.Dict):
            keys = [key for key in node.keys if key is not None]
            return len(keys) == len(node.keys) and all(map(self._is_literal, [*keys, *node.values]))
        return False

    def is_free_of_module(self, tree: ast.AST) -> bool:
        """Whether a tree reads no name of the module under test."""
        return not any(
            isinstance(part, ast.Name) and part.id in self.scenario.names for part in ast.walk(tree)
        )

    def _is_pure(self, node: ast.expr) -> bool:
        """Whether it may be evaluated once, when the test file is imported, without the module under test."""
        for part in ast.walk(node):
            if isinstance(part, ast.GeneratorExp | ast.NamedExpr | ast.Await | ast.Yield):
                return False
            if isinstance(part, ast.Name) and (part.id in self.scenario.names or part.id in self.bound):
                return False
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _ONE_SHOT:
                return False
        return True


def _call_of_subject(when: ast.Module, scenario: Scenario) -> ast.Call | None:
    """Return the call that the scenario's arguments belong to; None if `when` has no call of its subject."""
    calls = [node for node in ast.walk(when) if isinstance(node, ast.Call)]
    for name in (scenario.subject.rpartition(".")[2], scenario.subject.partition(".")[0]):
        for call in calls:
            if ast.unparse(call.func).rpartition(".")[2] == name:
                return call
    return None


def _shortened(then: Then | None, outline: Outline) -> str:
    """Return what a scenario gave, without the arguments of constructors that are their defaults."""
    if then is None:
        return ""
    if "(" not in then.text:
        return then.text
    tree = ast.parse(then.text)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        defaults = {
            p.name: p.default for p in outline.parameters_of_call(ast.unparse(call.func)) if p.default
        }
        call.keywords = [
            word
            for word in call.keywords
            if not word.arg or ast.unparse(word.value) != defaults.get(word.arg)
        ]
    return ast.unparse(tree)


def _normal(text: str) -> str:
    try:
        return ast.unparse(ast.parse(text.strip(), mode="eval"))
    except (SyntaxError, ValueError):
        return text


def _kind_word(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return {str: "text", int: "number", float: "number", bytes: "data", bool: "flag"}.get(
            type(node.value), "value"
        )
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return "items"
    return "mapping" if isinstance(node, ast.Dict) else "value"
