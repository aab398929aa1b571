"""Strings that a regular expression matches, and near misses: walked from its parse tree, the plain ones first."""

from __future__ import annotations

import ast
import re
import warnings
from types import ModuleType
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:  # before Python 3.11
        import sre_parse as parser

_FAVOURITES = "a1-_. bAxZ0,:/+'\"@"
_CATEGORIES = {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a", "CATEGORY_NOT_DIGIT": "x",
               "CATEGORY_NOT_SPACE": "x", "CATEGORY_NOT_WORD": "-"}  # fmt: skip


def strings_of(module: ModuleType, tree: ast.Module) -> list[str]:
    """Return texts of strings matched by the regular expressions that a module holds or writes, at most 60."""
    found: dict[str, None] = {}
    for pattern in _patterns(module, tree):
        for example in examples(pattern):
            if len(example) <= 60 and example.isprintable():
                found[repr(example)] = None
    return list(found)[:60]


def _patterns(module: ModuleType, tree: ast.Module) -> list[Any]:
    patterns: list[Any] = []
    spaces = [vars(module)] + [
        vars(v) for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__
    ]
    for space in spaces:
        for value in list(space.values()):
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                patterns.append(value)
            elif isinstance(value, (list, tuple)) and len(value) < 200:
                patterns.extend(_in_table(value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id in ("re", "regex") and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    try:
                        patterns.append(re.compile(first.value))
                    except re.error:
                        continue
    return patterns[:80]


def _in_table(rows: Any) -> list[Any]:
    """Return patterns in a table of rules such as `[(r"(quiz)$", r"\\1zes"), ...]`."""
    found = []
    for row in rows:
        text = row[0] if isinstance(row, (list, tuple)) and row else row
        if isinstance(text, re.Pattern) and isinstance(text.pattern, str):
            found.append(text)
        elif isinstance(text, str) and re.search(r"[\\$^()\[\]|]", text) and len(text) < 80:
            try:
                found.append(re.compile(text))
            except re.error:
                continue
    return found


def examples(pattern: Any) -> list[str]:
    """Return a few strings that a pattern matches: the shortest way, the longest, and each alternative once."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    except Exception:
        return []
    texts: dict[str, None] = {}
    for choice in range(8):
        try:
            text = _Walk(choice).text(tree)
        except RecursionError:
            continue
        for candidate in (text, text.strip()):
            if pattern.search(candidate):
                texts[candidate] = None
                break
    return list(texts)


class _Walk:
    """One walk through a parse tree: `choice` decides alternatives, repetitions and characters."""

    def __init__(self, choice: int) -> None:
        self.choice = choice
        self.groups: dict[int, str] = {}
        self.turn = 0

    def text(self, tree: Any) -> str:
        return "".join(self._item(str(op), value) for op, value in tree)

    def _item(self, op: str, value: Any) -> str:
        if op == "LITERAL":
            return chr(value)
        if op == "NOT_LITERAL":
            return "x" if value != ord("x") else "y"
        if op == "ANY":
            return "abc"[self.choice % 3]
        if op == "IN":
            return self._one_of(value)
        if op == "BRANCH":
            self.turn += 1
            branches = value[1]
            return self.text(branches[(self.choice + self.turn - 1) % len(branches)])
        if op == "SUBPATTERN":
            inner = self.text(value[-1])
            if value[0] is not None:
                self.groups[value[0]] = inner
            return inner
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, inner = value
            self.turn += 1
            count = low if (self.choice >> (self.turn % 3)) & 1 == 0 else min(int(high), low + 1)
            if self.choice == 7:
                count = min(int(high), low + 2)
            return "".join(self.text(inner) for _ in range(count))
        if op == "ATOMIC_GROUP":
            return self.text(value)
        if op == "GROUPREF":
            return self.groups.get(value, "")
        if op == "ASSERT" and value[0] > 0:
            return ""
        return ""

    def _one_of(self, items: Any) -> str:
        negated = bool(items) and str(items[0][0]) == "NEGATE"
        if not negated:
            self.turn += 1
            op, value = items[(self.choice + self.turn - 1) % len(items)]
            if str(op) == "LITERAL":
                return chr(value)
            if str(op) == "RANGE":
                middle = {"a": "abcx", "A": "ABX", "0": "1270"}.get(chr(value[0]), "")
                return middle[self.choice % len(middle)] if middle else chr(value[0])
            return _CATEGORIES.get(str(value), "a")
        for char in _FAVOURITES[self.choice % 3 :]:
            if not any(_holds(str(op), value, char) for op, value in items[1:]):
                return char
        return "!"


def _holds(op: str, value: Any, char: str) -> bool:
    if op == "LITERAL":
        return bool(ord(char) == value)
    if op == "RANGE":
        return bool(value[0] <= ord(char) <= value[1])
    kind = {
        "CATEGORY_DIGIT": char.isdigit(),
        "CATEGORY_SPACE": char.isspace(),
        "CATEGORY_WORD": char.isalnum() or char == "_",
    }
    return kind.get(str(value), False)
