"""The plain-text protocol: one fenced block a turn, for models that cannot call tools or show that they cannot.

The loop knows nothing of it. Its conversation, tool calls and all, is written as plain text for such a model, and the
block in the reply is read back as a tool call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.agent.brief import fenced
from bot.agent.prompts import prompt
from bot.models import Message, Reply, ToolCall, ToolSchema, read_arguments
from bot.models.leaks import leaked_calls

BODIES = ("content", "text", "command", "summary")
"""Arguments that are the text of a block, where a tool has one of them."""
OLD, NEW = "old", "new"
"""Two arguments that are the text of one block, with a divider between them."""
DIVIDER = "======="

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<word>[\w.+-]*)[ \t]*(?P<rest>.*)")
_ATTRIBUTE = re.compile(r"(?P<name>\w+)\s*[=:]\s*(?P<value>\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s,]+)")
_MERGE_MARK = re.compile(r"^(?:<{5,}|>{5,}).*\n?", re.MULTILINE)
_PYTHON = frozenset({"python", "python3", "py", "pytest"})
_SHELL = frozenset({"bash", "sh", "shell", "console"})


def protocol(tools: Sequence[ToolSchema]) -> str:
    """Return the description of the protocol with an entry for every tool."""
    return prompt("plain_protocol", actions="\n".join(_entry(tool["function"]) for tool in tools)).rstrip()


def as_text(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> list[Message]:
    """Return a conversation without tool calls: each is a block in its message, each answer a message of the user."""
    written: list[dict[str, Any]] = []
    for message in messages:
        role, text = _written(message)
        if message["role"] == "system":
            text = f"{text.rstrip()}\n\n{protocol(tools)}"
        if written and written[-1]["role"] == role == "user":
            written[-1]["content"] += f"\n\n{text}"
        else:
            written.append({"role": role, "content": text})
    return list(written)


def read(reply: Reply, tools: Sequence[ToolSchema], suite_path: str, turn: int) -> Reply:
    """Return a reply with the action in its text as a tool call; as it is, if there is none.

    Args:
        suite_path: Where a Python file that names no path goes.
        turn: Makes the call's id one of its own.
    """
    functions = {tool["function"]["name"]: tool["function"] for tool in tools}
    found = _action(reply.text, functions, suite_path)
    if found is None:
        return reply
    name, arguments, before = found
    call = ToolCall(f"text_{turn}", name, json.dumps(arguments, ensure_ascii=False))
    reason = reply.finish_reason if reply.finish_reason == "length" else "tool_calls"
    return replace(reply, text=before, tool_calls=(call,), finish_reason=reason)


# ---------------------------------------------------------------- what the model reads


def _entry(function: Mapping[str, Any]) -> str:
    """Return a tool's entry in the list of actions."""
    properties = function["parameters"]["properties"]
    named = [name for name in properties if name not in (*BODIES, OLD, NEW, "reflection")]
    body = next((name for name in BODIES if name in properties), "")
    parts = [f"- `{' '.join([function['name'], *(f'{name}=...' for name in named)])}`"]
    if OLD in properties:
        parts.append(f"with the old text, a line `{DIVIDER}` and the new text below")
    elif body:
        parts.append(f"with the {body} below")
    return f"{', '.join(parts)}: {function['description']}"


def _written(message: Message) -> tuple[str, str]:
    """Return a message's role and text in the protocol."""
    content = str(message.get("content") or "")
    if message["role"] == "tool":
        return "user", f"`{message.get('name', 'it')}` printed:\n{fenced(content, language='text')}"
    blocks = [_block(call["function"]) for call in message.get("tool_calls") or ()]
    return message["role"], "\n\n".join(filter(None, [content, *blocks]))


def _block(function: Mapping[str, Any]) -> str:
    """Return a call as a block, its reflection before it."""
    try:
        given = read_arguments(function["arguments"])
    except (ValueError, RecursionError):
        given = {}
    arguments = dict(given) if isinstance(given, dict) else {}
    reflection = str(arguments.pop("reflection", ""))
    if OLD in arguments and NEW in arguments:
        body = f"{arguments.pop(OLD)}\n{DIVIDER}\n{arguments.pop(NEW)}"
    else:
        body = str(arguments.pop(next((name for name in BODIES if name in arguments), ""), ""))
    named = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()]
    block = fenced(body, language=" ".join([function["name"], *named]))
    return f"{reflection}\n\n{block}" if reflection else block


# ---------------------------------------------------------------- what the model wrote


def _action(
    text: str, functions: Mapping[str, Mapping[str, Any]], suite_path: str
) -> tuple[str, dict[str, Any], str] | None:
    """Return the first action of a text: its name, its arguments, and the text before it."""
    for start, word, rest, body in _blocks(text):
        before = text[:start].strip()
        given: dict[str, Any] = {each["name"]: _value(each["value"]) for each in _ATTRIBUTE.finditer(rest)}
        name = _named(word, body, functions)
        if name is None:
            continue
        if word in _PYTHON:
            given = {"path": given.get("path", suite_path)}
        elif word in _SHELL:
            given = {}
        given.pop("reflection", None)
        arguments = {"reflection": before[-1000:], **given, **_texts(body, functions[name])}
        return name, arguments, before
    calls, left = leaked_calls(text, functions)
    for name, written in calls:
        try:
            found = read_arguments(written)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return name, {"reflection": left[-1000:], **found}, left
    return None


def _named(word: str, body: str, functions: Mapping[str, Any]) -> str | None:
    """Return the tool that a block's first word means."""
    if word in functions:
        return word
    if word in _PYTHON and "def test" in body and "write_file" in functions:
        return "write_file"
    return "execute_bash" if word in _SHELL and "execute_bash" in functions else None


def _texts(body: str, function: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments that a block's body gives."""
    properties = function["parameters"]["properties"]
    if OLD in properties:
        old, divider, new = _MERGE_MARK.sub("", body).partition(f"{DIVIDER}\n")
        return {OLD: old.removesuffix("\n"), NEW: new.removesuffix("\n")} if divider else {}
    name = next((each for each in BODIES if each in properties), None)
    if name is None:
        return {}
    return {name: body if name in ("content", "text") else body.strip()}


def _blocks(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield each fenced block: where it begins, the first word and the rest of its first line, and its body."""
    lines = text.replace("\r\n", "\n").split("\n")
    place = number = 0
    while number < len(lines):
        opening = _FENCE.fullmatch(lines[number])
        if opening is None or "`" in opening["rest"]:
            place += len(lines[number]) + 1
            number += 1
            continue
        end = number + 1
        while end < len(lines) and not _closes(lines[end], opening["fence"]):
            end += 1
        body = lines[number + 1 : end]
        if body and (inner := _FENCE.fullmatch(body[0])) and inner["word"]:
            body = body[1:]  # a block within the block: the fence that ended it was the inner one's
        yield place, opening["word"], opening["rest"], "".join(f"{line}\n" for line in body)
        place += sum(len(line) + 1 for line in lines[number : end + 1])
        number = end + 1


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def _value(text: str) -> Any:
    """Return an argument's value: JSON where it is some, otherwise the text without its quotes."""
    try:
        return json.loads(text)
    except ValueError:
        return text.strip("'\"")
