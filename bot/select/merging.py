"""Adding tests to a file that exists: imports merged, classes matched, names kept apart, every existing line as it was."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.changes.source import first_line
from bot.select.dialect import as_imported
from bot.select.imports import bindings, with_imports
from bot.select.renaming import fresh_name, renamed
from bot.select.statements import DEFINITIONS, FUNCTIONS, is_autouse, is_text


@dataclass(frozen=True, slots=True)
class Merged:
    """An existing file with tests added.

    Attributes:
        renamed: New names of the added functions that could not keep theirs, as `TestA::test_b`.
    """

    content: str
    renamed: Mapping[str, str]


def merge(existing: str, addition: str) -> Merged | None:
    """Return an existing test file with the tests of another one added in its own style.

    Args:
        existing: The file to extend; none of its lines is changed except import lines that get more names.
        addition: A file of tests alone.

    Returns:
        The file; None where its tests cannot live together with the existing ones: what the addition does to its
        module as a whole (autouse fixtures, `pytestmark`, code that runs at import) would reach them too.
    """
    newline = "\r\n" if "\r\n" in existing else "\n"
    mark = "\ufeff" if existing.startswith("\ufeff") else ""
    base = existing.removeprefix(mark).replace("\r\n", "\n")
    if base and not base.endswith("\n"):
        base += "\n"
    try:
        old = ast.parse(base)
        addition = as_imported(old, addition)
        new = ast.parse(addition)
    except SyntaxError:
        return None
    if any(_reaches_all(statement) for statement in new.body):
        return None
    addition, moved = _apart(old, new, addition)
    blocks = _blocks(addition)
    imports = [block for block in blocks if isinstance(block.node, (ast.Import, ast.ImportFrom))]
    rest = [block for block in blocks if block not in imports and not _is_docstring(block, blocks)]
    extended = _with_definitions(base, rest)
    wanted = [name for block in imports for name in bindings(block.node)]
    extended = with_imports(extended, wanted)
    return Merged(mark + extended.replace("\n", newline), moved)


def _reaches_all(statement: ast.stmt) -> bool:
    """Whether a module-level statement would act on the existing tests too."""
    if isinstance(statement, FUNCTIONS):
        if re.match(
            r"(setup|teardown)(_module|_function)?$|pytest_|setUpModule|tearDownModule", statement.name
        ):
            return True
        return is_autouse(statement)
    if isinstance(statement, ast.Assign):
        names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        return len(names) != len(statement.targets) or any(
            n in ("pytestmark", "pytest_plugins") for n in names
        )
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    return not isinstance(statement, (ast.ClassDef, ast.Import, ast.ImportFrom, ast.AnnAssign))


# ---------------------------------------------------------------- names


def _apart(old: ast.Module, new: ast.Module, addition: str) -> tuple[str, dict[str, str]]:
    """Give what is added names of its own, where a name already means something else in the file.

    Returns:
        The addition with its names changed, and the functions that moved, as `TestA::test_b`.
    """
    taken = _names(old)
    existing = {node.name: node for node in old.body if isinstance(node, DEFINITIONS)}
    constants = {name: node for node in old.body for name in _assigned(node)}
    imported = {item.name: item for node in old.body for item in bindings(node)}
    changes: dict[str, str] = {}
    functions: dict[str, str] = {}
    reserved = taken | _names(new)
    for node in new.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for item in bindings(node):
                if item.name in taken and imported.get(item.name) != item:
                    changes[item.name] = fresh_name(item.name, item.module.rpartition(".")[2], reserved)
        elif (
            isinstance(node, ast.ClassDef) and node.name in existing and _joinable(existing[node.name], node)
        ):
            functions.update(_method_names(existing[node.name], node))
        elif isinstance(node, DEFINITIONS) and node.name in taken:
            if not _same(existing.get(node.name), node) or node.name.lower().startswith("test"):
                changes[node.name] = fresh_name(node.name, _meaning(node), reserved)
        else:
            for name in _assigned(node):
                if name in taken and not _same(constants.get(name), node):
                    changes[name] = fresh_name(name, "added", reserved)
        reserved |= set(changes.values())
    fixtures = {node.name for node in new.body if isinstance(node, DEFINITIONS) and _is_fixture(node)}
    return renamed(addition, changes, functions, fixtures)


def _names(tree: ast.Module) -> set[str]:
    """Return every name a module's top level binds."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, DEFINITIONS):
            found.add(node.name)
        found.update(item.name for item in bindings(node))
        for part in ast.walk(node):
            if (
                isinstance(part, ast.Name)
                and isinstance(part.ctx, ast.Store)
                and not isinstance(node, DEFINITIONS)
            ):
                found.add(part.id)
            elif isinstance(part, (ast.Import, ast.ImportFrom)) and not isinstance(node, DEFINITIONS):
                found.update(item.name for item in bindings(part))
    return found


def _assigned(node: ast.stmt) -> Iterable[str]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _same(one: ast.stmt | None, other: ast.stmt) -> bool:
    return one is not None and ast.dump(one) == ast.dump(other)


def _joinable(old: ast.stmt, new: ast.ClassDef) -> bool:
    """Whether the methods of a new class can go into an old one of the same name: same bases, nothing that clashes."""
    if not isinstance(old, ast.ClassDef) or old.decorator_list or new.decorator_list:
        return False
    if [ast.dump(base) for base in old.bases] != [ast.dump(base) for base in new.bases]:
        return False
    shared = [node for node in new.body if not _is_test(node) and not is_text(node)]
    return all(any(ast.dump(node) == ast.dump(other) for other in old.body) for node in shared)


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, FUNCTIONS) and node.name.startswith("test")


def _is_fixture(node: ast.stmt) -> bool:
    return any("fixture" in ast.dump(decorator) for decorator in getattr(node, "decorator_list", ()))


def _method_names(old: ast.stmt, new: ast.ClassDef) -> dict[str, str]:
    """Return new names for the methods of a class to be joined that the existing class has already."""
    assert isinstance(old, ast.ClassDef)
    taken = {node.name for node in old.body if isinstance(node, DEFINITIONS)}
    reserved = taken | {node.name for node in new.body if isinstance(node, DEFINITIONS)}
    found: dict[str, str] = {}
    for node in new.body:
        if isinstance(node, FUNCTIONS) and node.name in taken and _is_test(node):
            name = fresh_name(node.name, _meaning(node), reserved)
            reserved.add(name)
            found[f"{new.name}::{node.name}"] = name
    return found


def _meaning(node: ast.stmt) -> str:
    """Return a word or two that tell what a test or helper is about, for its name."""
    if isinstance(node, ast.ClassDef):
        return "Added"
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "raises":
            error = part.args[0] if part.args else None
            name = error.id if isinstance(error, ast.Name) else getattr(error, "attr", "")
            return f"raises_{_snake(name)}" if name else "raises"
    if any("parametrize" in ast.dump(decorator) for decorator in getattr(node, "decorator_list", ())):
        return "cases"
    for part in ast.walk(node):
        if isinstance(part, ast.Assert) and isinstance(part.test, ast.Compare):
            value = part.test.comparators[0]
            if isinstance(value, ast.Constant) and isinstance(value.value, (bool, type(None))):
                return f"is_{str(value.value).lower()}"
            if (
                isinstance(value, ast.Constant)
                and isinstance(value.value, str)
                and value.value.isidentifier()
            ):
                return f"gives_{value.value.lower()}"[:30]
    return "behaviour" if getattr(node, "name", "").startswith("test") else "added"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


# ---------------------------------------------------------------- blocks of text


@dataclass(frozen=True, slots=True)
class _Block:
    """A statement with the comments above it."""

    node: ast.stmt
    text: str


def _blocks(source: str, body: Sequence[ast.stmt] | None = None) -> list[_Block]:
    lines = source.splitlines(keepends=True)
    found: list[_Block] = []
    end = 0
    for node in ast.parse(source).body if body is None else body:
        start = first_line(node) - 1
        while start > end and lines[start - 1].lstrip().startswith("#"):
            start -= 1
        end = node.end_lineno or node.lineno
        found.append(_Block(node, "".join(lines[start:end]).rstrip("\n") + "\n"))
    return found


def _is_docstring(block: _Block, blocks: Sequence[_Block]) -> bool:
    return is_text(block.node) and block is blocks[0]


def _with_definitions(base: str, added: Sequence[_Block]) -> str:
    """Put helpers, tests and classes into a file: methods at the end of their class, the rest at its end."""
    present = {node.name: node for node in ast.parse(base).body if isinstance(node, DEFINITIONS)}
    known = {ast.dump(node) for node in ast.parse(base).body}
    insertions: list[tuple[int, str]] = []
    end: list[str] = []
    for block in added:
        node = block.node
        if ast.dump(node) in known:
            continue
        old = present.get(node.name) if isinstance(node, ast.ClassDef) else None
        if isinstance(node, ast.ClassDef) and isinstance(old, ast.ClassDef):
            insertions.append((old.end_lineno or old.lineno, _methods(old, block)))
        else:
            gap = "\n\n" if isinstance(node, DEFINITIONS) or not end else ""
            end.append(gap + block.text)
    lines = base.splitlines(keepends=True)
    if end:
        text = "".join(end)
        place = _end_of_tests(base)
        crowded = place < len(lines) and lines[place].strip()
        # First, so that methods of a class that ends the file come before it.
        insertions.insert(0, (place, f"{text}\n\n" if crowded else text))
    for line, text in sorted(insertions, key=lambda item: -item[0]):
        lines[line:line] = [text]
    return "".join(lines).rstrip("\n") + "\n"


def _methods(old: ast.ClassDef, block: _Block) -> str:
    """Return the tests of a class as text to append to the body of the existing one, indented like it."""
    assert isinstance(block.node, ast.ClassDef)
    tree = ast.parse(block.text)
    node = tree.body[0]
    assert isinstance(node, ast.ClassDef)
    parts = [part.text for part in _blocks(block.text, node.body) if _is_test(part.node)]
    ours, theirs = node.body[0].col_offset, old.body[0].col_offset
    if ours != theirs:
        parts = [re.sub(rf"^ {{{ours}}}", " " * theirs, part, flags=re.MULTILINE) for part in parts]
    return "".join(f"\n{part}" for part in parts)


def _end_of_tests(base: str) -> int:
    """Return after which line new tests go: the end, or before `if __name__ == "__main__":`."""
    lines = base.splitlines()
    for node in ast.parse(base).body:
        if isinstance(node, ast.If) and "__main__" in ast.dump(node.test):
            line = node.lineno - 1
            while line > 0 and lines[line - 1].startswith("#"):
                line -= 1
            while line > 0 and not lines[line - 1].strip():
                line -= 1
            return line
    return len(lines)
