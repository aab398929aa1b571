"""Texts of values to try for a parameter: from its annotation, name, default, and what the module compares with."""

from __future__ import annotations

import ast
import random
import re
from typing import Any

from . import contexts, literals, patterns, usage, values
from .annotations import Annotations
from .programs import Op, Param
from .surface import Surface


class Inputs:
    """Fills the pools of a module's parameters."""

    def __init__(self, surface: Surface, seed: int) -> None:
        self.surface = surface
        self.random = random.Random(seed)
        self.annotations = Annotations(surface)
        self.patterns = patterns.strings_of(surface.module, surface.tree)
        self.uses = self._uses()
        self.constants = {
            op.subject: literals.constants_of(op.node) for op in self._all_ops() if op.node is not None
        }
        self.module_constants = literals.in_case_forms(
            literals.plain_first(literals.constants_of(surface.tree, deep=False))
        )

    def _uses(self) -> dict[int, dict[str, usage.Uses]]:
        """Return how each function uses its parameters, by the identity of its node."""
        found: dict[int, dict[str, usage.Uses]] = {}
        for name, node in self.surface.nodes.items():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                shell = self.surface.nodes.get(name.rpartition(".")[0])
                found[id(node)] = usage.of_function(node, shell)
        return found

    def _all_ops(self) -> list[Op]:
        ops = list(self.surface.functions)
        for owner in self.surface.owners:
            ops.extend(owner.makers)
            ops.extend(owner.ops)
        return ops

    def fill(self) -> None:
        """Fill the pool of every parameter: likely texts first, wrong types in `spare`."""
        for op in self._all_ops():
            near = self.constants.get(op.subject, [])
            uses = self.uses.get(id(op.node), {})
            if "[{0}]" in op.form and op.params:
                op.params[0].spare = ["1:", ":2", "-1", "'missing'"]
            if op.form.startswith("hash("):
                op.params[0].pool = ["@" + op.receiver]  # of anything else, hashes say nothing
                continue
            for param in op.params:
                if param.pool == contexts.RAISED:
                    continue
                if param.star == "**":
                    param.pool = self._words(op, param)
                    continue
                told = uses.get(param.name, usage.Uses())
                if (
                    op.receiver
                    and param.name in ("key", "k")
                    and "callable" not in told.kinds
                    and not param.annotation
                ):
                    param.pool = values.unique([*param.pool, *values.KEYS])
                    continue
                self._fill(param, near, told)
            if op.receiver and "{0}" in op.form and len(op.params) == 1 and " {0}" in op.form + " ":
                op.params[0].pool = values.unique(["@" + op.receiver, *op.params[0].pool[:12]])

    def _fill(self, param: Param, near: list[str], uses: usage.Uses) -> None:
        if self._by_name(param) == [values.CLOCK]:
            param.pool, param.default = (
                [values.CLOCK],
                None,
            )  # with the real clock, no two runs would be the same
            return
        told = self.annotations.texts_for(param.annotation) if param.annotation is not None else []
        told = [t for t in told if t != "..."]
        named = self._by_name(param)
        known = bool(told)
        if not told:
            told = values.merged([self._of_class_named(param), list(named), self._by_use(uses)])
            known = "callable" in uses.kinds
        elif named and set(named) & set(told):
            told = [t for t in told if t in named] + [t for t in told if t not in named]
        if param.default not in (None, "...", "None") and not told:
            told = self._like(param.default or "")
            known = True
        if param.default == "None":
            told = [*told, "None"] if told else [*values.ANY]
        base = told or list(values.ANY)
        kinds = {values.kind_of(text) for text in base}
        extra = [t for t in near if values.kind_of(t) in kinds or (not known and not named)]
        wide = [t for t in self.module_constants if values.kind_of(t) in kinds][:40]
        regex = self.patterns[:40] if "str" in kinds else []
        pool = [*param.pool, *base[:6], *extra, *regex[:12], *base[6:], *wide, *regex[12:]]
        if re.search(r"sep|delim|joiner|glue", param.name):
            pool = [*values.SEPARATORS, *pool]
        if re.search(r"fmt|format", param.name):
            pool = [*values.FORMATS, *pool]
        if param.default not in (None, "..."):
            pool.append(param.default or "")
        param.pool = values.unique(pool)
        wrong = [t for t in values.ANY if values.kind_of(t) not in {values.kind_of(p) for p in param.pool}]
        if "str" in kinds and not any(values.kind_of(text) == "bytes" for text in param.pool):
            wrong = [
                *wrong[:1],
                "b" + next((t for t in param.pool if t.isascii() and values.kind_of(t) == "str"), "'abc'"),
                *wrong[1:],
            ]
        param.spare = values.unique([*param.spare, *wrong])
        if param.star == "*":
            param.pool = values.unique([*param.pool, *values.ANY[:8]])

    def _words(self, op: Op, param: Param) -> list[str]:
        """Return `name=value` texts for a `**` parameter: names that the function looks up, or its class takes."""
        names: dict[str, None] = {}
        for node in ast.walk(op.node) if op.node is not None else ():
            held: Any = None
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                held, key = node.func.value, node.args[0]
            elif isinstance(node, ast.Subscript):
                held, key = node.value, node.slice
            if isinstance(held, ast.Name) and held.id == param.name and isinstance(key, ast.Constant):
                names[str(key.value)] = None
        owner = next((o for o in self.surface.owners if o.name == op.receiver), None)
        for maker in owner.makers[:1] if owner is not None else ():
            names.update(dict.fromkeys(p.name for p in maker.params if not p.star))
        texts = []
        for name in [n for n in names if n.isidentifier()]:
            likely = self._by_name(Param(name, None, True)) or ["1", "2", "'a'", "None"]
            texts += [f"{name}={value}" for value in likely[:5]]
        return [*param.pool, *texts[:2], "unknown=1", *texts[2:]]

    def _of_class_named(self, param: Param) -> list[str]:
        """Return the marker of a class of the module that a parameter is named after: `cache` for `Cache`."""
        words = param.name.lower().replace("_", "")
        return ["@" + owner.name for owner in self.surface.owners if owner.name.lower() == words]

    @staticmethod
    def _by_use(uses: usage.Uses) -> list[str]:
        columns: list[list[str]] = []
        for names in values.unique([", ".join(call) for call in uses.calls]):
            columns.append(values.functions_of(names.split(", ") if names else []))
        for kind in uses.likeliest()[:4]:
            columns.append(list(values.BY_USE.get(kind, [])))
        return values.merged(columns)

    def _by_name(self, param: Param) -> list[str]:
        for pattern, texts in values.BY_NAME:
            if re.search(pattern, param.name.lower().lstrip("_")):
                return list(texts)
        return []

    def _like(self, default: str) -> list[str]:
        kind = values.kind_of(default)
        table = {
            "int": values.INTS, "float": [*values.FLOATS, *values.INTS], "str": values.STRINGS, "bool": values.BOOLS, "list": values.LISTS, "tuple": [*values.TUPLES, *values.LISTS],
            "dict": values.DICTS, "bytes": values.BYTES,
        }  # fmt: skip
        return list(table.get(kind, values.ANY))
