"""The form in which replies travel: OpenAI-shaped dictionaries, read into `Reply` and written back into history.

What is written is always valid for every provider: arguments are JSON objects, every call has an id and an answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bot.domain import Usage
from bot.models import Message, Reply, ToolCall

NO_TEXT = "(no text)"
UNANSWERED = "error: this call was not run"


def reply_from(response: Mapping[str, Any], cost_usd: float = 0.0) -> Reply:
    """Read a chat completion. A response without choices, or with an empty message, gives an empty reply.

    Args:
        response: The response in OpenAI's form, as a dictionary.
        cost_usd: What the call cost.
    """
    choices = response.get("choices") or [{}]
    choice = choices[0] or {}
    message = choice.get("message") or {}
    calls = tuple(
        _call_from(number, call) for number, call in enumerate(message.get("tool_calls") or (), start=1)
    )
    return Reply(
        text=message.get("content") or "",
        tool_calls=calls,
        finish_reason=choice.get("finish_reason") or "stop",
        usage=usage_from(response.get("usage") or {}, cost_usd),
    )


def response_from(reply: Reply, model: str) -> dict[str, Any]:
    """Write a reply as a chat completion in OpenAI's form, arguments as the model gave them."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [
            _call_message(call.id, call.name, call.arguments) for call in reply.tool_calls
        ]
    usage = reply.usage
    return {
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": usage.prompt + usage.completion,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
        },
    }


def usage_from(usage: Mapping[str, Any], cost_usd: float) -> Usage:
    """Read what a response says of its tokens; what it does not say is zero."""
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        prompt=usage.get("prompt_tokens") or 0,
        completion=usage.get("completion_tokens") or 0,
        cached=details.get("cached_tokens") or 0,
        cost_usd=cost_usd,
    )


def assistant_message(reply: Reply) -> Message:
    """Return a reply as a message of the history; arguments that are no JSON object are sent back as an empty one.

    The observation that answers such a call quotes the fault, so nothing is lost, and some servers answer broken
    arguments in the history with an error for ever.
    """
    message: dict[str, Any] = {"role": "assistant", "content": _sendable(reply.text)}
    if reply.tool_calls:
        message["tool_calls"] = [
            _call_message(call.id, _sendable(call.name), _object_or_empty(call.arguments))
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
        "name": _sendable(call.name),
        "content": _sendable(content),
    }


def valid_history(messages: Sequence[Message]) -> list[Message]:
    """Return a conversation in which every call is followed by its answer; calls left unanswered get one."""
    answered = {message.get("tool_call_id") for message in messages if message["role"] == "tool"}
    history: list[Message] = []
    for message in messages:
        history.append(message)
        for call in message.get("tool_calls") or ():
            if call["id"] not in answered:
                lost = ToolCall(call["id"], call["function"]["name"], "")
                history.append(tool_message(lost, UNANSWERED))
    return history


def read_arguments(arguments: str) -> object:
    """Return what a call's arguments say; line breaks and tabs in strings need not be escaped, as some models forget.

    Raises:
        ValueError: They are no JSON.
        RecursionError: They are nested too deeply.
    """
    return json.loads(arguments or "{}", strict=False)


def _call_from(number: int, call: Mapping[str, Any]) -> ToolCall:
    """Read one call. Some servers leave out ids, and some give arguments as an object instead of its text."""
    function = call.get("function") or {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments) if arguments is not None else ""
    return ToolCall(call.get("id") or f"call_{number}", function.get("name") or "", arguments)


def _call_message(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _sendable(text: str) -> str:
    """Return a text that can be sent: half surrogate pairs, as replies cut in an emoji have them, become `?`."""
    return text.encode("utf-8", "replace").decode()


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
