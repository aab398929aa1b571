"""The outline of a module's source: its functions, classes and methods in order, with their parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its annotation and default as source text, empty where there is none."""

    name: str
    annotation: str = ""
    default: str = ""
    keyword_only: bool = False
    starred: bool = False

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return not self.default and not self.starred


@dataclass(frozen=True, slots=True)
class Entry:
    """A function, method or class; for a class the parameters are its constructor's, without `self`."""

    qualname: str
    node: _FunctionNode | ast.ClassDef
    parameters: tuple[Parameter, ...]
    doc: str
    decorators: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """The class that holds it; empty for a function of the module."""
        return self.qualname.rpartition(".")[0]

    @property
    def is_class(self) -> bool:
        """Whether it is a class."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def public(self) -> bool:
        """Whether no part of its name is private; special methods are public."""
        return all(not part.startswith("_") or part.endswith("__") for part in self.qualname.split("."))


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A module's entries in source order, and all names it binds at module level; equal only to itself."""

    entries: tuple[Entry, ...]
    names: frozenset[str]
    doc: str = ""

    def find(self, qualname: str) -> Entry | None:
        """Return the entry of this qualified name."""
        return next((entry for entry in self.entries if entry.qualname == qualname), None)

    def root(self, name: str) -> str:
        """Return the class of this module that a class goes back to by its first bases; itself if it has none here."""
        seen = {name}
        while True:
            entry = self.find(name)
            bases = entry.node.bases if entry and isinstance(entry.node, ast.ClassDef) else []
            above = next(
                (text for text in map(ast.unparse, bases) if self.find(text) and text not in seen), None
            )
            if above is None:
                return name
            seen.add(above)
            name = above

    def order(self, qualname: str) -> tuple[int, str]:
        """Return a sort key: the place in the source of an entry, of its class, or behind all."""
        for wanted in (qualname, qualname.rpartition(".")[0]):
            for place, entry in enumerate(self.entries):
                if entry.qualname == wanted:
                    return place, qualname
        return len(self.entries), qualname

    def parameters_of_call(self, function: str) -> tuple[Parameter, ...]:
        """Return the parameters of what a call names: a function, a class, or a method of any class by its name."""
        entry = self.find(function)
        if entry is None:
            last = function.rpartition(".")[2]
            same = [entry for entry in self.entries if entry.name == last and entry.owner]
            entry = same[0] if same else None
        return entry.parameters if entry else ()


@lru_cache(maxsize=8)
def read(source: str) -> Outline:
    """Return the outline of a module; an empty one if the source does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return Outline((), frozenset())
    entries = tuple(_entries(tree.body, ""))
    return Outline(entries, frozenset(_bound(tree.body)), ast.get_docstring(tree) or "")


def _entries(body: list[ast.stmt], prefix: str) -> Iterator[Entry]:
    for node in _statements(body):
        if isinstance(node, _FunctionNode):
            decorators = tuple(ast.unparse(decorator) for decorator in node.decorator_list)
            bound = bool(prefix) and "staticmethod" not in decorators
            doc = ast.get_docstring(node) or ""
            yield Entry(prefix + node.name, node, _parameters(node.args, bound), doc, decorators)
        elif isinstance(node, ast.ClassDef):
            decorators = tuple(ast.unparse(decorator) for decorator in node.decorator_list)
            doc = ast.get_docstring(node) or ""
            yield Entry(prefix + node.name, node, _constructor(node, decorators), doc, decorators)
            yield from _entries(node.body, f"{prefix}{node.name}.")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield a body's statements, those under `if`, `try` and `with` included."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.Try | ast.With):
                yield from _statements(getattr(node, field, []))


def _parameters(args: ast.arguments, bound: bool) -> tuple[Parameter, ...]:
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    found = [_parameter(arg, default) for arg, default in zip(positional, defaults, strict=True)]
    if bound:
        found = found[1:]
    if args.vararg:
        found.append(Parameter(args.vararg.arg, starred=True))
    found += [
        _parameter(arg, default, keyword_only=True)
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    return tuple(found)


def _parameter(arg: ast.arg, default: ast.expr | None, keyword_only: bool = False) -> Parameter:
    annotation = ast.unparse(arg.annotation) if arg.annotation else ""
    return Parameter(arg.arg, annotation.strip("'\""), ast.unparse(default) if default else "", keyword_only)


def _constructor(node: ast.ClassDef, decorators: tuple[str, ...]) -> tuple[Parameter, ...]:
    """Return the parameters of a class's call, from `__init__`, `__new__`, or the fields of a data class."""
    for wanted in ("__init__", "__new__"):
        for method in node.body:
            if isinstance(method, _FunctionNode) and method.name == wanted:
                return _parameters(method.args, bound=True)
    bases = " ".join(ast.unparse(base) for base in node.bases)
    if not any("dataclass" in text for text in decorators) and "NamedTuple" not in bases:
        return ()
    return tuple(
        Parameter(
            field.target.id, ast.unparse(field.annotation), ast.unparse(field.value) if field.value else ""
        )
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    )


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in _statements(body):
        if isinstance(node, _FunctionNode | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (t.id for target in node.targets for t in ast.walk(target) if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
