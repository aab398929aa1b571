"""Python text laid out the way `ruff format` leaves it: 88 columns, one kind of quote, trailing commas where split."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import unicodedata
from collections.abc import Sequence

WIDTH = 88
_STEP = 4


def quoted(value: str | bytes, quote: str = '"') -> str:
    """Return a literal of `value` in the preferred quote, or in the other one where that needs fewer escapes."""
    text = value if isinstance(value, str) else value.decode("latin-1")
    other = "'" if quote == '"' else '"'
    used = other if text.count(quote) > text.count(other) else quote
    prefix = "" if isinstance(value, str) else "b"
    return prefix + used + "".join(_escaped(character, used, prefix) for character in text) + used


def _escaped(character: str, quote: str, prefix: str) -> str:
    if character in "'\"":
        return "\\" + character if character == quote else character
    if prefix:
        return repr(character.encode("latin-1"))[2:-1]
    if not character.isascii() and unicodedata.category(character)[0] in "MCZ":
        return ascii(character)[1:-1]  # nobody could see it
    return repr(character)[1:-1]


def flat(node: ast.AST, quote: str = '"') -> str:
    """Return a node as one line of canonical text."""
    text = re.sub(r"(?<=\de)\+(?=\d)", "", ast.unparse(node)) if _has_exponent(node) else ast.unparse(node)
    if "'" not in text and '"' not in text and " ** " not in text:
        return text
    return _requoted(text, quote)


def _has_exponent(node: ast.AST) -> bool:
    """Whether a number prints as `1e+40`, which is written `1e40`."""
    return any(
        isinstance(n, ast.Constant) and isinstance(n.value, float) and "e+" in repr(n.value)
        for n in ast.walk(node)
    )


def _requoted(text: str, quote: str) -> str:
    """Write each plain string of `text` with the preferred quote, and powers of simple operands without spaces."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    parts: list[str] = []
    done = 0
    for place, token in enumerate(tokens):
        begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        if token.type == tokenize.STRING:
            written = _rewritten(token.string, quote)
            parts += [text[done:begin], written]
            done = end
        elif token.string == "**" and _is_simple_power(tokens, place):
            parts += [text[done : begin - 1], "**"]
            done = end + 1
    return "".join(parts) + text[done:]


def _rewritten(literal: str, quote: str) -> str:
    """Return a string's literal in the preferred quote; one with another prefix than `b` as it is."""
    if literal.lstrip("uU")[:1] not in "'\"bB":
        return literal
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return literal
    return quoted(value, quote)


def _is_simple_power(tokens: Sequence[tokenize.TokenInfo], place: int) -> bool:
    """Whether a `**` stands between two names or numbers, with nothing called or looked up behind it."""
    if not 0 < place < len(tokens) - 2:
        return False
    simple = (tokenize.NAME, tokenize.NUMBER)
    before, after, then = tokens[place - 1], tokens[place + 1], tokens[place + 2]
    spaced = tokens[place].start[1] > before.end[1]
    return spaced and before.type in simple and after.type in simple and then.string not in ("(", "[", ".")


def canonical(text: str, quote: str = '"') -> str:
    """Return an expression or a statement in canonical form; text that does not parse comes back as it is."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    return "\n".join(flat(statement, quote) for statement in tree.body)


def width(text: str) -> int:
    """Return the columns a text takes; wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def laid_out(node: ast.expr, indent: int, quote: str = '"', *, lead: str = "", trail: str = "") -> list[str]:
    """Return the lines of an expression between `lead` and `trail`, split at its brackets if it is too wide.

    Args:
        indent: Columns before the first line.
        lead: Text before the expression on its first line, such as `expected = `.
        trail: Text behind it on its last line, such as a comma.
    """
    text = lead + flat(node, quote) + trail
    margin = " " * indent
    if indent + width(text) <= WIDTH and "\n" not in text:
        return [margin + text]
    if isinstance(node, ast.Call) and (node.args or node.keywords):
        return _split_call(node, indent, quote, lead, trail)
    if isinstance(node, ast.Dict) and node.keys:
        return _exploded(_pairs(node, quote), indent, quote, lead + "{", "}" + trail)
    brackets = {ast.List: "[]", ast.Set: "{}", ast.Tuple: "()"}.get(type(node))
    if brackets and isinstance(node, ast.List | ast.Set | ast.Tuple) and node.elts:
        items = [("", item) for item in node.elts]
        return _exploded(items, indent, quote, lead + brackets[0], brackets[1] + trail)
    return [margin + text]


def _pairs(node: ast.Dict, quote: str) -> list[tuple[str, ast.expr]]:
    return [
        (f"{flat(key, quote)}: " if key is not None else "**", value)
        for key, value in zip(node.keys, node.values, strict=True)
    ]


def _split_call(node: ast.Call, indent: int, quote: str, lead: str, trail: str) -> list[str]:
    """Lay a call out: all arguments on a line of their own if they fit there, otherwise one a line."""
    head = lead + flat(node.func, quote) + "("
    items: list[tuple[str, ast.expr]] = [("", argument) for argument in node.args]
    items += [(f"{word.arg}=" if word.arg else "**", word.value) for word in node.keywords]
    inner = ", ".join(name + flat(value, quote) for name, value in items)
    if indent + _STEP + width(inner) <= WIDTH:
        margin = " " * indent
        return [margin + head, margin + " " * _STEP + inner, f"{margin}){trail}"]
    if len(items) == 1 and isinstance(items[0][1], ast.GeneratorExp):
        return [" " * indent + lead + flat(node, quote) + trail]
    return _exploded(items, indent, quote, head, ")" + trail)


def _exploded(
    items: Sequence[tuple[str, ast.expr]], indent: int, quote: str, head: str, tail: str
) -> list[str]:
    margin = " " * indent
    lines = [margin + head]
    for name, value in items:
        lines += laid_out(value, indent + _STEP, quote, lead=name, trail=",")
    return [*lines, margin + tail]


def assignment(name: str, value: ast.expr, indent: int, quote: str = '"') -> list[str]:
    """Return the lines of `name = value`; a long atom goes into parentheses if it fits there."""
    lines = laid_out(value, indent, quote, lead=f"{name} = ")
    if len(lines) == 1 and width(lines[0]) > WIDTH and indent + _STEP + width(flat(value, quote)) <= WIDTH:
        margin = " " * indent
        return [f"{margin}{name} = (", margin + " " * _STEP + flat(value, quote), f"{margin})"]
    return lines


def statement(text: str, indent: int, quote: str = '"') -> list[str]:
    """Return the lines of one statement; compound ones keep the line breaks of their canonical form."""
    try:
        tree = ast.parse(text).body
    except (SyntaxError, ValueError):
        return [" " * indent + line if line else "" for line in text.splitlines()]
    lines: list[str] = []
    for node in tree:
        lines += _laid_out_statement(node, indent, quote)
    if indent and isinstance(tree[-1], ast.FunctionDef | ast.ClassDef):
        lines.append("")
    return lines


def _laid_out_statement(node: ast.stmt, indent: int, quote: str) -> list[str]:
    if isinstance(node, ast.Expr):
        return laid_out(node.value, indent, quote)
    if isinstance(node, ast.Return) and node.value is not None:
        return laid_out(node.value, indent, quote, lead="return ")
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return assignment(flat(node.targets[0], quote), node.value, indent, quote)
    return [" " * indent + line if line.strip() else "" for line in flat(node, quote).splitlines()]


def as_function(text: str) -> str:
    """Return `name = lambda x: ...` as the function that a test file would define."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return text
    if len(body) != 1 or not isinstance(body[0], ast.Assign) or not isinstance(body[0].value, ast.Lambda):
        return text
    name, function = ast.unparse(body[0].targets[0]), body[0].value
    return f"def {name}({ast.unparse(function.args)}):\n    return {ast.unparse(function.body)}"
