"""Values written into a test's body in the place of names, or assigned to them at its start."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bot.changes.source import first_line
from bot.select.statements import DEFINITIONS, FUNCTIONS, is_text

Function = ast.FunctionDef | ast.AsyncFunctionDef

_LONG = 24
"""Characters from which a value that is used more than twice gets a name."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of one name: its text, and what it means."""

    text: str
    node: ast.expr

    @property
    def fresh(self) -> bool:
        """Whether each evaluation may give an object of its own that can be changed."""
        return any(isinstance(n, (ast.List, ast.Dict, ast.Set, ast.Call)) for n in ast.walk(self.node))

    @property
    def composed(self) -> bool:
        """Whether two evaluations may give two objects, though equal ones."""
        return not isinstance(self.node, (ast.Constant, ast.Name, ast.Attribute))


def find(tree: ast.Module, function: str) -> Function | None:
    """Return a function's definition, if it is the only one of its name in that place."""
    body: list[ast.stmt] = tree.body
    *owners, last = function.split("::")
    for owner in owners:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == owner]
        if len(classes) != 1:
            return None
        body = classes[0].body
    found = [node for node in body if isinstance(node, FUNCTIONS) and node.name == last]
    return found[0] if len(found) == 1 else None


def needs_name(node: Function, name: str, value: Value) -> bool:
    """Whether a value is better bound to its name than written in each place, or has to be."""
    uses = _uses(node, name)
    if any(_is_use(part, name) for text in _within(node, ast.JoinedStr) for part in ast.walk(text)):
        return True
    if len(uses) > 1 and (value.fresh or "\n" in value.text):
        return True
    if len(uses) > 1 and value.composed and _within(node, ast.Is, ast.IsNot):
        return True
    if len(uses) > 2 and len(value.text) > _LONG:
        return True
    repeated = (ast.For, ast.AsyncFor, ast.While, ast.comprehension, *_SCOPES)
    return value.fresh and any(
        _is_use(part, name) for loop in _within(node, *repeated) for part in ast.walk(loop)
    )


_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, *DEFINITIONS)


def _within(node: Function, *kinds: type[ast.AST]) -> list[ast.AST]:
    return [part for line in node.body for part in ast.walk(line) if isinstance(part, kinds)]


def _is_use(part: ast.AST, name: str) -> bool:
    return isinstance(part, ast.Name) and part.id == name


def _uses(node: Function, name: str) -> list[ast.Name]:
    return [part for part in _within(node, ast.Name) if isinstance(part, ast.Name) and part.id == name]


class _Substitution(ast.NodeTransformer):
    """Puts values in the place of names."""

    def __init__(self, values: Mapping[tuple[int, int], ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.values.get((node.lineno, node.col_offset))
        return node if value is None else value


def with_values(
    source: str, function: str, values: Mapping[str, Value], assigned: Collection[str]
) -> str | None:
    """Return the file with values in the test's body; None if they cannot be written there."""
    tree = ast.parse(source)
    node = find(tree, function)
    if node is None:
        return None
    places = [(use, values[name]) for name in values if name not in assigned for use in _uses(node, name)]
    edits: list[tuple[ast.Name, str]] = []
    for use, value in places:
        expected = _substituted(node, [(use, value)])
        texts = (value.text, f"({value.text})")
        text = next((t for t in texts if _means(_edited(source, [(use, t)]), function, expected)), None)
        if text is None:
            return None
        edits.append((use, text))
    changed = _edited(source, edits)
    if not _means(changed, function, _substituted(node, places)):
        return None
    kept = [name for name in values if name in assigned and _uses(node, name)]
    return _with_assignments(changed, function, {name: values[name].text for name in kept})


def _substituted(node: Function, places: Sequence[tuple[ast.Name, Value]]) -> str:
    chosen = {(use.lineno, use.col_offset): value.node for use, value in places}
    return ast.dump(_Substitution(chosen).visit(copy.deepcopy(node)))


def _means(source: str, function: str, expected: str) -> bool:
    """Whether a function of a file has this syntax tree."""
    try:
        node = find(ast.parse(source), function)
    except SyntaxError:
        return False
    return node is not None and ast.dump(node) == expected


def _edited(source: str, edits: Sequence[tuple[ast.Name, str]]) -> str:
    lines = source.encode().split(b"\n")
    for use, text in sorted(edits, key=lambda edit: (-edit[0].lineno, -edit[0].col_offset)):
        line = lines[use.lineno - 1]
        lines[use.lineno - 1] = line[: use.col_offset] + text.encode() + line[use.end_col_offset or 0 :]
    return b"\n".join(lines).decode()


def _with_assignments(source: str, function: str, texts: Mapping[str, str]) -> str:
    """Return the file with names bound at the start of a test's body, after its docstring."""
    node = find(ast.parse(source), function)
    if node is None or not texts:
        return source
    lines = source.split("\n")
    documented = is_text(node.body[0]) and len(node.body) > 1
    first = node.body[1 if documented else 0]
    above = node.body[0].end_lineno or 0 if documented else node.lineno
    place = first_line(first) - 1
    while place > above and (not lines[place - 1].strip() or lines[place - 1].lstrip().startswith("#")):
        place -= 1
    indent = " " * first.col_offset
    lines[place:place] = [f"{indent}{_assignment(name, text)}" for name, text in texts.items()]
    return "\n".join(lines)


def _assignment(name: str, text: str) -> str:
    """Return an assignment, with parentheses where the value goes on in another line without any."""
    try:
        body = ast.parse(f"{name} = {text}").body
    except SyntaxError:
        body = []
    return f"{name} = {text}" if len(body) == 1 else f"{name} = ({text}\n)"
