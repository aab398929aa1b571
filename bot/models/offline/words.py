"""Words for values, names and errors, as a person would say them in the name of a test."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence

_DIGITS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_SPELLED = {20: "twenty", 50: "fifty", 100: "hundred", 1000: "thousand", 10**6: "million", 10**9: "billion"}
_VAGUE = frozenset(
    {"value", "val", "obj", "item", "arg", "args", "kwargs", "other", "data", "self", "input", "text"}
)
_NOUNS = {
    str: "text",
    bytes: "bytes",
    int: "number",
    float: "number",
    list: "list",
    tuple: "tuple",
    dict: "dict",
}
_TYPES = {
    str: "text",
    bytes: "bytes",
    bool: "booleans",
    int: "integers",
    float: "floats",
    list: "lists",
    tuple: "tuples",
    dict: "dicts",
    set: "sets",
    type(None): "none",
}
_SPECIAL_METHODS = {
    "__eq__": "equality",
    "__ne__": "inequality",
    "__lt__": "less_than",
    "__le__": "less_or_equal",
    "__gt__": "greater_than",
    "__ge__": "greater_or_equal",
    "__len__": "length",
    "__contains__": "membership",
    "__getitem__": "lookup",
    "__setitem__": "assignment",
    "__delitem__": "deletion",
    "__iter__": "iteration",
    "__next__": "next_item",
    "__str__": "str",
    "__repr__": "repr",
    "__hash__": "hash",
    "__bool__": "truth",
    "__call__": "call",
    "__missing__": "missing_key",
    "__enter__": "context",
    "__exit__": "leaving_context",
    "__add__": "addition",
    "__radd__": "reflected_addition",
    "__sub__": "subtraction",
    "__mul__": "multiplication",
    "__init__": "",
    "__new__": "",
    "__post_init__": "",
}


def snake(name: str) -> str:
    """Return a name in snake case: `LRUCache` gives `lru_cache`, `parse` itself."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"_+", "_", re.sub(r"\W", "_", name)).strip("_").lower()


def method_words(name: str) -> str:
    """Return a method's name as words; a special method by what it is for, a constructor empty."""
    if name in _SPECIAL_METHODS:
        return _SPECIAL_METHODS[name]
    return snake(name)


def evaluated(text: str) -> tuple[bool, object]:
    """Return whether a text is a literal, and its value."""
    try:
        return True, ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        found = re.fullmatch(r"(-?)float\(['\"](-?)(nan|inf)['\"]\)|(-?)math\.(nan|inf)", text)
        if found is None:
            return False, None
        negative = "-" in (found[1] or "", found[2] or "", found[4] or "")
        return True, float(("-" if negative else "") + (found[3] or found[5]))


def kind(text: str) -> str:
    """Return what kind of value a literal is: `text`, `number`, `list`; `value` for others."""
    known, value = evaluated(text)
    return _NOUNS.get(type(value), "value") if known else "value"


def noun_for(parameter: str, value: object) -> str:
    """Return what to call a value: its parameter's name, unless that says nothing."""
    if len(parameter) > 2 and parameter not in _VAGUE and not parameter.startswith(("other_", "expected")):
        return snake(parameter)
    return _NOUNS.get(type(value), "value")


def notable(text: str, parameter: str) -> str:
    """Return a phrase for a value that is special by itself, such as `empty_text`; empty if it is not."""
    known, value = evaluated(text)
    if not known:
        return ""
    noun = noun_for(parameter, value)
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "infinity" if value > 0 else "negative_infinity"
    if isinstance(value, int | float):
        plain = noun in ("number", "value")
        return (
            ("zero" if plain else f"zero_{noun}") if value == 0 else f"negative_{noun}" if value < 0 else ""
        )
    if isinstance(value, str | bytes | list | tuple | dict) and not value:
        return f"empty_{noun}"
    if isinstance(value, str) and value.isspace():
        return f"blank_{noun}"
    if isinstance(value, str) and not value.isascii():
        return f"non_ascii_{noun}"
    return ""


def described(text: str, parameter: str) -> list[str]:
    """Return phrases for any value, the most telling first."""
    known, value = evaluated(text)
    phrases = [notable(text, parameter)]
    if not known:
        called = re.match(r"(?:\w+\.)*(\w+)", text)
        word = "function" if text.startswith("lambda") else snake(called[1]) if called else ""
        return [word] if word else []
    noun = noun_for(parameter, value)
    if isinstance(value, bool) or value is None:
        return phrases[:1]
    if isinstance(value, int):
        phrases += [spelled(value), f"{_digits(value)}_digit_{noun}"]
    elif isinstance(value, float):
        phrases += [f"fractional_{noun}" if value % 1 else f"whole_float_{noun}", f"small_{noun}"]
    elif isinstance(value, str | bytes):
        phrases += _phrases_of_text(value, noun)
    elif isinstance(value, list | tuple | dict | set | frozenset):
        kind = _NOUNS.get(type(value), "set")
        phrases += [
            f"single_item_{kind}" if len(value) == 1 else "",
            kind,
            f"{kind}_of_{spelled(len(value))}",
        ]
    return [phrase for phrase in phrases if phrase]


def _phrases_of_text(value: str | bytes, noun: str) -> list[str]:
    text = value if isinstance(value, str) else value.decode("latin-1")
    found: list[str] = []
    if text.isdigit():
        found.append(f"numeric_{noun}")
    words = text_words(text)
    if words:
        found.append(words)
    if len(text) == 1:
        found.append(f"single_character_{noun}")
    if text.isupper():
        found.append(f"upper_case_{noun}")
    if " " in text.strip():
        found.append(f"{noun}_with_spaces")
    elif re.search(r"[^\w\s]", text):
        found.append(f"{noun}_with_punctuation")
    if len(text) > 40:
        found.append(f"long_{noun}")
    return found


def text_words(text: str, most: int = 4) -> str:
    """Return the words of a text as part of a name; a number at its end is spelled, so that it numbers nothing."""
    words = [snake(word) for word in re.findall(r"[A-Za-z0-9]+", text)][:most]
    words = [word for word in words if word]
    if all(word.isdigit() for word in words):
        words = [_DIGITS[int(word)] if int(word) < len(_DIGITS) else "" for word in words]
    elif words[-1].isdigit():
        words[-1] = "_".join(_DIGITS[int(digit)] for digit in words[-1][:4])
    if "" in words:
        return ""
    phrase = "_".join(words)
    return phrase if len(phrase) <= 36 else ""


def spelled(number: int) -> str:
    """Return a small or round number as words; empty for others."""
    if 0 <= number < len(_DIGITS):
        return _DIGITS[number]
    if number in _SPELLED:
        return _SPELLED[number]
    for size in (10**9, 10**6, 1000, 100):
        if number > 0 and number % size == 0 and number // size < len(_DIGITS):
            return f"{_DIGITS[number // size]}_{_SPELLED[size]}"
    return ""


def _digits(number: int) -> str:
    count = len(str(abs(number)))
    return _DIGITS[count] if count < len(_DIGITS) else "many"


def shared_kind(texts: Sequence[str]) -> str:
    """Return the word for a type that all literals have, such as `integers`; empty if they differ."""
    kinds = set()
    for text in texts:
        known, value = evaluated(text)
        if not known:
            return ""
        kinds.add(_TYPES.get(type(value), ""))
    return kinds.pop() if len(kinds) == 1 else "numbers" if kinds == {"integers", "floats"} else ""


def error_words(name: str) -> str:
    """Return an exception's name as words."""
    return snake(name.rpartition(".")[2])
