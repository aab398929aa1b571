"""Calls left in the text of a reply, as families of models write them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models.leaks import leaked_calls

NAMES = ("run_tests", "write_file")
RUN = ("run_tests", {"reflection": "r"})
WRITE = ("write_file", {"path": "t.py", "content": "a\n<b>\n", "n": 3})
_RUN = json.dumps({"name": "run_tests", "arguments": {"reflection": "r"}})
_WRITE = json.dumps({"name": "write_file", "arguments": WRITE[1]})


@pytest.mark.parametrize(
    ("text", "calls", "rest"),
    [
        (f"First.\n<tool_call>\n{_RUN}\n</tool_call>", [RUN], "First."),
        (f"<tool_call>{_RUN}</tool_call>\n<tool_call>{_WRITE}</tool_call>", [RUN, WRITE], ""),
        (f"<tool_call>{_RUN}", [RUN], ""),
        (f"<|python_tag|>{_RUN}<|eom_id|>", [RUN], ""),
        (f"[TOOL_CALLS][{_RUN}, {_WRITE}]", [RUN, WRITE], ""),
        (f"So:\n```json\n{_RUN}\n```\nDone.", [RUN], "So:\n\nDone."),
        (_RUN, [RUN], ""),
        (f"[{_RUN}]", [RUN], ""),
        (_RUN.replace("arguments", "parameters"), [RUN], ""),
        (json.dumps({"type": "function", "function": json.loads(_RUN)}), [RUN], ""),
        ('<function=run_tests>{"reflection": "r"}</function> ok', [RUN], "ok"),
        (
            "<tool_call>\n<function=write_file>\n<parameter=path>\nt.py\n</parameter>\n"
            "<parameter=content>\na\n<b>\n\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>",
            [WRITE],
            "",
        ),
    ],
)
def test_a_leaked_call_is_found_and_taken_out(text: str, calls: list[object], rest: str) -> None:
    found, left = leaked_calls(text, NAMES)
    assert [(name, json.loads(arguments)) for name, arguments in found] == calls
    assert left == rest


@pytest.mark.parametrize(
    "text",
    [
        "no call at all",
        '<tool_call>{"name": "rm_rf", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "run_tests", "argu',
        "<tool_call>run_tests()</tool_call>",
        '{"name": "Bob", "age": 3}',
        '```json\n{"name": "Bob", "arguments": "none"}\n```',
        "<function=run_tests>what?</function>",
        "[" * 5000,
        "<tool_call>" * 500,
    ],
)
def test_what_is_no_call_of_a_tool_stays_text(text: str) -> None:
    assert leaked_calls(text, NAMES) == ([], text)


def test_arguments_that_are_text_stay_as_they_were_written() -> None:
    text = '<tool_call>{"name": "run_tests", "arguments": "{cut"}</tool_call>'
    assert leaked_calls(text, NAMES)[0] == [("run_tests", "{cut")]


@given(
    st.lists(
        st.sampled_from(
            [
                "<tool_call>",
                "</tool_call>",
                "<function=run_tests>",
                "<parameter=a>",
                "{",
                "}",
                '"name"',
                ":",
                _RUN,
                "```json\n",
                "\n",
                "x",
            ]
        ),
        max_size=12,
    )
)
def test_any_text_is_read(parts: list[str]) -> None:
    found, left = leaked_calls("".join(parts), NAMES)
    assert all(name in NAMES for name, _ in found)
    assert isinstance(left, str)
