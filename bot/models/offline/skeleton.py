"""A scenario with its literals taken out: the shape it shares with others, and the texts that fill it again."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.models.offline.outline import Outline
from bot.models.offline.scenario import Scenario, Then
from bot.models.offline.slots import Slots

_SLOT = re.compile(r"__slot_(\d+)__")


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A scenario's statements with `__slot_N__` for each literal.

    Attributes:
        then: What `when` gave, as text, if it is built with names of the module under test, which must not be used
            in a table; empty otherwise.
        texts: The literals, by slot.
        hints: A name for each slot, from the parameter, key or variable that it stands for.
        argument_slots: The slots that are inputs of `when`.
        names_used, names_bound: Names its code reads, and variables its given statements make.
        bindings: Slots that are the whole value of a variable, by slot.
    """

    scenario: Scenario
    outline: Outline
    given: tuple[str, ...]
    when: str
    checks: tuple[str, ...]
    then: str
    texts: tuple[str, ...]
    hints: tuple[str, ...]
    argument_slots: frozenset[int]
    names_used: frozenset[str]
    names_bound: frozenset[str]
    bindings: Mapping[int, str]

    @property
    def arity(self) -> int:
        """How many slots there are."""
        return len(self.texts)

    def fill(self, text: str, names: Mapping[int, str]) -> str:
        """Put back the literals into one of its texts, or `names` where they are given for a slot."""
        return _SLOT.sub(lambda found: names.get(int(found[1]), self.texts[int(found[1])]), text)

    def binds(self, slot: int, name: str) -> bool:
        """Whether the slot is the value that a given statement binds to `name`."""
        return self.bindings.get(slot) == name


def skeleton_of(scenario: Scenario, outline: Outline, quote: str) -> Skeleton | None:
    """Return a scenario's skeleton; None if its texts are not Python."""
    try:
        given = [_parse(text) for text in scenario.given]
        when = _parse(scenario.when)
        checks = [_parse(check.expression) for check in scenario.checks]
        then = _parse(_shortened(scenario.then, outline)) if scenario.then and scenario.then.text else None
        for outcome in (scenario.then, *(check.then for check in scenario.checks)):
            if outcome is not None:
                ast.parse(outcome.type if outcome.kind == "raises" else outcome.text or "None", mode="eval")
    except (SyntaxError, ValueError):
        return None
    maker = Slots(scenario, outline, quote, [*given, when, *checks])
    maker.called = _call_of_subject(when, scenario)
    given_texts = tuple(maker.text_of(tree) for tree in given)
    maker.inside_when = True
    when_text = maker.text_of(when)
    maker.inside_when = False
    checks_texts = tuple(maker.text_of(tree) for tree in checks)
    then_text = ""
    if then is not None and not maker.is_free_of_module(then):
        then_text = maker.text_of(then, place="expected_")
    return Skeleton(
        scenario=scenario,
        outline=outline,
        given=given_texts,
        when=when_text,
        checks=checks_texts,
        then=then_text,
        texts=tuple(maker.texts),
        hints=tuple(maker.hints),
        argument_slots=frozenset(maker.argument_slots),
        names_used=frozenset(maker.names),
        names_bound=frozenset(maker.bound),
        bindings=dict(maker.bindings),
    )


def _parse(text: str) -> ast.Module:
    return ast.parse(text.strip())


def _call_of_subject(when: ast.Module, scenario: Scenario) -> ast.Call | None:
    """Return the call that the scenario's arguments belong to; None if `when` has no call of its subject."""
    calls = [node for node in ast.walk(when) if isinstance(node, ast.Call)]
    for name in (scenario.subject.rpartition(".")[2], scenario.subject.partition(".")[0]):
        for call in calls:
            if ast.unparse(call.func).rpartition(".")[2] == name:
                return call
    return None


def _shortened(then: Then | None, outline: Outline) -> str:
    """Return what a scenario gave, without the arguments of constructors that are their defaults."""
    if then is None:
        return ""
    if "(" not in then.text:
        return then.text
    tree = ast.parse(then.text)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        defaults = {
            p.name: p.default for p in outline.parameters_of_call(ast.unparse(call.func)) if p.default
        }
        call.keywords = [
            word
            for word in call.keywords
            if not word.arg or ast.unparse(word.value) != defaults.get(word.arg)
        ]
    return ast.unparse(tree)
