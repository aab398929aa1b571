"""The literals of a scenario's statements, taken out and numbered."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field

from bot.models.offline.layout import flat
from bot.models.offline.outline import Outline
from bot.models.offline.scenario import Scenario
from bot.models.offline.words import snake

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


@dataclass
class Slots:
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
        elif isinstance(node, ast.With):
            for item in node.items:
                item.context_expr = self._expression(item.context_expr, "value")
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
