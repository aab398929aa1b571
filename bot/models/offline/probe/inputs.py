"""Texts of values to try for a parameter: from its annotation, name, default, and what the module compares with."""

from __future__ import annotations

import ast
import random
import re
from typing import Any

from . import patterns, usage
from .programs import Op, Param
from .surface import Surface

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
_BY_NAME: list[tuple[str, list[str]]] = [
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
_SEPARATORS = ["','", "' '", "'-'", "'_'", "''", "'::'"]
_FORMATS = ["'%.1f'", "'%d'", "'%s'", "'%.0f'", "'%0.3f'", "'{}'"]
_NAMED: dict[str, list[str]] = {
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


_BY_USE: dict[str, list[str]] = {
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
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)


class Inputs:
    """Fills the pools of a module's parameters."""

    def __init__(self, surface: Surface, seed: int) -> None:
        self.surface = surface
        self.random = random.Random(seed)
        self.aliases = self._aliases(surface.tree)
        self.patterns = patterns.strings_of(surface.module, surface.tree)
        self.uses = self._uses()
        self.constants = {op.subject: constants_of(op.node) for op in self._all_ops() if op.node is not None}
        self.module_constants = in_case_forms(plain_first(constants_of(surface.tree, deep=False)))

    def _uses(self) -> dict[int, dict[str, usage.Uses]]:
        """Return how each function uses its parameters, by the identity of its node."""
        found: dict[int, dict[str, usage.Uses]] = {}
        for name, node in self.surface.nodes.items():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                shell = self.surface.nodes.get(name.rpartition(".")[0])
                found[id(node)] = usage.of_function(node, shell)
        return found

    def _all_ops(self) -> list[Op]:
        ops = list(self.surface.functions)
        for owner in self.surface.owners:
            ops.extend(owner.makers)
            ops.extend(owner.ops)
        return ops

    @staticmethod
    def _aliases(tree: ast.Module) -> dict[str, ast.expr]:
        found: dict[str, ast.expr] = {}
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                found.setdefault(node.targets[0].id, node.value)
            elif (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.value is not None
            ):
                found.setdefault(node.target.id, node.value)
            elif type(node).__name__ == "TypeAlias":
                alias: Any = node
                found.setdefault(alias.name.id, alias.value)
        return found

    def fill(self) -> None:
        """Fill the pool of every parameter: likely texts first, wrong types in `spare`."""
        for op in self._all_ops():
            near = self.constants.get(op.subject, [])
            uses = self.uses.get(id(op.node), {})
            if "[{0}]" in op.form and op.params:
                op.params[0].spare = ["1:", ":2", "-1", "'missing'"]
            if op.form.startswith("hash("):
                op.params[0].pool = ["@" + op.receiver]  # of anything else, hashes say nothing
                continue
            for param in op.params:
                if param.star == "**":
                    param.pool = self._words(op, param)
                    continue
                told = uses.get(param.name, usage.Uses())
                if (
                    op.receiver
                    and param.name in ("key", "k")
                    and "callable" not in told.kinds
                    and not param.annotation
                ):
                    param.pool = unique([*param.pool, *KEYS])
                    continue
                self._fill(param, near, told)
            if op.receiver and "{0}" in op.form and len(op.params) == 1 and " {0}" in op.form + " ":
                op.params[0].pool = unique(["@" + op.receiver, *op.params[0].pool[:12]])

    def _fill(self, param: Param, near: list[str], uses: usage.Uses) -> None:
        if self._by_name(param) == [CLOCK]:
            param.pool, param.default = [CLOCK], None  # with the real clock, no two runs would be the same
            return
        told = self.texts_for(param.annotation) if param.annotation is not None else []
        told = [t for t in told if t != "..."]
        named = self._by_name(param)
        known = bool(told)
        if not told:
            told = merged([self._of_class_named(param), list(named), self._by_use(uses)])
            known = "callable" in uses.kinds
        elif named and set(named) & set(told):
            told = [t for t in told if t in named] + [t for t in told if t not in named]
        if param.default not in (None, "...", "None") and not told:
            told = self._like(param.default or "")
            known = True
        if param.default == "None":
            told = [*told, "None"] if told else [*ANY]
        base = told or list(ANY)
        kinds = {kind_of(text) for text in base}
        extra = [t for t in near if kind_of(t) in kinds or (not known and not named)]
        wide = [t for t in self.module_constants if kind_of(t) in kinds][:40]
        regex = self.patterns[:40] if "str" in kinds else []
        pool = [*param.pool, *base[:6], *extra, *regex[:12], *base[6:], *wide, *regex[12:]]
        if re.search(r"sep|delim|joiner|glue", param.name):
            pool = [*_SEPARATORS, *pool]
        if re.search(r"fmt|format", param.name):
            pool = [*_FORMATS, *pool]
        if param.default not in (None, "..."):
            pool.append(param.default or "")
        param.pool = unique(pool)
        wrong = [t for t in ANY if kind_of(t) not in {kind_of(p) for p in param.pool}]
        if "str" in kinds and not any(kind_of(text) == "bytes" for text in param.pool):
            wrong = [
                *wrong[:1],
                "b" + next((t for t in param.pool if t.isascii() and kind_of(t) == "str"), "'abc'"),
                *wrong[1:],
            ]
        param.spare = unique([*param.spare, *wrong])
        if param.star == "*":
            param.pool = unique([*param.pool, *ANY[:8]])

    def _words(self, op: Op, param: Param) -> list[str]:
        """Return `name=value` texts for a `**` parameter: names that the function looks up, or its class takes."""
        names: dict[str, None] = {}
        for node in ast.walk(op.node) if op.node is not None else ():
            held: Any = None
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                held, key = node.func.value, node.args[0]
            elif isinstance(node, ast.Subscript):
                held, key = node.value, node.slice
            if isinstance(held, ast.Name) and held.id == param.name and isinstance(key, ast.Constant):
                names[str(key.value)] = None
        owner = next((o for o in self.surface.owners if o.name == op.receiver), None)
        for maker in owner.makers[:1] if owner is not None else ():
            names.update(dict.fromkeys(p.name for p in maker.params if not p.star))
        texts = []
        for name in [n for n in names if n.isidentifier()]:
            values = self._by_name(Param(name, None, True)) or ["1", "2", "'a'", "None"]
            texts += [f"{name}={value}" for value in values[:5]]
        return [*param.pool, *texts[:2], "unknown=1", *texts[2:]]

    def _of_class_named(self, param: Param) -> list[str]:
        """Return the marker of a class of the module that a parameter is named after: `cache` for `Cache`."""
        words = param.name.lower().replace("_", "")
        return ["@" + owner.name for owner in self.surface.owners if owner.name.lower() == words]

    @staticmethod
    def _by_use(uses: usage.Uses) -> list[str]:
        columns: list[list[str]] = []
        for names in unique([", ".join(call) for call in uses.calls]):
            columns.append(functions_of(names.split(", ") if names else []))
        for kind in uses.likeliest()[:4]:
            columns.append(list(_BY_USE.get(kind, [])))
        return merged(columns)

    def _by_name(self, param: Param) -> list[str]:
        for pattern, texts in _BY_NAME:
            if re.search(pattern, param.name.lower().lstrip("_")):
                return list(texts)
        return []

    def _like(self, default: str) -> list[str]:
        kind = kind_of(default)
        table = {
            "int": INTS, "float": [*FLOATS, *INTS], "str": STRINGS, "bool": BOOLS, "list": LISTS, "tuple": [*TUPLES, *LISTS],
            "dict": DICTS, "bytes": BYTES,
        }  # fmt: skip
        return list(table.get(kind, ANY))

    def texts_for(self, node: ast.expr | None, depth: int = 0) -> list[str]:
        """Return texts of values for an annotation, the likeliest first; empty if it says nothing."""
        if node is None or depth > 6:
            return []
        if isinstance(node, ast.Constant):
            if node.value is None:
                return ["None"]
            if isinstance(node.value, str):
                try:
                    return self.texts_for(ast.parse(node.value, mode="eval").body, depth + 1)
                except SyntaxError:
                    return []
            return []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return merged([self.texts_for(node.left, depth + 1), self.texts_for(node.right, depth + 1)])
        if isinstance(node, ast.Attribute):
            return self._of_name(node.attr, depth)
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.Subscript):
            return self._of_subscript(node, depth)
        return []

    def _of_name(self, name: str, depth: int) -> list[str]:
        if name in _NAMED:
            return list(_NAMED[name])
        for owner in self.surface.owners:
            if owner.name == name:
                return ["@" + name]
        if name in self.aliases:
            value = self.aliases[name]
            if isinstance(value, ast.Call):
                return self._of_type_var(value, depth)
            found = self.texts_for(value, depth + 1)
            if found:
                return found
        known = getattr(self.surface.module, name, None)
        if known is not None and not isinstance(known, type) and "typing" in type(known).__module__:
            try:
                told = re.sub(r"\b(typing|collections\.abc)\.", "", str(known))
                return self.texts_for(ast.parse(told.replace("~", ""), mode="eval").body, depth + 1)
            except SyntaxError:
                return []
        if isinstance(known, type) and hasattr(known, "__members__"):
            return [f"{name}.{member}" for member in known.__members__]
        return []

    def _of_type_var(self, value: ast.Call, depth: int) -> list[str]:
        for word in value.keywords:
            if word.arg == "bound":
                return self.texts_for(word.value, depth + 1)
        if len(value.args) > 1:
            return merged([self.texts_for(arg, depth + 1) for arg in value.args[1:]])
        return []

    def _of_subscript(self, node: ast.Subscript, depth: int) -> list[str]:
        head = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        inner: Any = node.slice
        parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
        if head == "Literal":
            return [repr(part.value) for part in parts if isinstance(part, ast.Constant)]
        if head == "Optional":
            return [*self.texts_for(parts[0], depth + 1), "None"]
        if head == "Union":
            return merged([self.texts_for(part, depth + 1) for part in parts])
        if head in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
            return self.texts_for(parts[0], depth + 1)
        if head in ("type", "Type"):
            return ["int", "str"]
        if head == "Callable":
            arity = len(parts[0].elts) if parts and isinstance(parts[0], ast.List) else 1
            return list(FUNCTIONS.get(arity, FUNCTIONS[1]))
        if head in ("tuple", "Tuple"):
            return self._tuples(parts, depth)
        if (
            head in ("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict")
            and len(parts) == 2
        ):
            keys, values = (self.texts_for(part, depth + 1) or ANY for part in parts)
            made = ["{%s: %s}" % pair for pair in zip(keys[:3], values[:3])]  # noqa: B905, UP031
            return unique([*made, "{}", "{%s}" % ", ".join(m[1:-1] for m in made[:2])])  # noqa: UP031
        if head in ("set", "Set", "frozenset", "FrozenSet", "AbstractSet"):
            items = self.texts_for(parts[0], depth + 1) or ANY
            return ["{%s}" % ", ".join(items[:2]), "set()", "{%s}" % items[0]]  # noqa: UP031
        if head in ("Iterator", "Generator"):
            items = self.texts_for(parts[0], depth + 1) or ANY
            return [f"iter([{', '.join(items[:3])}])", "iter([])"]
        if head in ("list", "List", "Sequence", "Iterable", "Collection", "MutableSequence", "Container"):
            items = self.texts_for(parts[0], depth + 1)
            if not items:
                return list(_NAMED["Sequence"])
            lists = [
                ", ".join(items[:1]),
                ", ".join(items[:3]),
                "",
                ", ".join(reversed(items[:3])),
                ", ".join(items[:6]),
            ]
            lists.append(", ".join([*items[:1] * 2, *items[1:2]]))
            return unique([f"[{inside}]" for inside in lists])
        return self._of_name(head, depth)

    def _tuples(self, parts: list[Any], depth: int) -> list[str]:
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
            items = self.texts_for(parts[0], depth + 1) or ANY
            return ["(%s, %s)" % (items[0], items[1 % len(items)]), "(%s,)" % items[0],  # noqa: UP031
                    "(%s)" % ", ".join(items[:3]), "()"]  # fmt: skip # noqa: UP031
        columns = [self.texts_for(part, depth + 1) or ANY for part in parts]
        if not columns:
            return ["()"]
        made = []
        for index in range(6):
            row = [column[index % len(column)] for column in columns]
            made.append("(%s)" % (", ".join(row) + ("," if len(row) == 1 else "")))
        return unique(made)


def constants_of(node: Any, deep: bool = True) -> list[str]:
    """Return texts of the constants a function's code holds, and their neighbours; numbers that it compares first."""
    compared: list[str] = []
    others: list[str] = []
    docs = set()
    nodes = ast.walk(node) if deep else _shallow(node)
    for child in nodes:
        body = getattr(child, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            docs.add(id(body[0].value))
        if isinstance(child, ast.Compare):
            for side in [child.left, *child.comparators]:
                for leaf in ast.walk(side):
                    if isinstance(leaf, ast.Constant):
                        compared.extend(_around(leaf.value))
        elif (
            isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "isinstance"
        ):
            for leaf in ast.walk(child):
                if isinstance(leaf, ast.Name) and leaf.id in _NAMED:
                    compared.extend(_NAMED[leaf.id][:3])
        elif isinstance(child, ast.Constant) and id(child) not in docs:
            others.extend(_around(child.value))
    return unique([*compared, *others])[: 60 if deep else 200]


def _shallow(tree: ast.Module) -> list[ast.AST]:
    """Return the nodes of a module's own statements: tables, and calls that fill them."""
    found: list[ast.AST] = []
    for node in tree.body:
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not text and not isinstance(node, _DEFINITIONS):
            found.extend(ast.walk(node))
    return found


def _around(value: Any) -> list[str]:
    if isinstance(value, bool) or value is None or value is Ellipsis:
        return []
    if isinstance(value, int):
        if abs(value) > 10**12:
            return [str(value)]
        return [str(value), str(value - 1), str(value + 1)]
    if isinstance(value, float):
        return [repr(value)]
    if isinstance(value, str) and len(value) <= 24 and "\n" not in value:
        return [repr(value)]
    if isinstance(value, bytes) and len(value) <= 24:
        return [repr(value)]
    return []


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


def plain_first(texts: list[str]) -> list[str]:
    """Return the texts with words and numbers before strings that look like patterns or formats."""
    return sorted(texts, key=lambda text: bool(re.search(r"[\\^$*+?()|{}%]", text)))


def in_case_forms(texts: list[str]) -> list[str]:
    """Return the texts, each lower-case word followed by its capitalised form."""
    found: list[str] = []
    for text in texts:
        found.append(text)
        if re.fullmatch(r"'[a-z]{2,}'", text):
            found.append(text[0] + text[1].upper() + text[2:])
    return found


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
