"""Examples in docstrings, read as scenarios: doctest sessions, and lines such as `f(2) -> 4`."""

from __future__ import annotations

import ast
import builtins
import doctest
import re
import sys
from collections.abc import Iterator, Sequence

from bot.models.offline.layout import as_function
from bot.models.offline.outline import Entry, Outline
from bot.models.offline.scenario import Scenario, Then

_ARROW = re.compile(r"`*\s*(?:->|=>|==|→|#\s*(?:=>|->|==|returns)?)\s*`*(?P<value>[^`]+?)`*\.?\s*$")
_BUILTINS = frozenset(dir(builtins))
_UNSTABLE = re.compile(r"0x[0-9a-f]{6,}|\.\.\.")


def documented(entry: Entry, outline: Outline) -> Iterator[Scenario]:
    """Yield the scenarios that an entry's docstring shows, as far as they are plain."""
    yield from _sessions(entry, outline)
    for line in entry.doc.splitlines():
        if ">>>" not in line:
            yield from _arrow(line, entry, outline)


def _sessions(entry: Entry, outline: Outline) -> Iterator[Scenario]:
    try:
        examples = doctest.DocTestParser().get_examples(entry.doc)
    except ValueError:
        return
    given: list[str] = []
    imports: list[str] = []
    lost: set[str] = set()
    for example in examples:
        text = as_function(_unprinted(example.source.strip()))
        if text.startswith(("import ", "from ")):
            imports += _stdlib(text)
            continue
        needed = _needed(given, text)
        then = None if example.options or "# doctest" in text else _outcome(example)
        then, text = _compared(then, text)
        if then is not None and not lost & _words("\n".join([*needed, text])):
            scenario = _scenario(entry, outline, tuple(needed), text, then, imports)
            if scenario is not None:
                yield scenario
        if example.exc_msg is not None or (example.want and _is_statement(text)):
            continue
        if _stored(text) is None:
            lost |= _words(text)
        else:
            given.append(text)


def _unprinted(text: str) -> str:
    """Return what a `print(...)` of one value prints."""
    found = re.fullmatch(r"print\((.*)\)", text, re.DOTALL)
    return found[1] if found and "," not in re.sub(r"\([^()]*\)", "", found[1]) else text


def _outcome(example: doctest.Example) -> Then | None:
    """Return what a doctest example shows; None if it shows nothing that a test could state."""
    if example.exc_msg is not None:
        name, _, message = example.exc_msg.strip().partition(":")
        if _UNSTABLE.search(message):
            message = ""
        return Then("raises", type=name.rpartition(".")[2], message=message.strip())
    want = example.want.strip()
    if not want or _UNSTABLE.search(want):
        return None
    return _value(want)


def _compared(then: Then | None, text: str) -> tuple[Then | None, str]:
    """Return `f(x) == y` that is true as `f(x)` that gives `y`."""
    if then is None or then.text != "True" or _is_statement(text):
        return then, text
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Call):
        return then, text
    right = _value(ast.unparse(node.comparators[0])) if type(node.ops[0]) in (ast.Eq, ast.Is) else None
    return (right, ast.unparse(node.left)) if right is not None and len(node.ops) == 1 else (then, text)


def _value(text: str) -> Then | None:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return None
    approximate = isinstance(value, float) and value not in (0.0, 0.5, 1.0, 1.5, 2.0)
    return Then("approx" if approximate else "value", text, type(value).__name__)


def _scenario(
    entry: Entry, outline: Outline, given: tuple[str, ...], when: str, then: Then, imports: Sequence[str]
) -> Scenario | None:
    """Return the scenario of an example; None if it names what is neither given nor the module's."""
    try:
        node = ast.parse(when, mode="eval").body
        trees = [ast.parse(text) for text in (*given, when)]
    except (SyntaxError, ValueError):
        return None
    named = {n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name)}
    bound = {n.id for n in named if isinstance(n.ctx, ast.Store)} | _rebound(given)
    bound |= {a.arg for tree in trees for a in ast.walk(tree) if isinstance(a, ast.arg)}
    read = {n.id for n in named} - bound
    imported = {name for line in imports for name in re.findall(r"\w+", line.partition("import")[2])}
    own = (read & outline.names) - _rebound(given) - imported
    if _reads_before_it_binds(given):
        return None
    if not own or read - own - _BUILTINS - imported:
        return None
    if then.kind == "raises" and then.type in outline.names:
        own |= {then.type}
    call = _call_of(node, outline)
    called = outline.find(ast.unparse(call.func)) if call else None
    subject = called.qualname if called and called.public and not entry.owner else entry.qualname
    args = _arguments(call, outline) if call else ()
    return Scenario(subject, when, then, given, (), tuple(sorted(own)), tuple(imports), args, documented=True)


def _call_of(node: ast.expr, outline: Outline) -> ast.Call | None:
    """Return the outermost call of the module under test in an expression."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return next((call for call in calls if outline.parameters_of_call(ast.unparse(call.func))), None)


def _reads_before_it_binds(given: Sequence[str]) -> bool:
    """Whether a statement gives a new meaning to a name that it reads, as `inc = curry(inc)`; a test cannot say so."""
    bound: set[str] = set()
    for text in given:
        stored = _stored(text) or frozenset()
        if not text.startswith(("def ", "@")) and stored & _words(text.partition("=")[2]) - bound:
            return True
        bound |= stored
    return False


def _rebound(given: Sequence[str]) -> frozenset[str]:
    return frozenset(name for text in given for name in _stored(text) or ())


def _arguments(node: ast.Call, outline: Outline) -> tuple[tuple[str, str], ...]:
    parameters = outline.parameters_of_call(ast.unparse(node.func))
    names = [parameter.name for parameter in parameters if not parameter.keyword_only]
    if len(node.args) > len(names) or any(isinstance(argument, ast.Starred) for argument in node.args):
        return ()
    found = [(name, ast.unparse(argument)) for name, argument in zip(names, node.args, strict=False)]
    found += [(word.arg, ast.unparse(word.value)) for word in node.keywords if word.arg]
    return tuple(found)


def _needed(given: Sequence[str], when: str) -> list[str]:
    """Return the statements that an expression builds on, those that these need included, in order."""
    kept: list[str] = []
    wanted = _words(when)
    objects = {name for text in given if "(" in text for name in _stored(text) or ()}
    for text in reversed(given):
        stored = _stored(text) or frozenset()
        if stored & wanted or (not stored and _is_call(text) and _words(text) & wanted & objects):
            kept.insert(0, text)
            wanted |= _words(text)
    return kept


def _is_call(text: str) -> bool:
    """Whether a statement may change what it names; looking at an attribute or comparing does not."""
    return not _is_statement(text) and isinstance(ast.parse(text, mode="eval").body, ast.Call)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _stored(text: str) -> frozenset[str] | None:
    """Return the names that a statement binds, none for an expression; None for what a test had better not repeat."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    if len(body) != 1 or not isinstance(
        body[0], ast.Assign | ast.Expr | ast.FunctionDef | ast.Delete | ast.AugAssign
    ):
        return None
    if isinstance(body[0], ast.FunctionDef):
        return frozenset({body[0].name})
    return frozenset(
        node.id
        for node in ast.walk(body[0])
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _is_statement(text: str) -> bool:
    """Whether a text is no expression, such as an import or an assignment."""
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return True
    return False


def _stdlib(text: str) -> list[str]:
    """Return an import line if it is the standard library's; the module's own names are imported anyway."""
    found = re.match(r"(?:from|import)\s+(\w+)", text)
    return [text] if found and found[1] in sys.stdlib_module_names else []


def _arrow(line: str, entry: Entry, outline: Outline) -> Iterator[Scenario]:
    """Yield the example of a line such as `f(2) -> 4`, where `f` is the entry itself."""
    start = re.search(rf"(?<![\w.]){re.escape(entry.name)}\(", line)
    if start is None or entry.owner:
        return
    for end in re.finditer(r"\)", line):
        call, found = line[start.start() : end.end()], _ARROW.match(line[end.end() :])
        then = _value(found["value"].strip()) if found else None
        scenario = _scenario(entry, outline, (), call, then, ()) if then else None
        if scenario is not None:
            yield scenario
            return
