"""GitHub's rate limits: how long an answer asks to wait."""

from __future__ import annotations

from bot.github.wire import Reply

LONGEST_WAIT_S = 900.0
"""All waits of one request together are no longer than that."""

_FIRST_WAIT_S = 60.0


def wait_s(reply: Reply, now: float, before: int) -> float | None:
    """Return for how many seconds a rate limit asks to wait; None if this is none.

    Args:
        now: The time, where the answer does not tell it.
        before: How many limits the request has met before: where no time is told, the wait doubles.
    """
    listed = reply.data.get("errors") if isinstance(reply.data, dict) else None
    limited = any(
        isinstance(error, dict) and error.get("type") == "RATE_LIMITED"
        for error in (listed if isinstance(listed, list) else ())
    )
    if reply.status not in (403, 429) and not limited:
        return None
    after = reply.headers.get("retry-after", "")
    if after.isdigit():
        return float(after) + 1
    if reply.headers.get("x-ratelimit-remaining") == "0":
        reset = reply.headers.get("x-ratelimit-reset", "")
        return max(1.0, float(reset) - (reply.at or now) + 1) if reset.isdigit() else _FIRST_WAIT_S
    said = reply.said.lower()
    if limited or reply.status == 429 or "rate limit" in said or "abuse" in said:
        return _FIRST_WAIT_S * float(2**before)
    return None
