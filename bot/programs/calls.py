"""Calls to ask about where no model proposes any: values from annotations, defaults, examples and the function's constants."""

from __future__ import annotations

import ast
import itertools
import re

from bot.programs.assertions import Assertion, split
from bot.programs.functions import Subject

MOST = 60
_PLAIN: dict[str, tuple[str, ...]] = {
    "int": ("0", "1", "-1", "2", "10"),
    "float": ("0.0", "1.0", "-1.5", "2.5"),
    "str": ("''", "'a'", "' A b '", "'abc'", "'a,b'", "'10'"),
    "bool": ("True", "False"),
    "bytes": ("b''", "b'abc'"),
    "list": ("[]", "[1]", "[3, 1, 2]", "[1, 1, 2]"),
    "tuple": ("()", "(1,)", "(3, 1, 2)"),
    "set": ("set()", "{1, 2}"),
    "dict": ("{}", "{'a': 1}", "{'a': 1, 'b': 2}"),
    "None": ("None",),
}
_ANY = ("0", "1", "-1", "2", "''", "'a'", "'abc'", "[]", "[3, 1, 2]", "None")
_PATTERN = re.compile(r"[\\\\^$*+?{}|]")
"""What shows that a string is a pattern or a format rather than text."""
_PROMPT = re.compile(r"^\s*>>> (.+)$", re.MULTILINE)


def calls(subject: Subject, *, most: int = MOST) -> tuple[str, ...]:
    """Return calls of a function with literal arguments, the likeliest first.

    Args:
        subject: The function.
        most: At most so many.
    """
    node = next(
        one
        for one in ast.parse(subject.source).body
        if isinstance(one, ast.FunctionDef) and one.name == subject.name
    )
    constants = _constants(node)
    arguments = [*node.args.posonlyargs, *node.args.args]
    needed = len(arguments) - len(node.args.defaults)
    pools = [_values(argument, constants) for argument in arguments]
    found: dict[str, None] = dict.fromkeys(_examples(subject))
    for row in _rows(pools[:needed] if needed else pools[:1], most):
        found[f"{subject.name}({', '.join(row)})"] = None
    for place in range(needed, len(arguments)):
        for value in pools[place][:6]:
            first = [pool[min(1, len(pool) - 1)] for pool in pools[:needed]]
            found[f"{subject.name}({', '.join([*first, f'{arguments[place].arg}={value}'])})"] = None
    for argument in node.args.kwonlyargs:
        for value in _values(argument, constants)[:6]:
            first = [pool[min(1, len(pool) - 1)] for pool in pools[:needed]]
            found[f"{subject.name}({', '.join([*first, f'{argument.arg}={value}'])})"] = None
    return tuple(found)[:most]


def documented(subject: Subject) -> tuple[Assertion, ...]:
    """Return the assertions that the examples in a docstring make: `>>> f(1)` with the literal below it."""
    lines = subject.documentation.splitlines()
    found: list[Assertion] = []
    for number, line in enumerate(lines[:-1]):
        match = _PROMPT.match(line)
        value = lines[number + 1].strip()
        if match and value and _is_literal(value):
            found += split(f"assert {match[1]} == {value}", subject.name)
    return tuple(found)


def _examples(subject: Subject) -> list[str]:
    """Return the calls of the function in its docstring's examples."""
    texts = _PROMPT.findall(subject.documentation)
    return [one.call for text in texts for one in split(f"assert {text} == 0", subject.name)]


def _rows(pools: list[tuple[str, ...]], most: int) -> list[tuple[str, ...]]:
    """Return rows of values, each value of each pool at least once before all combinations follow."""
    if not pools:
        return [()]
    longest = max(len(pool) for pool in pools)
    aligned = [
        tuple(pool[(n + shift) % len(pool)] for shift, pool in enumerate(pools)) for n in range(longest)
    ]
    crossed = itertools.islice(itertools.product(*pools), most * 4)
    return list(dict.fromkeys([*aligned, *crossed]))[:most]


def _values(argument: ast.arg, constants: tuple[str, ...]) -> tuple[str, ...]:
    """Return values for a parameter: near the function's constants of the fitting type, then usual ones."""
    names = (
        [one.id for one in ast.walk(argument.annotation) if isinstance(one, ast.Name)]
        + [str(one.value) for one in ast.walk(argument.annotation) if isinstance(one, ast.Constant)]
        if argument.annotation
        else []
    )
    usual = tuple(dict.fromkeys(value for name in names for value in _PLAIN.get(name, ()))) or _ANY
    kinds = {type(ast.literal_eval(value)) for value in usual}
    fitting = tuple(value for value in constants if type(ast.literal_eval(value)) in kinds)
    return tuple(dict.fromkeys((*fitting[:9], *usual)))


def _constants(node: ast.AST) -> tuple[str, ...]:
    """Return the constants of a function's code as literals, numbers with their neighbours."""
    found: dict[str, None] = {}
    for one in ast.walk(node):
        if not isinstance(one, ast.Constant) or isinstance(one.value, bool) or one.value is None:
            continue
        value = one.value
        if isinstance(value, int):
            found |= dict.fromkeys(map(repr, (value, value - 1, value + 1)))
        elif isinstance(value, float):
            found |= dict.fromkeys(map(repr, (value, -value)))
        elif isinstance(value, str) and 0 < len(value) <= 12 and not _PATTERN.search(value):
            found |= dict.fromkeys(map(repr, (value, f"a{value}b", value * 2)))
    return tuple(found)


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return False
    return True
