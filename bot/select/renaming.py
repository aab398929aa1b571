"""Giving functions, classes, helpers and imports of a test file other names, and finding names that are free."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import libcst as cst


def fresh_name(name: str, meaning: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the old one with a word that tells the two apart."""
    camel = name[:1].isupper() and "_" not in name
    words = [meaning, "as_well", "once_more", *(f"case_{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]
    for word in words:
        tail = "".join(part[:1].upper() + part[1:] for part in word.split("_")) if camel else f"_{word}"
        if word and f"{name}{tail}" not in taken:
            return f"{name}{tail}"
    return next(free for number in range(2, 10_000) if (free := f"{name}_{number}") not in taken)


def renamed(
    source: str, names: Mapping[str, str], methods: Mapping[str, str], fixtures: Collection[str] = ()
) -> tuple[str, dict[str, str]]:
    """Rename module-level names wherever a file uses them, and methods where they are defined.

    Args:
        source: The file.
        names: New names of functions, classes, constants, fixtures and imports.
        methods: New names of methods, by `TestA::test_b`.
        fixtures: Those of `names` that are fixtures: parameters and `usefixtures` refer to them.

    Returns:
        The file, and the new place of each function that moved, as `TestA::test_b`.
    """
    if not names and not methods:
        return source, {}
    edit = _Rename(names, methods, fixtures)
    return cst.parse_module(source).visit(edit).code, edit.moved


class _Rename(cst.CSTTransformer):
    def __init__(
        self, names: Mapping[str, str], methods: Mapping[str, str], fixtures: Collection[str]
    ) -> None:
        self.names = names
        self.methods = methods
        self.fixtures = fixtures
        self.stack: list[str] = []
        self.hidden: list[frozenset[str]] = []
        self.moved: dict[str, str] = {}

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802 - libcst's name
        self.stack.append(node.name.value)

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:  # noqa: N802, ARG002
        self.stack.pop()
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:  # noqa: N802 - libcst's name
        self.stack.append(node.name.value)
        given = [*node.params.params, *node.params.posonly_params, *node.params.kwonly_params]
        self.hidden.append(frozenset(p.name.value for p in given if p.name.value not in self.fixtures))

    def leave_FunctionDef(  # noqa: N802 - libcst's name
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        old = "::".join(self.stack)
        self.stack.pop()
        self.hidden.pop()
        own = self.methods.get(old)
        if (
            own is None and self.stack
        ):  # a method is found through its object: a module's name does not reach it
            own = original_node.name.value
        top = [self.names.get(part, part) for part in self.stack[:1]] + self.stack[1:]
        new = "::".join([*top, own or updated_node.name.value])
        if new != old:
            self.moved[old] = new
        return updated_node.with_changes(name=cst.Name(own)) if own else updated_node

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:  # noqa: N802
        new = self.names.get(original_node.value)
        if new is None or any(original_node.value in hidden for hidden in self.hidden):
            return updated_node
        return updated_node.with_changes(value=new)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:  # noqa: N802
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802 - libcst's name
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_ImportAlias(  # noqa: N802 - libcst's name
        self, original_node: cst.ImportAlias, updated_node: cst.ImportAlias
    ) -> cst.ImportAlias:
        bound = original_node.asname.name if original_node.asname else original_node.name
        new = self.names.get(bound.value) if isinstance(bound, cst.Name) else None
        if new is None:
            return original_node
        alias = cst.AsName(cst.Name(new), cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))
        return updated_node.with_changes(name=original_node.name, asname=alias)

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:  # noqa: N802
        return updated_node.with_changes(module=original_node.module)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802 - libcst's name
        func = original_node.func
        if not isinstance(func, cst.Attribute) or func.attr.value not in ("usefixtures", "getfixturevalue"):
            return updated_node
        return updated_node.with_changes(args=[self._named(argument) for argument in updated_node.args])

    def _named(self, argument: cst.Arg) -> cst.Arg:
        """Return an argument that names a fixture, with the fixture's new name."""
        value = argument.value
        new = self.names.get(value.raw_value) if isinstance(value, cst.SimpleString) else None
        return argument.with_changes(value=cst.SimpleString(f'"{new}"')) if new else argument
