"""The plain-text protocol: a conversation written without tool calls, and the action read from a reply's block."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent import plaintext
from bot.agent.tools import schemas
from bot.models import Reply, ToolCall
from bot.models.wire import assistant_message, tool_message

SUITE = "tests/test_a.py"


def action(text: str, finish: str = "stop") -> tuple[str, dict[str, Any]] | None:
    reply = plaintext.read(Reply(text, finish_reason=finish), schemas(), SUITE, 1)
    if not reply.tool_calls:
        return None
    (call,) = reply.tool_calls
    return call.name, json.loads(call.arguments)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("Look.\n```run_tests\n```", "run_tests", {"reflection": "Look."}),
        ("```run_tests\n```\nand then\n```finish\nno\n```", "run_tests", {"reflection": ""}),
        (
            '```view_file path="a b.py" first=3 last=null\n```',
            "view_file",
            {"reflection": "", "path": "a b.py", "first": 3, "last": None},
        ),
        (
            "```view_file path=a.py, first: 3\n```",
            "view_file",
            {"reflection": "", "path": "a.py", "first": 3},
        ),
        (
            '````write_file path="tests/t.py"\nx = "```"\n````',
            "write_file",
            {"reflection": "", "path": "tests/t.py", "content": 'x = "```"\n'},
        ),
        (
            '```write_file path="tests/t.py"\n```python\nx = 1\n```\n```',
            "write_file",
            {"reflection": "", "path": "tests/t.py", "content": "x = 1\n"},
        ),
        (
            "```python\ndef test_a():\n    assert 1\n```",
            "write_file",
            {"reflection": "", "path": SUITE, "content": "def test_a():\n    assert 1\n"},
        ),
        (
            "```edit_file path=t.py\nold\nlines\n=======\nnew\n```",
            "edit_file",
            {"reflection": "", "path": "t.py", "old": "old\nlines", "new": "new"},
        ),
        (
            "```edit_file path=t.py\n<<<<<<< SEARCH\nold\n=======\n>>>>>>> REPLACE\n```",
            "edit_file",
            {"reflection": "", "path": "t.py", "old": "old", "new": ""},
        ),
        (
            "```insert_lines path=t.py after=-1\n\nx = 1\n```",
            "insert_lines",
            {"reflection": "", "path": "t.py", "after": -1, "text": "\nx = 1\n"},
        ),
        ("~~~bash\npython -V\n~~~", "execute_bash", {"reflection": "", "command": "python -V"}),
        ("Done.\n```finish\nAll of it.", "finish", {"reflection": "Done.", "summary": "All of it."}),
        (
            'So <tool_call>{"name": "run_tests", "arguments": {}}</tool_call>',
            "run_tests",
            {"reflection": "So"},
        ),
    ],
)
def test_the_first_action_of_a_reply_is_read(text: str, name: str, arguments: dict[str, Any]) -> None:
    assert action(text) == (name, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would run the tests.",
        "```text\nrun_tests\n```",
        "```python\nx = 1\n```",
        "```rm_rf\n```",
        "`run_tests`",
    ],
)
def test_a_reply_without_an_action_stays_as_it_is(text: str) -> None:
    assert action(text) is None


def test_an_edit_without_a_divider_changes_nothing() -> None:
    assert action("```edit_file path=t.py\nold\n```") == ("edit_file", {"reflection": "", "path": "t.py"})


def test_a_block_cut_off_is_a_call_cut_off() -> None:
    reply = plaintext.read(
        Reply("```write_file path=t.py\nx = ", finish_reason="length"), schemas(), SUITE, 1
    )
    assert (len(reply.tool_calls), reply.finish_reason) == (1, "length")


def test_a_conversation_is_written_without_calls() -> None:
    call = ToolCall(
        "1", "edit_file", json.dumps({"reflection": "Why.", "path": "t.py", "old": "a", "new": "b"})
    )
    history = [
        {"role": "system", "content": "You write tests."},
        {"role": "user", "content": "Go."},
        assistant_message(Reply("", (call,), "tool_calls")),
        tool_message(call, "error: no\n```"),
        {"role": "user", "content": "Go on."},
    ]
    system, task, acted, answered = plaintext.as_text(history, schemas())
    assert system["content"].startswith("You write tests.\n\nHow to act here\n")
    assert all(f"`{tool['function']['name']}" in system["content"] for tool in schemas())
    assert task == {"role": "user", "content": "Go."}
    assert acted == {
        "role": "assistant",
        "content": 'Why.\n\n```edit_file path="t.py"\na\n=======\nb\n```',
    }
    assert answered == {
        "role": "user",
        "content": "`edit_file` printed:\n````text\nerror: no\n```\n````\n\nGo on.",
    }


_texts = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)


@given(content=_texts, path=_texts)
def test_a_call_written_as_a_block_is_read_back(content: str, path: str) -> None:
    whole = content if not content or content.endswith("\n") else f"{content}\n"
    arguments = {"reflection": "", "path": path, "content": whole}
    call = ToolCall("1", "write_file", json.dumps(arguments))
    (written,) = plaintext.as_text([assistant_message(Reply("", (call,), "tool_calls"))], schemas())
    found = action(str(written["content"]))
    if "`" not in path and not whole.startswith(("```", "~~~", " ")):
        assert found == ("write_file", arguments)


@given(
    st.lists(
        st.sampled_from(["```", "````", "~~~", "run_tests", "write_file path=a", "\n", "x", "=======", " "])
    )
)
def test_any_text_is_read(parts: list[str]) -> None:
    found = action("".join(parts))
    assert found is None or found[0] in {tool["function"]["name"] for tool in schemas()}
