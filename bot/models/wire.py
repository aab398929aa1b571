"""The form in which replies travel: OpenAI-shaped dictionaries, read into `Reply` and written back into history.

What is written is always valid for every provider: arguments are JSON objects, every call has an id and an answer.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.domain import Usage
from bot.models import Message, Reply, ToolCall, read_arguments
from bot.models.leaks import leaked_calls

NO_TEXT = "(no text)"
UNNAMED = "unnamed"
LONGEST_NAME = 64
UNANSWERED = "error: this call was not run"
LONGEST = 1_000_000
"""Characters of a reply that are taken for what a model meant to write."""
KEPT_OF_LONGEST = 100_000
MOST_CALLS = 50
MALFORMED_ENDS = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"})
"""What Gemini says of calls that it could not read itself; what comes with them is an empty reply."""


def reply_from(response: Mapping[str, Any], cost_usd: float = 0.0, *, tools: Collection[str] = ()) -> Reply:
    """Read a chat completion. A response without choices, or with an empty message, gives an empty reply.

    Args:
        response: The response in OpenAI's form, as a dictionary.
        cost_usd: What the call cost.
        tools: Names of the tools that were offered: calls of theirs that stand in the text are read from there.
    """
    choices = response.get("choices") or [{}]
    choice = choices[0] or {}
    message = choice.get("message") or {}
    text = _text_of(message.get("content"))
    rows = [row for row in message.get("tool_calls") or () if isinstance(row, Mapping)]
    calls = _with_own_ids(_call_from(number, row) for number, row in enumerate(rows, start=1))
    reason = _finish_reason(choice, message)
    leaked = False
    if tools and not calls and reason != "refused":
        found, rest = leaked_calls(text, tools)
        if found:
            calls = tuple(ToolCall(f"call_{number}", *each) for number, each in enumerate(found, start=1))
            text, leaked = rest, True
    usage = usage_from(response.get("usage") or {}, cost_usd)
    return _bounded(Reply(text, calls, reason, usage, leaked=leaked))


def response_from(reply: Reply, model: str) -> dict[str, Any]:
    """Write a reply as a chat completion in OpenAI's form, arguments as the model gave them."""
    usage = reply.usage
    return {
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message_from(reply), "finish_reason": reply.finish_reason}],
        "usage": {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": usage.prompt + usage.completion,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
        },
    }


def message_from(reply: Reply) -> dict[str, Any]:
    """Write a reply as a message in OpenAI's form, arguments as the model gave them."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [
            _call_message(call.id, call.name, call.arguments) for call in reply.tool_calls
        ]
    return message


def usage_from(usage: Mapping[str, Any], cost_usd: float) -> Usage:
    """Read what a response says of its tokens; what it does not say, or says in a way that cannot be, is zero."""
    details = usage.get("prompt_tokens_details") or {}
    prompt = _count(usage.get("prompt_tokens"))
    return Usage(
        prompt=prompt,
        completion=_count(usage.get("completion_tokens")),
        cached=min(prompt, _count(details.get("cached_tokens") if isinstance(details, Mapping) else 0)),
        cost_usd=cost_usd,
    )


def _count(value: object) -> int:
    """Return a number of tokens; some servers tell parts of one, and a part is charged as a whole."""
    return math.ceil(value) if isinstance(value, int | float) and 0 < value < math.inf else 0


def assistant_message(reply: Reply) -> Message:
    """Return a reply as a message of the history; arguments that are no JSON object are sent back as an empty one.

    The observation that answers such a call quotes the fault, so nothing is lost, and some servers answer broken
    arguments in the history with an error for ever, as all do to names of tools with other characters than theirs.
    """
    message: dict[str, Any] = {"role": "assistant", "content": _sendable(reply.text)}
    if reply.tool_calls:
        message["tool_calls"] = [
            _call_message(call.id, _sendable_name(call.name), _object_or_empty(call.arguments))
            for call in reply.tool_calls
        ]
    elif not reply.text.strip():
        message["content"] = NO_TEXT
    return message


def tool_message(call: ToolCall, content: str) -> Message:
    """Return the answer to a call as a message of the history."""
    return {
        "role": "tool",
        "tool_call_id": call.id,
        "name": _sendable_name(call.name),
        "content": _sendable(content),
    }


def valid_history(messages: Sequence[Message]) -> list[Message]:
    """Return a conversation in which every call has an id of its own and is followed by its answer.

    Calls left unanswered get an answer. An id that an earlier turn used already, as with servers that count from one
    in every reply, gets a number; the first use of an id is kept to the letter, for some providers sign it.
    """
    history: list[Message] = []
    used: set[str] = set()
    renamed: dict[str, str] = {}
    waiting: dict[str, str] = {}  # id as sent: name, of the calls of the last turn that have no answer yet
    for message in messages:
        if message["role"] == "tool":
            answered = renamed.get(str(message["tool_call_id"]), str(message["tool_call_id"]))
            waiting.pop(answered, None)
            history.append({**message, "tool_call_id": answered})
            continue
        history += [tool_message(ToolCall(key, name, ""), UNANSWERED) for key, name in waiting.items()]
        waiting, renamed = {}, {}
        if message.get("tool_calls"):
            for call in message["tool_calls"]:
                renamed[call["id"]] = _unused(call["id"], used)
                used.add(renamed[call["id"]])
            calls = [{**call, "id": renamed[call["id"]]} for call in message["tool_calls"]]
            waiting = {call["id"]: call["function"]["name"] for call in calls}
            message = {**message, "tool_calls": calls}
        history.append(message)
    return history + [tool_message(ToolCall(key, name, ""), UNANSWERED) for key, name in waiting.items()]


def _unused(key: str, used: Collection[str]) -> str:
    """Return an id that no call has yet: the given one, or with a number."""
    chosen, number = key, 1
    while chosen in used:
        number += 1
        chosen = f"{key}_{number}"
    return chosen


def _with_own_ids(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """Return calls of one reply, each with an id that no other has."""
    used: set[str] = set()
    own = []
    for call in calls:
        own.append(replace(call, id=_unused(call.id, used)))
        used.add(own[-1].id)
    return tuple(own)


def _text_of(content: object) -> str:
    """Return a message's text, which some servers send in parts."""
    if isinstance(content, list):
        return "".join(_text_of(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _finish_reason(choice: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    """Return why a reply ended, in the words of `Reply`. What a provider said itself goes before what was made of it."""
    told = choice.get("finish_reason") or "stop"
    fields = [*(each.get("provider_specific_fields") or {} for each in (choice, message))]
    native = next((each["native_finish_reason"] for each in fields if each.get("native_finish_reason")), "")
    if native in MALFORMED_ENDS:
        return "malformed"
    if native == "MAX_TOKENS":  # LiteLLM says `tool_calls` of it if there is a call, whole or not
        return "length"
    refusal = message.get("refusal") or any(each.get("refusal") for each in fields)
    if told == "content_filter" or refusal:
        return "refused"
    return str(told)


def _bounded(reply: Reply) -> Reply:
    """Return a reply as it is, or, of one longer than any suite, its beginning, as a reply that was cut off."""
    if len(reply.text) + sum(len(call.arguments) for call in reply.tool_calls) <= LONGEST:
        return reply
    calls = tuple(replace(call, arguments="{}") for call in reply.tool_calls[:MOST_CALLS])
    return replace(reply, text=reply.text[:KEPT_OF_LONGEST], tool_calls=calls, finish_reason="length")


def _call_from(number: int, call: Mapping[str, Any]) -> ToolCall:
    """Read one call. Some servers leave out ids, and some give arguments as an object instead of its text."""
    function = call.get("function") or {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments) if arguments is not None else ""
    name = function.get("name")
    return ToolCall(str(call.get("id") or f"call_{number}"), name if isinstance(name, str) else "", arguments)


def _call_message(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _sendable(text: str) -> str:
    """Return a text that can be sent: half surrogate pairs, as replies cut in an emoji have them, become `?`."""
    return text.encode("utf-8", "replace").decode()


def _sendable_name(name: str) -> str:
    """Return a tool's name as providers take it; whatever a model made up, the answer to its call quotes it as it was."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:LONGEST_NAME] or UNNAMED


def _object_or_empty(arguments: str) -> str:
    """Return arguments as strict JSON, as they were written if they are that already."""
    try:
        given = read_arguments(arguments)
        if not isinstance(given, dict):
            return "{}"
        written = (
            arguments if _is_strict(arguments) else json.dumps(given, ensure_ascii=False, allow_nan=False)
        )
    except (ValueError, RecursionError):
        return "{}"
    return _sendable(written)


def _is_strict(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
