"""Where the probe's inputs come from: how parameters are used, regular expressions, annotations."""

from __future__ import annotations

import ast
import re
import types

import pytest

from bot.models.offline.probe import examples, inputs, patterns, surface, usage


def surface_of(source: str) -> surface.Surface:
    module = types.ModuleType("shop")
    exec(source, vars(module))
    return surface.Surface(module, source, ast.parse(source))


def pools(source: str) -> dict[str, list[str]]:
    """Return the texts to try for the parameters of a module's first function."""
    made = surface_of(source)
    inputs.Inputs(made, seed=0).fill()
    return {param.name: param.pool for param in made.functions[0].params}


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{2}-\d{2}",
        r"(a|b)c?",
        r"^\s*[a-z]+$",
        r"[^abc]x",
        r"(?P<word>\w+)=(?P=word)",
        r"&#(\d+);",
        r"(?i)(person)$",
        r"-{2,}",
    ],
)
def test_strings_are_made_that_a_pattern_matches(pattern: str) -> None:
    made = patterns.examples(re.compile(pattern))

    assert made
    assert all(re.search(pattern, text) for text in made)


def test_each_alternative_of_a_pattern_is_made() -> None:
    made = patterns.examples(re.compile("red|green|blue"))

    assert {"red", "green", "blue"} <= set(made)


def test_a_parameter_that_is_called_gets_functions_of_its_arity() -> None:
    assert (
        "lambda key, value: value"
        in pools("def f(rule):\n    key = value = 1\n    return rule(key, value)\n")["rule"]
    )


def test_a_parameter_stored_on_self_is_followed_into_the_class() -> None:
    tree = ast.parse(
        "class C:\n def __init__(self, rule):\n  self._rule = rule\n def go(self, x):\n  return self._rule(x)\n"
    )
    shell = tree.body[0]
    assert isinstance(shell, ast.ClassDef)

    assert usage.of_function(shell.body[0], shell)["rule"].calls == [("x",)]


def test_constants_that_are_compared_are_tried_with_their_neighbours() -> None:
    assert {"17", "18", "19"} <= set(pools("def f(n):\n    return n >= 18\n")["n"])


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        ("int | None", "None"),
        ('\'Literal["red", "blue"]\'', "'blue'"),
        ("list[int]", "[1, 2, 0]"),
        ("Sequence[str]", "[]"),
        ("dict[str, int]", "{}"),
        ("tuple[int, ...]", "()"),
    ],
)
def test_annotations_say_what_to_try(annotation: str, text: str) -> None:
    source = f"from __future__ import annotations\ndef f(x: {annotation}):\n    return x\n"

    assert text in pools(source)["x"]


def test_examples_in_docstrings_become_cases() -> None:
    made = surface_of(
        'def f(x):\n    """\n    >>> y = 20\n    >>> f(y + 1)\n    42\n    """\n    return x * 2\n'
    )
    harvest = examples.Harvest(made)

    harvest.docstrings()

    assert [case.key for case in harvest.cases] == [("y = 20", "f(y + 1)")]


def test_operators_are_written_as_a_person_would() -> None:
    made = surface_of(
        "class Bag:\n"
        " def __len__(self): return 1\n"
        " def __contains__(self, x): return True\n"
        " def __setitem__(self, k, v): pass\n"
        " def __lt__(self, other): return True\n"
    )

    assert {op.form for op in made.owners[0].ops} == {
        "len({self})",
        "{0} in {self}",
        "{self}[{0}] = {1}",
        "{self} < {0}",
    }


def test_a_variable_is_named_after_its_class() -> None:
    assert surface.variable_for("LRUCache", {}) == "cache"
    assert surface.variable_for("List", {}) == "my_list"


@pytest.mark.parametrize(
    ("call", "given", "subject"),
    [
        ("Schema(And(1)).validate(2)", {}, "Schema.validate"),
        ("schema.validate(2)", {"schema": "Schema(And(1))"}, "Schema.validate"),
        ("either.validate(2)", {"either": "And(1)"}, "And.validate"),
    ],
)
def test_a_call_is_about_the_method_of_what_made_its_object(
    call: str, given: dict[str, str], subject: str
) -> None:
    source = "".join(
        f"class {name}:\n    def __init__(self, part): pass\n    def validate(self, data): return data\n"
        for name in ("And", "Schema")
    )
    step = examples.Harvest(surface_of(source)).as_step(ast.parse(call, mode="eval").body, given)

    assert step.op is not None
    assert step.op.subject == subject
