"""Texts of values for an annotation, the likeliest first."""

from __future__ import annotations

import ast
import re
from typing import Any

from . import values
from .surface import Surface


class Annotations:
    """Reads annotations with the names that their module gives a meaning to."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.aliases = self._aliases(surface.tree)

    @staticmethod
    def _aliases(tree: ast.Module) -> dict[str, ast.expr]:
        found: dict[str, ast.expr] = {}
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                found.setdefault(node.targets[0].id, node.value)
            elif (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.value is not None
            ):
                found.setdefault(node.target.id, node.value)
            elif type(node).__name__ == "TypeAlias":
                alias: Any = node
                found.setdefault(alias.name.id, alias.value)
        return found

    def texts_for(self, node: ast.expr | None, depth: int = 0) -> list[str]:
        """Return texts of values for an annotation, the likeliest first; empty if it says nothing."""
        if node is None or depth > 6:
            return []
        if isinstance(node, ast.Constant):
            if node.value is None:
                return ["None"]
            if isinstance(node.value, str):
                try:
                    return self.texts_for(ast.parse(node.value, mode="eval").body, depth + 1)
                except SyntaxError:
                    return []
            return []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return values.merged(
                [self.texts_for(node.left, depth + 1), self.texts_for(node.right, depth + 1)]
            )
        if isinstance(node, ast.Attribute):
            return self._of_name(node.attr, depth)
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.Subscript):
            return self._of_subscript(node, depth)
        return []

    def _of_name(self, name: str, depth: int) -> list[str]:
        if name in values.NAMED:
            return list(values.NAMED[name])
        for owner in self.surface.owners:
            if owner.name == name:
                return ["@" + name]
        if name in self.aliases:
            value = self.aliases[name]
            if isinstance(value, ast.Call):
                return self._of_type_var(value, depth)
            found = self.texts_for(value, depth + 1)
            if found:
                return found
        known = getattr(self.surface.module, name, None)
        if known is not None and not isinstance(known, type) and "typing" in type(known).__module__:
            try:
                told = re.sub(r"\b(typing|collections\.abc)\.", "", str(known))
                return self.texts_for(ast.parse(told.replace("~", ""), mode="eval").body, depth + 1)
            except SyntaxError:
                return []
        if isinstance(known, type) and hasattr(known, "__members__"):
            return [f"{name}.{member}" for member in known.__members__]
        return []

    def _of_type_var(self, value: ast.Call, depth: int) -> list[str]:
        for word in value.keywords:
            if word.arg == "bound":
                return self.texts_for(word.value, depth + 1)
        if len(value.args) > 1:
            return values.merged([self.texts_for(arg, depth + 1) for arg in value.args[1:]])
        return []

    def _of_subscript(self, node: ast.Subscript, depth: int) -> list[str]:
        head = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        inner: Any = node.slice
        parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
        if head == "Literal":
            return [repr(part.value) for part in parts if isinstance(part, ast.Constant)]
        if head == "Optional":
            return [*self.texts_for(parts[0], depth + 1), "None"]
        if head == "Union":
            return values.merged([self.texts_for(part, depth + 1) for part in parts])
        if head in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
            return self.texts_for(parts[0], depth + 1)
        if head in ("type", "Type"):
            return ["int", "str"]
        if head == "Callable":
            arity = len(parts[0].elts) if parts and isinstance(parts[0], ast.List) else 1
            return list(values.FUNCTIONS.get(arity, values.FUNCTIONS[1]))
        if head in ("tuple", "Tuple"):
            return self._tuples(parts, depth)
        if (
            head in ("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict")
            and len(parts) == 2
        ):
            keys, held = (self.texts_for(part, depth + 1) or values.ANY for part in parts)
            made = ["{%s: %s}" % pair for pair in zip(keys[:3], held[:3])]  # noqa: B905, UP031
            return values.unique([*made, "{}", "{%s}" % ", ".join(m[1:-1] for m in made[:2])])  # noqa: UP031
        if head in ("set", "Set", "frozenset", "FrozenSet", "AbstractSet"):
            items = self.texts_for(parts[0], depth + 1) or values.ANY
            return ["{%s}" % ", ".join(items[:2]), "set()", "{%s}" % items[0]]  # noqa: UP031
        if head in ("Iterator", "Generator"):
            items = self.texts_for(parts[0], depth + 1) or values.ANY
            return [f"iter([{', '.join(items[:3])}])", "iter([])"]
        if head in ("list", "List", "Sequence", "Iterable", "Collection", "MutableSequence", "Container"):
            items = self.texts_for(parts[0], depth + 1)
            if not items:
                return list(values.NAMED["Sequence"])
            lists = [
                ", ".join(items[:1]),
                ", ".join(items[:3]),
                "",
                ", ".join(reversed(items[:3])),
                ", ".join(items[:6]),
            ]
            lists.append(", ".join([*items[:1] * 2, *items[1:2]]))
            return values.unique([f"[{inside}]" for inside in lists])
        return self._of_name(head, depth)

    def _tuples(self, parts: list[Any], depth: int) -> list[str]:
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
            items = self.texts_for(parts[0], depth + 1) or values.ANY
            return ["(%s, %s)" % (items[0], items[1 % len(items)]), "(%s,)" % items[0],  # noqa: UP031
                    "(%s)" % ", ".join(items[:3]), "()"]  # fmt: skip # noqa: UP031
        columns = [self.texts_for(part, depth + 1) or values.ANY for part in parts]
        if not columns:
            return ["()"]
        made = []
        for index in range(6):
            row = [column[index % len(column)] for column in columns]
            made.append("(%s)" % (", ".join(row) + ("," if len(row) == 1 else "")))
        return values.unique(made)
