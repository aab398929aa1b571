"""Tools made from typed functions, and calls checked against them."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.tools import schemas, toolbox
from bot.agent.tools.schema import Tool, ToolError, tool


def shout(bench: Any, text: str, times: int = 1, mode: Literal["loud", "low"] = "loud") -> str:
    """Say a text
    several times.

    Args:
        text: What to say.
        times: How often: once
            or more.
        mode: How loud.
    """
    return f"{mode}: {text * times}"


@pytest.fixture(name="shouting")
def _shouting() -> Tool:
    return tool(shout)


def test_signature_and_docstring_become_the_schema(shouting: Tool) -> None:
    function = shouting.schema["function"]
    assert (function["name"], function["description"]) == ("shout", "Say a text several times.")
    parameters = function["parameters"]
    assert parameters["required"] == ["reflection", "text"]
    assert parameters["additionalProperties"] is False
    assert list(parameters["properties"]) == ["reflection", "text", "times", "mode"]
    assert parameters["properties"]["times"] == {
        "type": "integer",
        "default": 1,
        "description": "How often: once or more.",
    }
    assert parameters["properties"]["mode"]["enum"] == ["loud", "low"]


def test_the_tools_are_those_of_the_method_in_this_order() -> None:
    assert list(toolbox()) == [
        "search_files",
        "view_file",
        "write_file",
        "edit_file",
        "insert_lines",
        "run_tests",
        "coverage_report",
        "surviving_mutants",
        "execute_bash",
        "finish",
    ]


@pytest.mark.parametrize("schema", schemas(), ids=lambda schema: schema["function"]["name"])
def test_every_tool_demands_a_reflection_first_and_describes_all_it_takes(schema: dict[str, Any]) -> None:
    parameters = schema["function"]["parameters"]
    assert next(iter(parameters["properties"])) == "reflection"
    assert parameters["required"][0] == "reflection"
    assert schema["function"]["description"]
    assert all(entry["description"] for entry in parameters["properties"].values())


def test_a_call_runs_the_function_with_defaults_filled_in(shouting: Tool) -> None:
    assert shouting.call(None, '{"reflection": "r", "text": "ab"}') == "loud: ab"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("{", "the arguments of shout are not valid JSON: Expecting property name enclosed in double quotes"),
        ('["a"]', "the arguments of shout must be a JSON object, not a list"),
        ('"a"', "the arguments of shout must be a JSON object, not a string"),
        ("null", "the arguments of shout must be a JSON object, not null"),
        ("", "wrong arguments for shout: `reflection` is missing; `text` is missing"),
        ('{"text": "a"}', "wrong arguments for shout: `reflection` is missing"),
        ('{"reflection": "", "text": 3}', "wrong arguments for shout: `text` should be string, not 3"),
        (
            '{"reflection": "", "text": "a", "times": "3"}',
            'wrong arguments for shout: `times` should be integer, not "3"',
        ),
        (
            '{"reflection": "", "text": "a", "times": true}',
            "wrong arguments for shout: `times` should be integer, not true",
        ),
        (
            '{"reflection": "", "text": "a", "mode": "mute"}',
            "wrong arguments for shout: `mode` should be 'loud' or 'low', not \"mute\"",
        ),
        (
            '{"reflection": "", "text": "a", "volume": 11}',
            "wrong arguments for shout: there is no argument `volume`; it takes `reflection`, `text`, ",
        ),
    ],
)
def test_a_wrong_call_is_told_exactly(shouting: Tool, arguments: str, sentence: str) -> None:
    with pytest.raises(ToolError) as caught:
        shouting.check(arguments)
    assert str(caught.value).startswith(sentence)


def test_a_fault_in_json_is_quoted_with_what_stands_around_it(shouting: Tool) -> None:
    with pytest.raises(ToolError) as caught:
        shouting.check('{"reflection": "so", "text": "say "hello" to them"}')
    assert str(caught.value).endswith('(char 35), near `lection": "so", "text": "say "hello" to them"}`')


def test_line_breaks_in_strings_need_not_be_escaped(shouting: Tool) -> None:
    assert shouting.check('{"reflection": "", "text": "a\n\tb"}')["text"] == "a\n\tb"


def test_json_nested_past_all_bounds_is_an_error_of_the_call(shouting: Tool) -> None:
    with pytest.raises(ToolError, match="not valid JSON"):
        shouting.check("[" * 200_000)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.text() | _json.map(json.dumps), st.sampled_from(sorted(toolbox())))
def test_any_arguments_are_either_taken_or_refused_in_one_sentence(arguments: str, name: str) -> None:
    taken, refusal = {}, ""
    try:
        taken = toolbox()[name].check(arguments)
    except ToolError as refused:
        refusal = str(refused)
    assert refusal or isinstance(taken["reflection"], str)
