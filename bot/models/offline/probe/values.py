"""Texts of values worth trying: by kind, by a parameter's name, by a type's name, and by how a value is used."""

from __future__ import annotations

import re

CLOCK = "lambda: now[0]"
"""A timer that a test sets: the case starts with `now = [0]`, and steps move it on."""
INTS = ["1", "2", "0", "3", "-1", "5", "10", "100", "7", "-2", "1000", "12", "999999"]
FLOATS = [
    "1.5",
    "0.5",
    "2.0",
    "-1.5",
    "0.0",
    "0.001",
    "9.999",
    "99.9",
    "1e10",
    "123.456",
    "float('nan')",
    "float('inf')",
    "-float('inf')",
]
STRINGS = [
    "'hello world'", "'abc'", "''", "'Hello, World!'", "'a'", "'1'", "'foo_bar'", "'fooBar'", "'12'", "'a-b'", "'1.5'",
    "' padded '", "'naïve café'", "'one two three'", "'ABC'",
]  # fmt: skip
BOOLS = ["True", "False"]
LISTS = [
    "[1, 2, 3]", "[]", "[1]", "[3, 1, 2]", "[1, 1, 2]", "['a', 'b', 'c']", "[1, 2, 3, 4, 5]", "['apple', 'bob', 'cat']",
    "[(1, 'a'), (2, 'b')]", "[[1, 2], [3, 4]]", "[0, 1]",
]  # fmt: skip
TUPLES = ["(1, 2)", "()", "(1,)", "('a', 1)", "(1, 2, 3)", "('a', 'b')"]
DICTS = ["{'a': 1}", "{}", "{'a': 1, 'b': 2}", "{1: 'one'}", "{'a': {'b': 1}}"]
SETS = ["{1, 2}", "set()", "{'a'}", "frozenset({1})"]
BYTES = ["b'abc'", "b''", "b'hello world'"]
KEYS = ["'a'", "'b'", "'c'", "1", "'missing'", "None", "(1, 2)"]
FUNCTIONS = {
    0: ["lambda: 1", "list", "lambda: 'a'"],
    1: [
        "lambda x: x",
        "lambda x: x * 2",
        "len",
        "str",
        "lambda x: x % 2 == 0",
        "lambda x: x > 1",
        "int",
        "lambda x: -x",
    ],
    2: ["lambda x, y: x + y", "operator.mul", "lambda x, y: (x, y)", "lambda x, y: x - y"],
}
ANY = [
    "1", "'abc'", "[1, 2, 3]", "None", "0", "''", "{'a': 1}", "(1, 2)", "2", "lambda x: x", "'hello world'", "1.5", "[]",
    "[3, 1, 2]", "-1", "['a', 'b', 'c']", "len", "lambda x, y: x + y", "True", "[(1, 'a'), (2, 'b')]", "'a'", "iter([1, 2, 3])", "lambda: 1",
]  # fmt: skip
BY_NAME: list[tuple[str, list[str]]] = [
    (r"^(binop|op|reducer|combine)|_op$", FUNCTIONS[2]),
    (r"^(timer|clock|now|time_func|timefunc|get_time|time_source)$", [CLOCK]),
    (r"^(factory|default_factory|callback|thunk)$", FUNCTIONS[0]),
    (r"(func|function|fn|callable|predicate|pred|decorator|wrapped|getter|getsizeof)$|^f$", FUNCTIONS[1]),
    (r"^(key|keyfunc|cmp)$", [*FUNCTIONS[1][:4], "'a'", "0", "1", "None"]),
    (r"^(n|i|k|num|count|size|length|width|index|idx|start|stop|end|step|depth|level|limit|maxsize|maxlen|"
     r"max\w*|min\w*|digits|ndigits|precision|position|pos|offset|amount|total|number|ttl|age|seconds|times)$", INTS),
    (r"^(seqs?|sequences?|iterables?|items|elements|values|lst|coll|collection|data|args|it|xs|array|rows|words)$",
     [*LISTS[:6], "iter([1, 2, 3])", *LISTS[6:], "'abc'", "(1, 2)", "range(5)", "iter([1, 1])", "iter([])"]),
    (r"^(d|dct|dict|mapping|map|kwargs|options|params|config|attrs)$", DICTS),
    (r"^(text|txt|string|s|str|word|name|title|label|phrase|sentence|line|term|content|body|message|msg|input|"
     r"source|src|column|path|filename|url|version|prefix|suffix|token|tag|letter|format|fmt|char|pattern|sep|"
     r"separator|delimiter|delim|encoding|plural|singular|code|html|query)$", STRINGS),
    (r"^(is_|has_|use_|allow_|with_|no_|enable|strict|reverse|verbose|ignore|skip|include|exclude|force|only)", BOOLS),
    (r"^(b|buf|buffer|raw|payload|bytes)$", BYTES),
    (r"date|^(dt|when|day)$", ["date(2024, 1, 31)", "datetime(2024, 2, 29, 12, 30)", "date(2000, 1, 1)"]),
    (r"delta|duration", ["timedelta(seconds=1)", "timedelta(days=1)", "timedelta(0)"]),
]  # fmt: skip
SEPARATORS = ["','", "' '", "'-'", "'_'", "''", "'::'"]
FORMATS = ["'%.1f'", "'%d'", "'%s'", "'%.0f'", "'%0.3f'", "'{}'"]
NAMED: dict[str, list[str]] = {
    "int": INTS,
    "SupportsInt": [*INTS, "'3'"],
    "SupportsIndex": INTS,
    "Integral": INTS,
    "float": [*FLOATS, *INTS],
    "Real": [*FLOATS, *INTS],
    "complex": ["1j", "1 + 2j"],
    "Number": [*INTS, *FLOATS],
    "str": STRINGS,
    "AnyStr": STRINGS,
    "LiteralString": STRINGS,
    "Text": STRINGS,
    "bool": BOOLS,
    "bytes": BYTES,
    "bytearray": ["bytearray(b'abc')"],
    "None": ["None"],
    "dict": DICTS,
    "Dict": DICTS,
    "Mapping": DICTS,
    "MutableMapping": DICTS,
    "list": LISTS,
    "List": LISTS,
    "Sequence": [*LISTS, *TUPLES[:2], "'abc'"],
    "Iterable": [*LISTS, *TUPLES[:2], "'abc'"],
    "Collection": [*LISTS, *TUPLES[:2]],
    "Iterator": ["iter([1, 2, 3])", "iter([])"],
    "tuple": TUPLES,
    "Tuple": TUPLES,
    "set": SETS,
    "Set": SETS,
    "frozenset": ["frozenset({1, 2})", "frozenset()"],
    "Callable": FUNCTIONS[1],
    "Decimal": ["Decimal('1.5')", "Decimal('0')", "Decimal('-2')"],
    "Fraction": ["Fraction(1, 3)", "Fraction(2)"],
    "date": ["date(2024, 1, 31)", "date(2000, 2, 29)"],
    "datetime": ["datetime(2024, 1, 31, 12, 30)", "datetime(2000, 1, 1)"],
    "time": ["time(12, 30)"],
    "timedelta": ["timedelta(seconds=1)", "timedelta(days=1)", "timedelta(0)"],
    "Path": ["Path('a/b.txt')", "Path('.')"],
    "PurePath": ["PurePath('a/b.txt')"],
    "Pattern": ["re.compile('a+')", "re.compile('[^a-z]+')"],
    "UUID": ["UUID(int=1)"],
    "type": ["int", "str"],
    "object": ANY,
    "Any": ANY,
    "Hashable": ["'a'", "1", "(1, 2)"],
}


BY_USE: dict[str, list[str]] = {
    "str": STRINGS,
    "int": INTS,
    "float": FLOATS,
    "bool": BOOLS,
    "bytes": BYTES,
    "iterable": [*LISTS[:6], "iter([1, 2, 3])", *LISTS[6:], "'abc'", "(1, 2)", "{'a': 1}"],
    "sized": [*LISTS[:4], *STRINGS[:3], "(1, 2)", "{'a': 1}"],
    "indexed": [*LISTS[:4], *DICTS[:3], *TUPLES[:3], "'abc'"],
    "container": [*LISTS[:3], *SETS[:2], "'abc'", "{'a': 1}"],
    "dict": DICTS,
    "list": LISTS,
    "tuple": TUPLES,
    "set": SETS,
    "callable": FUNCTIONS[1],
}


def functions_of(names: list[str]) -> list[str]:
    """Return functions that take these arguments, named as the code names them: `lambda key, value: value`."""
    if len(names) < 2:
        return list(FUNCTIONS[len(names)])
    if len(set(names)) < len(names):
        names = list("xyzuvw"[: len(names)])
    head = "lambda " + ", ".join(names) + ": "
    first, second, last = names[0], names[1], names[-1]
    bodies = [
        f"{last} + 1",
        last,
        f"{second} + {last}",
        f"{first} + {second}",
        first,
        second,
        f"({', '.join(names)})",
        "None",
    ]
    found = [head + body for body in unique(bodies)]
    return [*found, "operator.mul"] if len(names) == 2 else found


def kind_of(text: str) -> str:
    """Return the kind of value a text gives: a type's name, `callable`, or `object`."""
    if text.startswith("lambda"):
        return "callable"
    first = text[:1]
    if first in "'\"":
        return "str"
    if text in ("True", "False"):
        return "bool"
    if text == "None":
        return "none"
    if first == "[":
        return "list"
    if first == "(":
        return "tuple"
    if first == "{":
        return "dict" if ":" in text or text == "{}" else "set"
    if re.fullmatch(r"-?\d+", text):
        return "int"
    if re.fullmatch(r"-?\d*\.\d*(e[-+]?\d+)?|-?float\(.*\)|-?\d+e[-+]?\d+", text):
        return "float"
    if first == "b" and text[1:2] in "'\"":
        return "bytes"
    return "object"


def unique(texts: list[str]) -> list[str]:
    """Return the texts without repetitions, the first of each kept."""
    return list(dict.fromkeys(texts))


def merged(columns: list[list[str]]) -> list[str]:
    """Return the columns' texts in turns: the first of each, the second of each ..."""
    found: list[str] = []
    for index in range(max((len(column) for column in columns), default=0)):
        found.extend(column[index] for column in columns if index < len(column))
    return unique(found)
