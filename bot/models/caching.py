"""Marks for prompt caching, for the one provider that asks for them; others find what they read before by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.models import Message

_PROVIDERS = frozenset({"anthropic"})
_MARK = {"type": "ephemeral"}


def marked(messages: Sequence[Message], provider: str) -> list[Message]:
    """Return a conversation with marks where what is read again ends: system prompt, task, and the latest message.

    Four are allowed. The first two stay in place from call to call and from file to file; the last one moves on with
    the conversation, so that each call finds what the one before it left.
    """
    if provider not in _PROVIDERS:
        return list(messages)
    places = {place for place, message in enumerate(messages[:2]) if message["role"] in ("system", "user")}
    places |= {place for place in (len(messages) - 1,) if place >= 0}
    return [_in_parts(message, marked=place in places) for place, message in enumerate(messages)]


def _in_parts(message: Message, *, marked: bool) -> Message:
    """Return a message with its text as a part, which can bear a mark; without one too, so that only marks ever differ."""
    content = message.get("content")
    if message["role"] == "assistant" or not isinstance(content, str) or not content:
        return message
    part: dict[str, Any] = {"type": "text", "text": content}
    if marked:
        part["cache_control"] = _MARK
    return {**message, "content": [part]}
