"""Names of tests: what is tested, with which inputs, and what comes of it; unique by what differs, never by a number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from bot.models.offline import words
from bot.models.offline.outline import Outline
from bot.models.offline.tables import Table

_LONGEST = 76
_OPERATORS = {
    ast.Lt: "less_than",
    ast.LtE: "less_or_equal",
    ast.Gt: "greater_than",
    ast.GtE: "greater_or_equal",
    ast.Eq: "equality",
    ast.NotEq: "inequality",
}
_WRAPPERS = {"str": "str", "repr": "repr", "hash": "hash", "len": "length", "bool": "truth"}
_FIGURES = frozenset(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
_CODE = re.compile(r"[()\[\]{}=]")
"""What a text that is code holds, such as a `repr`: as words it says nothing."""
_REJECTING = ("ValueError", "TypeError", "AttributeError", "AssertionError")


def name_for(table: Table, outline: Outline, taken: set[str], *, in_class: str = "") -> str | None:
    """Return a name that is not taken, and take it; None if all that can be said is taken.

    Args:
        in_class: The class under test whose test class will hold the test; its words are left out.
    """
    for phrase in _candidates(table, outline, in_class):
        name = "test_" + re.sub(r"_+", "_", phrase).strip("_")
        if name not in taken and len(name) <= _LONGEST and not re.search(r"_\d+$", name) and name != "test_":
            taken.add(name)
            return name
    return None


def _candidates(table: Table, outline: Outline, in_class: str) -> Iterator[str]:
    """Yield phrases from short to specific."""
    subject = _subject(table, outline, in_class)
    options = _options(table, outline)
    states = ["", *_states(table)]
    inputs = list(_inputs(table, outline))
    effects = list(_effects(table))
    base = subject + options
    first_inputs = [phrase for phrase in inputs if _is_notable(table, outline, phrase)]
    if table.then is not None and table.then.kind == "raises":
        guilty = [] if table.columns else first_inputs
        yield from _raising(base, table, inputs, guilty, states, options)
        return
    if table.then is not None and table.then.warning:
        yield f"{base}_warns"
        yield from (f"{base}_warns_for_{phrase}" for phrase in inputs)
        yield from (f"{base}_warns_{state}" for state in states)
    if not table.columns:
        yield from (f"{base}_of_{phrase}" for phrase in first_inputs[:1])
        yield from (f"{base}_{effect}" for effect in effects[:1] if not options)
    yield base
    yield from (f"{base}_{effect}" for effect in effects)
    yield from (f"{base}_of_{phrase}" for phrase in inputs)
    yield from (f"{base}_{state}" for state in states)
    yield from (f"{base}_{effect}_{state}" for effect in effects for state in states)
    yield from (f"{base}_{effect}_for_{phrase}" for phrase in inputs for effect in effects)
    yield from (f"{base}_of_{phrase}_{state}" for phrase in inputs for state in states)
    wider = [
        *inputs,
        *dict.fromkeys(phrase for phrase in _given_values(table) if phrase and phrase not in inputs),
    ]
    yield from (f"{base}_of_{phrase}" for phrase in wider)
    yield from (f"{base}_{effect}_for_{phrase}" for phrase in wider for effect in effects)
    yield from (f"{base}_of_{a}_and_{b}" for a in wider for b in wider if a != b)
    yield from (f"{base}_{e}_for_{p}_{s}" for p in wider for e in effects for s in states)


def _is_notable(table: Table, outline: Outline, phrase: str) -> bool:
    return any(words.notable(text, name) == phrase for name, text in _required(table, outline))


def _required(table: Table, outline: Outline) -> list[tuple[str, str]]:
    parameters = {p.name: p for p in outline.parameters_of_call(table.subject)}
    return [(n, t) for n, t in _arguments(table) if n not in parameters or not parameters[n].default]


def _raising(
    base: str, table: Table, inputs: list[str], guilty: list[str], states: list[str], options: str
) -> Iterator[str]:
    then = table.then
    error, message = (then.type, then.message) if then else ("", "")
    raises = f"raises_{words.error_words(error)}"
    assigned = re.match(r"\w+\.(\w+) = ", table.when)
    if assigned and error == "AttributeError":
        yield f"{base}_cannot_be_set"
    rejecting = error.endswith(_REJECTING) or "Invalid" in error
    blamed = _blamed(message, [name for name, _ in _arguments(table)])
    if rejecting and blamed:
        short = base.removesuffix(options)
        texts = {words.snake(name): text for name, text in _arguments(table)}
        alike = all(
            (name, text) in s.args
            for s in table.scenarios
            for name, text in _arguments(table)
            if words.snake(name) == blamed
        )
        special = words.notable(texts[blamed], blamed) if alike else ""
        yield from ([f"{short}_rejects_{special}"] if special else [])
        yield f"{short}_rejects_invalid_{blamed}"
    said = words.text_words(message, most=6)
    if said and guilty and any(_is_numeric(phrase) for phrase in guilty):
        yield f"{base}_raises_{said}"
    nouns = [words.noun_for(name, "") for name, _ in _arguments(table)][:1] or ["input"]
    if rejecting and inputs:
        yield from (f"{base}_rejects_{phrase}" for phrase in guilty)
        yield from (f"{base}_rejects_invalid_{noun if noun != 'value' else 'input'}" for noun in nouns)
    yield from (f"{base}_of_{phrase}_{raises}" for phrase in guilty)
    yield f"{base}_{raises}"
    if rejecting:
        yield from (f"{base}_rejects_{phrase}" for phrase in inputs)
    yield from (f"{base}_{raises}_for_{phrase}" for phrase in inputs)
    yield from (f"{base}_{raises}_{state}" for state in states)
    yield from (f"{base}_{raises}_for_{phrase}_{state}" for phrase in inputs for state in states)
    yield from (f"{base}_{raises}_for_{a}_and_{b}" for a in inputs for b in inputs if a != b)
    yield from ([f"{base}_raises_{said}"] if said else [])


def _is_numeric(phrase: str) -> bool:
    """Whether a phrase is mostly figures, which say less than the message does."""
    parts = phrase.split("_")
    return sum(part in _FIGURES or any(map(str.isdigit, part)) for part in parts) * 2 > len(parts)


def _blamed(message: str, parameters: Sequence[str]) -> str:
    """Return the parameter that a message names first; empty if it names none."""
    named = [
        found
        for name in parameters
        if len(name) > 2 and (found := re.search(rf"\b{re.escape(name)}\b", message))
    ]
    return words.snake(min(named, key=lambda found: found.start())[0]) if named else ""


def _subject(table: Table, outline: Outline, in_class: str) -> str:
    """Return the words for what is tested: `cache_pop` of `Cache.pop`, `version_equality` of `Version.__eq__`."""
    owner, _, name = table.subject.rpartition(".")
    entry = outline.find(table.subject)
    if entry is not None and entry.is_class:
        owner, name = table.subject, ""
    method = words.method_words(name) if name else ""
    if owner and owner != in_class:
        method = f"{words.snake(owner.rpartition('.')[2])}_{method}".strip("_")
    trip = _round_trip(table, name)
    if trip:
        return f"{words.snake(owner.rpartition('.')[2])}_{trip}".strip("_") if owner != in_class else trip
    attribute = _looked_at(table) or _assigned(table)
    if attribute and words.snake(attribute) not in method:
        method = f"{method}_{words.snake(attribute)}"
    return method or "creation"


def _round_trip(table: Table, name: str) -> str:
    """Return the words for what undoes something applied to it: `dumps_and_loads_round_trip`."""
    found = re.match(r"(?:\w+\.)*(\w+)\((?:\w+\.)*(\w+)\(.*\)(\[:-1\])?\)$", _awaited(table.when))
    if not name or found is None or found[2] != name:
        return ""
    back = words.method_words(found[1])
    if found[3]:
        return f"{back}_of_incomplete_{words.method_words(name)}"
    return f"{words.method_words(name)}_and_{back}_round_trip"


def _awaited(when: str) -> str:
    """Return what a step calls, without what runs it to its end."""
    return re.sub(r"^asyncio\.run\((.*)\)$", r"\1", when)


def _assigned(table: Table) -> str:
    found = re.match(r"\w+\.(\w+) = ", table.when) if table.is_statement else None
    return found[1] if found else ""


def _looked_at(table: Table) -> str:
    """Return the attribute or method that `when` ends in, or the builtin it is wrapped in."""
    if table.is_statement:
        return ""
    try:
        node = ast.parse(_awaited(table.when), mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
        return _OPERATORS.get(type(node.ops[0]), "")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return "" if isinstance(node.func.value, ast.Constant) else node.func.attr
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _WRAPPERS.get(node.func.id, "")
    return ""


def _options(table: Table, outline: Outline) -> str:
    """Return `_with_separator` for optional parameters that the call gives, `_without_x` for those set to False."""
    parameters = {p.name: p for p in outline.parameters_of_call(table.subject)}
    given: dict[str, set[str]] = {}
    for name, text in (argument for scenario in table.scenarios for argument in scenario.args):
        if not parameters and re.search(rf"\b{name}=", table.when):
            given.setdefault(name, set()).add(text)
        if name in parameters and parameters[name].default and text != parameters[name].default:
            given.setdefault(name, set()).add(text)
    off = [words.snake(name) for name, texts in given.items() if texts == {"False"}]
    on = [words.snake(name) for name, texts in given.items() if texts != {"False"}]
    phrase = f"_with_{_joined(on)}" if on else ""
    return phrase + (f"_without_{_joined(off)}" if off else "")


def _joined(names: Sequence[str]) -> str:
    return "_and_".join(names[:3])


def _arguments(table: Table) -> list[tuple[str, str]]:
    """Return the inputs that all rows share by parameter, with the first row's text for those that vary."""
    return list(table.scenarios[0].args)


def _inputs(table: Table, outline: Outline) -> Iterator[str]:
    """Yield phrases for the inputs: for one row its values, for several what the values have in common."""
    seen: set[str] = set()
    for phrase in _all_inputs(table, outline):
        if phrase and phrase not in seen:
            seen.add(phrase)
            yield phrase


def _all_inputs(table: Table, outline: Outline) -> Iterator[str]:
    required = _required(table, outline)
    by_name: dict[str, list[str]] = {}
    for scenario in table.scenarios:
        for name, text in scenario.args:
            by_name.setdefault(name, []).append(text)
    ordered = [name for name, _ in required] + [name for name in by_name if name not in dict(required)]
    for name in ordered:
        phrases = {words.notable(text, name) for text in by_name[name]}
        if len(phrases) == 1:
            yield phrases.pop()
    for name in ordered:
        if len(by_name[name]) > 1:
            yield words.shared_kind(by_name[name])
    for name in ordered:
        if len(set(by_name[name])) == 1:
            yield from words.described(by_name[name][0], name)


def _given_values(table: Table) -> Iterator[str]:
    """Yield phrases for the literals in what is given and looked at, for calls whose inputs say nothing."""
    for line in [*table.given, table.when]:
        try:
            nodes = list(ast.walk(ast.parse(line)))
        except (SyntaxError, ValueError):
            continue
        for call in (node for node in nodes if isinstance(node, ast.Call)):
            literals = [argument for argument in call.args if not isinstance(argument, ast.Name | ast.Call)]
            for argument in literals:
                yield from words.described(ast.unparse(argument), "")[:2]
            if line != table.when:
                yield from (words.snake(keyword.arg) for keyword in call.keywords if keyword.arg)


def _states(table: Table) -> Iterator[str]:
    """Yield phrases for the steps that led there: `after_setting_items`, `after_clear`."""
    steps = table.given[1:]
    called = [m[1] for line in steps for m in re.finditer(r"\.(\w+)\(", line)]
    if any(re.match(r"\w+\[.*\] = ", line) for line in steps):
        yield "after_adding_items"
    if called:
        yield f"after_{words.method_words(called[-1])}"
        if len(called) > 1:
            yield f"after_{words.method_words(called[0])}_and_{words.method_words(called[-1])}"
    if any(line.startswith("del ") for line in steps):
        yield "after_deletion"
    first = re.match(r"\w+ = (?:\w+\.)*(\w+)\((.*)\)$", table.given[0]) if table.given else None
    if first:
        keywords = re.findall(r"(\w+)=", first[2])
        if keywords:
            yield f"with_{_joined([words.snake(word) for word in keywords])}"
        yield f"of_{words.snake(first[1])}"


def _effects(table: Table) -> Iterator[str]:
    """Yield phrases for what comes of it, where it is short enough to say."""
    then = table.then
    silent = table.is_statement or bool(table.checks and then and then.text == "None")
    if then is not None and then.kind in ("value", "items") and not silent:
        yield from _effect_of_value(table, then.text)
    for check in table.checks:
        removed = re.fullmatch(r"(.+) in (\w+)", check.expression)
        if removed and check.then.text == "False":
            yield "removes_item"
        elif removed and check.then.text == "True":
            yield "keeps_item"
        elif check.then.text in ("{}", "[]", "set()", "0") and re.match(
            r"(dict|list|set|len)\(", check.expression
        ):
            yield "leaves_nothing" if table.given[1:] else "leaves_it_empty"
    attributes = [
        words.method_words(found[1])
        for c in table.checks
        if (found := re.search(r"\.(\w+)(?:\(.*\))?$", c.expression))
    ]
    if attributes and table.then is None and table.subject.rpartition(".")[2][:1].isupper():
        yield f"stores_{_joined(attributes)}"
    yield from (f"updates_{attribute}" for attribute in attributes)
    if any(check.expression.startswith("len(") for check in table.checks):
        yield "changes_length"


def _effect_of_value(table: Table, text: str) -> Iterator[str]:
    if text in table.columns[: table.inputs]:
        yield f"leaves_{words.snake(text)}_unchanged"
        return
    known, value = words.evaluated(text)
    if not known:
        return
    if value is None or isinstance(value, bool):
        yield {None: "returns_none", True: "is_true", False: "is_false"}[value]
    elif isinstance(value, str | list | tuple | dict | set) and not value:
        yield "is_empty"
    elif isinstance(value, int) and words.spelled(value):
        yield f"returns_{words.spelled(value)}"
    elif isinstance(value, str) and words.text_words(value) and not _CODE.search(value):
        yield f"returns_{words.text_words(value)}"
