"""A server's answer made fit to be read by LiteLLM: nothing endless that is no reply, tokens in whole numbers."""

from __future__ import annotations

import json
import math
from typing import Any

LONGEST_ODD_BYTES = 100_000
"""Of an answer that is no reply. LiteLLM puts it into a message, and looks through that in time square to its length."""
_USAGE = ("usage", "usageMetadata")
_SAID = ("choices", "content", "candidates")


def readable(status: int, body: bytes) -> bytes:
    """Return an answer's body, or as much of it as LiteLLM can read in no time."""
    long = len(body) > LONGEST_ODD_BYTES
    if status >= 400:
        return body[:LONGEST_ODD_BYTES]
    if not long and not any(f'"{name}"'.encode() in body for name in _USAGE):
        return body
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or (long and not _is_reply(answer)):
        return body[:LONGEST_ODD_BYTES]
    whole = {name: _whole(answer[name]) for name in _USAGE if name in answer}
    if all(answer[name] == value for name, value in whole.items()):
        return body
    return json.dumps({**answer, **whole}).encode()


def _is_reply(answer: dict[str, Any]) -> bool:
    """Return whether an answer has what a model said, in one of the providers' forms."""
    return any(isinstance(answer.get(name), list) for name in _SAID)


def _whole(usage: Any) -> Any:
    """Return what was used, with a part of a token, as some servers tell it, counted as one."""
    if isinstance(usage, dict):
        return {name: _whole(value) for name, value in usage.items()}
    if isinstance(usage, float) and math.isfinite(usage):
        return math.ceil(usage)
    return usage
